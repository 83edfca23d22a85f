import { ERROR, EXTENDED, type FrameBatch, REMOTE } from '../../../agent/ports.ts';
import type { DbcMessage, Signal } from '../dbc/database.ts';
import { type BoundDatabase, MessageFinder } from '../dbc/matching.ts';
import { ChangeDetector } from './changes.ts';

/** Identifiers from `first` to `last`, both with EXTENDED bit or both without. */
export interface IdentifierRange {
  readonly first: number;
  readonly last: number;
}

/** A time in a recording: UTC milliseconds, or milliseconds after its first frame. */
export interface Moment {
  readonly at: number;
  readonly relative: boolean;
}

export interface FrameCriteria {
  /** Frames of these identifiers. */
  readonly identifiers?: readonly IdentifierRange[];
  /** Frames of these messages, each with the signals that {@link changes} compares. */
  readonly chosen?: ReadonlyMap<DbcMessage, readonly Signal[]>;
  /** First and last time, both included. */
  readonly from?: Moment;
  readonly to?: Moment;
  /**
   * Frames that differ from the previous one of their identifier: in the whole payload, or in the signals of {@link
   * chosen}. `known`: in the signals that the databases describe, even if no messages were chosen.
   */
  readonly changes?: 'payload' | 'known';
}

/** Result for the frames of one identifier on one bus: whether they are wanted, and the detector that compares them. */
interface Verdict {
  readonly wanted: boolean;
  readonly detector: ChangeDetector | undefined;
}

/** Removes unwanted frames from batches before anything else reads them. */
export class FrameFilter {
  readonly #criteria: FrameCriteria;
  readonly #finder: MessageFinder;
  readonly #verdicts = new Map<number, Verdict>();
  /** Times in UTC milliseconds, known from the first frame of a log on. */
  #from = Number.NaN;
  #to = Number.NaN;

  constructor(criteria: FrameCriteria, databases: readonly BoundDatabase[]) {
    this.#criteria = criteria;
    this.#finder = new MessageFinder(databases);
  }

  /** Call before a batch of another log. */
  endLog(): void {
    this.#verdicts.clear();
    this.#from = Number.NaN;
  }

  /** Removes unwanted frames. The source must refill the batch before it emits it again. */
  apply(batch: FrameBatch, buses: readonly string[]): void {
    const { at, id, bus, flags, length, offset } = batch;
    if (Number.isNaN(this.#from) && batch.count > 0) this.#begin(at[0]!);
    let kept = 0;
    for (let i = 0; i < batch.count; i++) {
      if (!this.#passes(batch, i, buses)) continue;
      at[kept] = at[i]!;
      id[kept] = id[i]!;
      bus[kept] = bus[i]!;
      flags[kept] = flags[i]!;
      length[kept] = length[i]!;
      offset[kept] = offset[i]!;
      kept++;
    }
    batch.count = kept;
  }

  #begin(first: number): void {
    const { from, to } = this.#criteria;
    const time = (moment: Moment): number => moment.at + (moment.relative ? first : 0);
    this.#from = from === undefined ? Number.NEGATIVE_INFINITY : time(from);
    this.#to = to === undefined ? Number.POSITIVE_INFINITY : time(to);
  }

  #passes({ at, id, bus, length, offset, data }: FrameBatch, i: number, buses: readonly string[]): boolean {
    return this.passes(at[i]!, id[i]!, bus[i]!, buses, () => data.subarray(offset[i]!, offset[i]! + length[i]!));
  }

  /**
   * Returns true if a frame, or a message that a transport protocol assembled, is wanted. Call for a message only after
   * {@link apply} has read its first frame.
   */
  passes(time: number, identifier: number, number: number, buses: readonly string[], data: () => Uint8Array): boolean {
    if (Number.isNaN(this.#from)) this.#begin(time);
    if (time < this.#from || time > this.#to) return false;
    const key = number * 0x1_0000_0000 + identifier;
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#verdictOf(buses[number]!, identifier);
      this.#verdicts.set(key, verdict);
    }
    if (!verdict.wanted) return false;
    if (verdict.detector === undefined) return true;
    return verdict.detector.differs(data());
  }

  #verdictOf(bus: string, id: number): Verdict {
    const { identifiers, chosen, changes } = this.#criteria;
    const data = (id & (REMOTE | ERROR)) === 0;
    const message = data ? this.#finder.find(bus, id) : undefined;
    const own = (id & ~REMOTE) >>> 0;
    const listed = identifiers?.some(({ first, last }) => own >= first && own <= last) ?? true;
    const named = chosen === undefined || (message !== undefined && chosen.has(message));
    // Remote and error frames carry no payload that could change.
    const wanted = listed && named && (changes === undefined || data);
    if (!wanted || changes === undefined) return { wanted, detector: undefined };
    const signals = message === undefined ? undefined : (chosen?.get(message) ?? message.signals);
    const compared = changes === 'known' || chosen !== undefined ? signals : undefined;
    return { wanted, detector: new ChangeDetector(compared) };
  }
}

/**
 * Parses an identifier, or two with `-` between them, as a range: up to three hexadecimal digits are 11 bits, more are
 * 29, as in candump. Returns undefined for anything else.
 */
export function identifierRange(text: string): IdentifierRange | undefined {
  const ends = text.split('-').map(identifierOf);
  const [first, last = first] = ends;
  if (ends.length > 2 || first === undefined || last === undefined) return undefined;
  const same = (first & EXTENDED) === (last & EXTENDED);
  return same && first <= last ? { first, last } : undefined;
}

function identifierOf(text: string): number | undefined {
  const digits = /^\s*(?:0x)?([0-9a-f]{1,8})\s*$/i.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const value = Number.parseInt(digits, 16);
  if (digits.length <= 3) return value <= 0x7ff ? value : undefined;
  return value <= 0x1fff_ffff ? (value | EXTENDED) >>> 0 : undefined;
}
