/** Losses of messages, as a car logs them and as its gap messages report them. */
import { classOf } from '../../protocol/classes.ts';
import { type Run, Runs } from '../../protocol/runs.ts';
import type { Gap } from '../../protocol/schema/gap.ts';
import type { Kind } from '../../protocol/schema/kind.ts';

/** Losses of one class: how many the car has logged, and the numbers that its gap messages list. */
interface ClassLosses {
  logged: number;
  readonly reported: Runs;
}

export class LoggedLosses {
  /** Dropped messages, and messages that damage has destroyed, by class. */
  readonly #dropped = new Map<number, ClassLosses>();
  readonly #lost = new Map<number, ClassLosses>();

  logged(event: string, fields: unknown): void {
    const {
      dropped,
      kind,
      class: priority,
      messages,
    } = fields as {
      readonly dropped?: Readonly<Record<string, number>>;
      readonly kind?: string;
      readonly class?: number;
      readonly messages?: number;
    };
    if (event === 'outbox.full') {
      for (const [one, count] of Object.entries(dropped ?? {})) of(this.#dropped, classOf(one as Kind)).logged += count;
    }
    if (event === 'outbox.damaged' || event === 'outbox.unsendable') {
      of(this.#dropped, classOf(kind as Kind)).logged++;
    }
    if (event === 'outbox.lost') of(this.#lost, priority as number).logged += messages as number;
  }

  /**
   * Returns why a gap message must not be sent. Undefined if it may.
   * @param isKnown whether a message with this number was sent before
   */
  reported({ class: priority, lost, numbers = [] }: Gap, isKnown: (number: number) => boolean): string | undefined {
    const losses = of(lost === undefined ? this.#lost : this.#dropped, priority);
    for (const number of numbersIn(numbers)) {
      // A message that was sent may be gone when it is requested again, which the car does not log.
      if (lost !== undefined || !isKnown(number)) losses.reported.add(number, number);
    }
    const { logged, reported } = losses;
    return reported.size > logged ? `${reported.size} of class ${priority} are lost, ${logged} are logged` : undefined;
  }
}

function of(losses: Map<number, ClassLosses>, priority: number): ClassLosses {
  const known = losses.get(priority) ?? { logged: 0, reported: new Runs() };
  losses.set(priority, known);
  return known;
}

function* numbersIn(runs: readonly Run[]): Generator<number> {
  for (const [first, last] of runs) for (let number = first; number <= last; number++) yield number;
}
