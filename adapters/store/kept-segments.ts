/**
 * Segments without live records that are kept for their acknowledged messages, in case a receiver has lost some. All
 * that is known about such a file is in its name, so that a start need not read it:
 *
 *     00000012.journal.20780d.1024k.kept
 *
 * is segment 12, 1,024 KiB long. Its last record died on day 20,780 after 1970-01-01 (0: the time was uncertain).
 */
import { DAY } from '../../protocol/calendar.ts';
import { defaultRule } from './retention.ts';
import type { Segment } from './segment.ts';

const pattern = /^(\d{8,})\.journal\.(\d{1,9})d\.(\d{1,9})k\.kept$/;
const kibibyte = 1024;

/** Limits on the kept files. */
export interface KeepingRule {
  /** Maximum size of all kept files in bytes; 0 keeps no file. */
  readonly bytes: number;
  /** Minimum size in bytes that a small file counts as, so that many restarts do not leave many files. */
  readonly least: number;
  /** Returns the UTC ms by which the files age, or undefined while the time is uncertain. */
  readonly agreed: () => number | undefined;
}

export interface KeptSegment {
  readonly number: number;
  readonly path: string;
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** Day, counted from 1970, on which its last live record was removed; 0 if unknown. */
  readonly day: number;
}

export class KeptSegments {
  readonly #rule: KeepingRule;
  /** Kept segments, oldest first. */
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

  /** Adds a file that an earlier run kept; ignores other names. */
  found(name: string, path: string): void {
    const [, number, day, size] = pattern.exec(name) ?? [];
    if (size !== undefined)
      this.add({ number: Number(number), path, bytes: Number(size) * kibibyte, day: Number(day) });
  }

  /** Returns the kept form of the segment, or undefined if it may contain an invalid group and must not be kept. */
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

  /** Files to remove: the oldest if the total size exceeds the limit, and those older than the age limit of records. */
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
