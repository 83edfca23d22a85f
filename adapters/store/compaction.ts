/** Empties segments, so that the journal uses at most about twice the space of its live records. */
import type { Log } from '../../agent/ports.ts';
import type { Contents, Move } from './contents.ts';
import { wholeRecords } from './groups.ts';
import type { SegmentReader } from './reader.ts';
import { headLength, lengthAt, recordAt } from './record.ts';
import { headerLength, type Segment } from './segment.ts';

/** Minimum size that a small segment counts as, as a share of a full one: many restarts must not leave many files. */
const MIN_SEGMENT_SHARE = 1 / 4;
/** Minimum and maximum number of bytes searched per step: a step must not delay the event loop noticeably. */
const MIN_STEP_BYTES = 32 << 10;
const MAX_STEP_BYTES = 128 << 10;

/**
 * Returns the segment whose live records should move, or undefined if no move is worth its writes yet. `sealed` are the
 * segments that are no longer written, oldest first. The newest of them stays as a second copy of the counters.
 *
 * If more than half of the space is dead, at least one segment is at most half live: moving its m live bytes frees at
 * least 2 m. So it is enough to move as many bytes as are written.
 */
function chooseVictim(sealed: readonly Segment[], segmentBytes: number): Segment | undefined {
  let space = 0;
  let live = 0;
  let victim: Segment | undefined;
  let lowest = 0.5;
  const damaged = sealed.find((segment) => segment.damaged && segment.live > 0 && !segment.broken);
  if (damaged !== undefined) return damaged;
  sealed.forEach((segment, i) => {
    const cost = Math.max(segment.used, segmentBytes * MIN_SEGMENT_SHARE);
    space += cost;
    live += segment.live;
    const part = segment.live / cost;
    if (i === sealed.length - 1 || segment.live === 0 || segment.broken || part > lowest) return;
    lowest = part;
    victim = segment;
  });
  return space > 2 * live + 2 * segmentBytes ? victim : undefined;
}

export class Compaction {
  readonly #contents: Contents;
  readonly #reader: SegmentReader;
  readonly #segmentBytes: number;
  readonly #log: Log | undefined;
  #victim: Segment | undefined;
  /** Offset in the victim up to which it has been searched. */
  #at = 0;
  #damaged = 0;

  constructor(contents: Contents, reader: SegmentReader, segmentBytes: number, log: Log | undefined) {
    this.#log = log;
    this.#contents = contents;
    this.#reader = reader;
    this.#segmentBytes = segmentBytes;
  }

  /**
   * Performs one step: copies some live records of the emptiest segment to the batch, and all live records of segments
   * that a power cut may lose. `written` is the current size of the group in bytes. Returns the moves.
   */
  step(sealed: readonly Segment[], written: number): Move[] {
    const moves: Move[] = [];
    for (const segment of sealed)
      if (segment.suspect && !segment.broken) this.#guard(segment, () => this.#moveAll(segment, moves));
    if (this.#victim === undefined || this.#victim.live === 0 || !sealed.includes(this.#victim)) {
      this.#victim = chooseVictim(sealed, this.#segmentBytes);
      this.#at = headerLength;
    }
    const victim = this.#victim;
    if (victim !== undefined) this.#guard(victim, () => this.#moveSome(victim, written, moves));
    return moves;
  }

  /** Returns the number of damaged records found since the previous call. */
  takeDamaged(): number {
    const damaged = this.#damaged;
    this.#damaged = 0;
    return damaged;
  }

  /** Runs `move`. A record that cannot be read cannot be moved, but that must not make the group fail. */
  #guard(segment: Segment, move: () => void): void {
    try {
      move();
    } catch (error) {
      segment.broken = true;
      if (segment === this.#victim) this.#victim = undefined;
      this.#log?.error('store.unreadable', { file: segment.path, error: String(error) });
    }
  }

  #moveSome(victim: Segment, written: number, moves: Move[]): void {
    if (victim.damaged) {
      this.#moveAll(victim, moves);
      return;
    }
    const length = Math.min(Math.max(2 * written, MIN_STEP_BYTES), MAX_STEP_BYTES, this.#segmentBytes);
    let bytes = new Uint8Array(length);
    let filled = this.#reader.fill(victim, this.#at, bytes);
    const first = headLength + lengthAt(bytes, 0, Number.POSITIVE_INFINITY);
    if (first > filled && this.#at + first <= victim.used) {
      bytes = new Uint8Array(first);
      filled = this.#reader.fill(victim, this.#at, bytes);
    }
    let at = 0;
    for (;;) {
      const size = headLength + recordAt(bytes, at, filled, victim.seed);
      if (size < headLength) break;
      this.#contents.relocateRecord(bytes, at, victim, this.#at + at, moves);
      at += size;
    }
    if (at === 0) this.#moveAll(victim, moves);
    this.#at += at;
  }

  /**
   * Copies all live records of a segment to the batch. Damaged records are lost, except messages: they stay in place,
   * and the outbox reports them when it cannot send them.
   */
  #moveAll(victim: Segment, moves: Move[]): void {
    const bytes = new Uint8Array(victim.used);
    const filled = this.#reader.fill(victim, 0, bytes);
    for (const at of wholeRecords(bytes.subarray(0, filled), 0, victim.seed)) {
      this.#contents.relocateRecord(bytes, at, victim, at, moves);
    }
    if (victim.live === 0) return;
    // Remove the rows of records that can no longer be read.
    for (const series of this.#contents.all()) {
      const { rows, name } = series;
      if (typeof name === 'number') continue;
      for (let row = rows.next(0); row >= 0; ) {
        const number = rows.number(row);
        if (rows.segment(row) === victim.number) {
          this.#damaged++;
          this.#contents.remove(series, row);
        }
        row = rows.next(number + 1);
      }
    }
    victim.broken = true;
  }
}

/** Undoes moves to a segment that was abandoned, for entries that still exist. */
export function moveBack(moves: readonly Move[], segment: Segment, segments: ReadonlyMap<number, Segment>): void {
  for (const { series, number, from, to } of moves) {
    const { rows } = series;
    const row = rows.find(number);
    const home = segments.get(from.segment);
    if (row < 0 || home === undefined || rows.segment(row) !== to.segment || rows.offset(row) !== to.offset) continue;
    rows.move(row, from);
    segment.live -= to.size;
    home.live += from.size;
  }
}
