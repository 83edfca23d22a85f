/**
 * Segments in which nothing lives any more, kept because acknowledged messages are in them: a receiver may have lost
 * those. The name of such a file says all that is known of it, so a start reads none of them:
 *
 *     00000012.journal.20780d.1024k.kept
 *
 * is segment 12, let go of on day 20,780 since 1970 (0: no sure time), of 1,024 KiB.
 */
import { DAY } from '../../protocol/calendar.ts';
import { defaultRule } from './retention.ts';
import type { Segment } from './segment.ts';

const pattern = /^(\d{8,})\.journal\.(\d{1,9})d\.(\d{1,9})k\.kept$/;
const kibibyte = 1024;

/** Which of them are kept, and for how long. */
export interface KeepingRule {
  /** Most bytes of all kept files; 0 keeps no file. */
  readonly bytes: number;
  /** A small file counts for this, bytes, so that many restarts do not leave many files. */
  readonly least: number;
  /** UTC milliseconds for their age; undefined while no time is sure. */
  readonly agreed: () => number | undefined;
}

export interface KeptSegment {
  readonly number: number;
  readonly path: string;
  /** Bytes that the file takes. */
  readonly bytes: number;
  /** Day since 1970 on which nothing lived in it any more; 0: unknown. */
  readonly day: number;
}

export class KeptSegments {
  readonly #rule: KeepingRule;
  /** Oldest first. */
  #kept: KeptSegment[] = [];

  constructor(rule: KeepingRule) {
    this.#rule = rule;
  }

  get all(): readonly KeptSegment[] {
    return this.#kept;
  }

  get bytes(): number {
    return this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Takes up a file that an earlier run kept; other names are not its concern. */
  found(name: string, path: string): void {
    const [, number, day, size] = pattern.exec(name) ?? [];
    if (size !== undefined)
      this.add({ number: Number(number), path, bytes: Number(size) * kibibyte, day: Number(day) });
  }

  /** How the segment is kept; undefined when it is not: bytes in it may be of a group that never counted. */
  place({ number, path, used, clean, damaged }: Segment): KeptSegment | undefined {
    if (this.#rule.bytes === 0 || !clean || damaged) return undefined;
    const size = Math.ceil(used / kibibyte);
    const day = this.#today ?? 0;
    return { number, path: `${path}.${day}d.${size}k.kept`, bytes: size * kibibyte, day };
  }

  add(kept: KeptSegment): void {
    this.#kept = [...this.#kept.filter(({ number }) => number !== kept.number), kept];
    this.#kept.sort((a, b) => a.number - b.number);
  }

  forget(kept: KeptSegment): void {
    this.#kept = this.#kept.filter((one) => one !== kept);
  }

  /** Those that are to go: the oldest while they take too much, and those as old as no record of the car may be. */
  get excess(): readonly KeptSegment[] {
    const { bytes: most, least } = this.#rule;
    const first = this.#today === undefined ? 0 : this.#today - defaultRule.days;
    let bytes = 0;
    return this.#kept.toReversed().filter((one) => {
      bytes += Math.max(one.bytes, least);
      return bytes > most || (one.day > 0 && one.day < first);
    });
  }

  get #today(): number | undefined {
    const now = this.#rule.agreed();
    return now === undefined ? undefined : Math.floor(now / DAY);
  }
}
