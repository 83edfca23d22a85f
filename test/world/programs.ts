/** Plans of commands for later, and the times at which a car may carry them out. */
import type { SentCommand, SentProgram } from './caller.ts';

const DAY = 24 * 3_600_000;
/** Time after which a due program has certainly been checked, ms. */
const LOOKED = 60_000;

/** An occurrence of a program, parsed from the id of its command. */
export interface Occurrence {
  readonly key: string;
  /** UTC ms */
  readonly due: number;
}

/** Undefined: the command does not belong to a program. */
export function occurrenceOf(id: string): Occurrence | undefined {
  const [, key, due] = /^((?:charge|precondition)\/\w+)@(\d+)$/.exec(id) ?? [];
  return key === undefined ? undefined : { key, due: Number(due) };
}

/** Action of a program's command, or '' for other commands. */
export function programAction(id: string): string {
  const key = occurrenceOf(id)?.key;
  if (key === undefined) return '';
  return key.startsWith('charge/') ? 'charging.start' : 'preconditioning.start';
}

/**
 * Reason why a car must not run this occurrence. Undefined if it may. `now`: time of its clock, UTC ms; `latest`: latest
 * time that the clock has shown since the command could begin.
 */
export function programFault(
  { key, due }: Occurrence,
  done: { readonly vin: string; readonly action: string; readonly now: number; readonly latest: number },
  commands: Iterable<SentCommand>,
): string | undefined {
  const { vin, action, now, latest } = done;
  const isCause = ({ genuine, cameTrusted, vin: to, program }: SentCommand): boolean =>
    genuine && cameTrusted && to === vin && program?.key === key && program.action === action && fits(program, due);
  const cause = [...commands].find(isCause)?.program;
  if (cause === undefined) return 'no command has planned it';
  if (latest < due) return `${due - latest} ms before it is due`;
  return now > due + cause.window ? `${now - due - cause.window} ms late` : undefined;
}

function fits({ key, due: first }: SentProgram, due: number): boolean {
  return due === first || (key !== 'charge/next' && due > first && (due - first) % DAY === 0);
}

/** Programs that a car has accepted and must have begun by the end. */
export class PlannedPrograms {
  /** The newest command of each kind and key that was sent to the car. */
  readonly #newest = new Map<string, SentCommand>();
  readonly #came = new Set<string>();
  readonly #taken = new Set<string>();

  /** A command that plans something has reached the car. */
  came(sent: SentCommand): void {
    // A repeated command plans nothing new.
    if (sent.program === undefined || this.#came.has(sent.id)) return;
    this.#came.add(sent.id);
    this.#newest.set(sent.program.key, sent);
  }

  /** The car has reported Success without a failed write, at `now`, UTC ms of its clock. */
  taken({ id, program }: SentCommand, now: number): void {
    if (program !== undefined && now < program.due) this.#taken.add(id);
  }

  /** Occurrences whose end the car should have reported by `now`. */
  due(now: number): string[] {
    return [...this.#newest.values()].flatMap(({ id, program }) =>
      program !== undefined && this.#taken.has(id) && program.due + LOOKED < now
        ? [`${program.key}@${program.due}`]
        : [],
    );
  }
}
