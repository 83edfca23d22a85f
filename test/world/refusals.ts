/** Reasons for which a car may refuse a command, from facts of the world and independent of the checks of the agent. */
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { SentCommand } from './caller.ts';
import type { Part, Shown } from './car.ts';
import { EARLIEST, objectionOf } from './interlocks.ts';

/** Limits of docs/commands.md. */
const [BURST, BURST_TIME, DAILY, WAKE_UPS] = [10, 10_000, 500, 100];
/** Largest difference between the clocks of sender and car, ms. */
const SKEW = 5 * 60_000;
/** Lowest charge of the 12 V battery for a command, %. */
const CHARGED = 20;
/** Time after a step of the clock in which readings may seem old, ms. */
const STEPPED = 6_000;
/** Longest time until the end of a command is on disk, ms: until then it is in progress. */
const ENDS = 10_000;
/** Refusals of the interlocks of an action. */
const INTERLOCKS: readonly string[] = ['vehicleInUse', 'doorsOpen', 'chargingStation', 'notLocked'];

export interface Refused {
  /** Error code of the refusal, without `command.`, and its text. */
  readonly code: string;
  readonly detail: string;
  readonly sent: SentCommand;
  /** Clock of the car, UTC ms. */
  readonly now: number;
  readonly quality: ClockQuality;
  /** World time, and the time of the last step of the car's clock, ms. */
  readonly time: number;
  readonly stepped: number;
  readonly shown: ReadonlyMap<Part, Shown>;
  readonly isStopping: boolean;
  /** Whether the car certainly trusts its key. */
  readonly isTrusted: boolean;
  /** Whether it has sent a frame of the action. */
  readonly hasActed: boolean;
  readonly history: CommandHistory;
}

/** Returns why the car must not state this reason. Undefined if it may. */
export function unfounded(refused: Refused): string | undefined {
  const { code, sent, now, quality, time, shown, history, isStopping, isTrusted } = refused;
  const isFresh = time - refused.stepped > STEPPED && (shown.get('battery')?.at ?? 0) >= time - EARLIEST;
  const privacy = shown.get('privacy')?.value;
  switch (code) {
    case 'expired':
      if (quality === 'none' || now > sent.expires || sent.expires > now + SKEW) return undefined;
      return `it is valid for another ${sent.expires - now} ms`;
    case 'longLived':
      return 'it is valid for a short time';
    case 'forbidden':
      return isTrusted && sent.kind !== 'Trust' ? 'its key has the right' : undefined;
    case 'malformed':
      // A car does not know the key that a command revokes, or the time of a plan or collection has passed.
      if (sent.isFaulty === true || sent.kind === 'Trust') return undefined;
      if ((sent.program?.due ?? sent.collects?.until ?? now) < now) return undefined;
      return 'its body is correct';
    case 'unsupported':
      return 'the car can do it';
    case 'tooFast':
      // Forged commands take the places of those that wait.
      if (refused.detail.includes('wait already')) return undefined;
      return history.most(sent.kind, now) < BURST ? 'there were few commands of its kind' : undefined;
    case 'tooMany':
      return history.total < DAILY ? 'there were few commands' : undefined;
    case 'wakeUpsUsed':
      return history.wakeUps < WAKE_UPS ? `the car was woken ${history.wakeUps} times` : undefined;
    case 'busy':
      return history.isAlone(sent.id, time) ? 'no other command is in progress' : undefined;
    case 'stolen':
      return 'the car is not stolen';
    case 'private':
      return privacy === undefined || privacy === 'Full' ? undefined : `the privacy is ${String(privacy)}`;
    case 'batteryLow': {
      const charge = Number(shown.get('battery')?.value);
      return isFresh && privacy === 'None' && charge >= CHARGED ? `the battery is at ${charge} %` : undefined;
    }
    case 'interrupted':
      return history.isOfThisRun(sent.id) && !isStopping ? 'it began in this run' : undefined;
    default:
      if (!INTERLOCKS.includes(code) || refused.hasActed || !isFresh) return undefined;
      return objectionOf(sent.action, shown, time - EARLIEST) === undefined ? 'no interlock forbids it' : undefined;
  }
}

interface Accepted {
  readonly kind: string;
  /** UTC ms by the clock of the car. */
  readonly at: number;
}

/** The commands to a car that it has accepted in this life of its data directory. */
export class CommandHistory {
  /** Number of wake-ups of the car. */
  wakeUps = 0;
  readonly #known = new Set<string>();
  /** The car counts at most these. */
  readonly #all: Accepted[] = [];
  /** The car counts at least these. It forgets later ones when its clock is set back, and this list begins with a run. */
  #recent: Accepted[] = [];
  /** By command: until when it may be in progress, world time. */
  readonly #open = new Map<string, number>();
  readonly #ofThisRun = new Set<string>();

  get total(): number {
    return this.#all.length;
  }

  opened(): void {
    this.#recent = [];
    this.#ofThisRun.clear();
    // An end that is not known to be on disk may be lost with the run.
    for (const id of this.#open.keys()) this.#open.set(id, Number.POSITIVE_INFINITY);
  }

  /**
   * Returns why the car must not accept the command. Undefined if it may.
   * @param own whether a program of the car has created it
   */
  accept(id: string, kind: string, now: number, own: boolean): string | undefined {
    const accepted = { kind, at: now };
    if (!own) this.#all.push(accepted);
    // A repeated command gets its state again, unless the car has forgotten it and counts it again.
    if (this.#known.has(id)) return undefined;
    this.#known.add(id);
    this.#open.set(id, Number.POSITIVE_INFINITY);
    this.#ofThisRun.add(id);
    if (own) return undefined;
    this.#recent = [...this.#recent.filter(({ at }) => at <= now), accepted];
    const before = this.#recent.filter((one) => one.kind === kind && one.at > now - BURST_TIME).length;
    return before > BURST ? `it is the ${before}th ${kind} within ${BURST_TIME} ms` : undefined;
  }

  ended(id: string, time: number): void {
    if (this.#open.has(id)) this.#open.set(id, time + ENDS);
  }

  /** The end of a command is on disk. */
  published(id: string): void {
    this.#open.delete(id);
  }

  /** Whether no other command is in progress. `time`: world time. */
  isAlone(id: string, time: number): boolean {
    return [...this.#open].every(([other, until]) => other === id || until < time);
  }

  isOfThisRun(id: string): boolean {
    return this.#ofThisRun.has(id);
  }

  /** Largest number of accepted commands of a kind that the car may count at a time, UTC ms. */
  most(kind: string, now: number): number {
    return this.#all.filter((one) => one.kind === kind && one.at > now - BURST_TIME && one.at <= now).length;
  }
}
