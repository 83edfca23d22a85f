/**
 * A list of the segments, of the bytes of the newest that are on the medium, and of the numbers that may have been given out. Without it the loss of the newest segment would look like a power cut before
 * that was begun, and numbers that a receiver has seen would be given out again.
 *
 * The file is written after the first group of a segment is on the medium and before its commit resolves, when a
 * segment goes, and when more numbers were given out than it allows for. If the disk refuses it, the commit does not
 * fail: this is a second copy, which counts only when the first is lost.
 */

import { join } from 'node:path';
import type { Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import type { Contents } from './contents.ts';
import { DurableFile } from './durable.ts';
import type { FileSystem, OpenFile } from './files.ts';
import type { Segment } from './segment.ts';

/** Numbers of a class: no number below `low` is owed or in an entry, and no number from `end` on was given out. */
type ClassNumbers = readonly [name: number, low: number, end: number];

interface ManifestData {
  /** Numbers of the segments, ascending. */
  readonly segments: readonly number[];
  /** Bytes of the newest that were on the medium, and the length its file has at least. */
  readonly settled: number;
  readonly length: number;
  readonly classes: readonly ClassNumbers[];
}

/** The newest segment, its file, and how many bytes of it are on the medium. */
interface NewestSegment {
  readonly segment: Pick<Segment, 'number'>;
  readonly file: Pick<OpenFile, 'size'>;
  readonly synced: number;
}

/** Numbers that a class may give out before the file is written again, at least. */
const LEAST_RESERVE = 16;

export class Manifest {
  readonly #file: DurableFile<ManifestData>;
  readonly #log: Log | undefined;
  #data: ManifestData | undefined;
  /** By class: the next number when the file was written last. */
  #given: ReadonlyMap<number, number> = new Map();
  #refused = false;

  constructor(directory: string, files: FileSystem, log: Log | undefined) {
    const options = { accept: accepted, files, ...defined({ log }) };
    this.#file = new DurableFile(join(directory, 'manifest.json'), options);
    this.#log = log;
  }

  /** Reads the file; a journal that has none knows nothing here. */
  async read(): Promise<void> {
    this.#data = (await this.#file.read())?.value;
  }

  /** Number of the newest segment; 0: unknown. */
  get newest(): number {
    return this.#data?.segments.at(-1) ?? 0;
  }

  get segments(): readonly number[] {
    return this.#data?.segments ?? [];
  }

  get classes(): readonly ClassNumbers[] {
    return this.#data?.classes ?? [];
  }

  /** Facts of the segment, if it is the newest. */
  of(segment: number): { readonly settled: number; readonly length: number } | undefined {
    return segment === this.newest ? this.#data : undefined;
  }

  /** Writes the file unless it names the newest segment and allows for all numbers. `gone`: it names dead segments. */
  async update(
    contents: Contents,
    { segment, file, synced }: NewestSegment,
    older: readonly Pick<Segment, 'number'>[],
    gone: boolean,
  ): Promise<void> {
    const numbers = classesIn(contents);
    const ends = new Map(this.classes.map(([name, , end]) => [name, end]));
    const sufficient = numbers.every(([name, , next]) => next <= (ends.get(name) ?? 0));
    if (!gone && segment.number === this.newest && sufficient) return;
    const classes = numbers.map(([name, low, next]): ClassNumbers => {
      const used = next - (this.#given.get(name) ?? next);
      return [name, low, next + Math.max(LEAST_RESERVE, used)];
    });
    const segments = [...older, segment].map(({ number }) => number);
    await this.#write({ segments, settled: synced, length: file.size(), classes });
    this.#given = new Map(numbers.map(([name, , next]) => [name, next]));
  }

  /** The journal is closed: all numbers are known, and all of the newest segment is on the medium. */
  async close(contents: Contents, { segment, synced }: NewestSegment): Promise<void> {
    if (this.#data === undefined || segment.number !== this.newest) return;
    await this.#write({ ...this.#data, settled: synced, classes: classesIn(contents) });
  }

  /** The newest segment is going to be cut to that length; false when the file does not say so. */
  async shorten(segment: number, length: number): Promise<boolean> {
    if (this.#data === undefined || segment !== this.newest || this.#data.length <= length) return true;
    return this.#write({ ...this.#data, settled: Math.min(this.#data.settled, length), length });
  }

  async #write(data: ManifestData): Promise<boolean> {
    try {
      await this.#file.write({ value: data });
      this.#data = data;
      this.#refused = false;
      return true;
    } catch (error) {
      if (!this.#refused) this.#log?.warn('store.manifest', { error: String(error) });
      this.#refused = true;
      return false;
    }
  }
}

/** The classes of which numbers were given out, with the next number of each. */
function classesIn(contents: Contents): ClassNumbers[] {
  const classes: ClassNumbers[] = [];
  for (const { name, next, owed, rows } of contents.all()) {
    if (typeof name !== 'number' || next === 0) continue;
    const row = rows.next(0);
    const first = row < 0 ? next : rows.number(row);
    classes.push([name, Math.min(first, owed.all[0]?.[0] ?? next), next]);
  }
  return classes;
}

function accepted(data: unknown): ManifestData | undefined {
  const { segments, settled, length, classes } = (data ?? {}) as Partial<ManifestData>;
  const numbers = (list: unknown): boolean =>
    Array.isArray(list) && list.every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!numbers([settled, length]) || !numbers(segments) || !Array.isArray(classes)) return undefined;
  return classes.every((one) => numbers(one) && one.length === 3) ? (data as ManifestData) : undefined;
}
