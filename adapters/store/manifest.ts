/**
 * Lists the segments, how many bytes of the newest segment are on the medium, and the numbers that may have been
 * assigned. Without this list, the loss of the newest segment would look like a power cut before its creation, and
 * numbers that a receiver has seen would be assigned again.
 *
 * The file is written when the first group of a segment is on the medium and before the commit of that group resolves,
 * when a segment is removed, and when the reserved numbers are used up. If the disk refuses the file, the commit still
 * succeeds: the manifest is a second copy, used only if the first is lost.
 */

import { join } from 'node:path';
import type { Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import type { Contents } from './contents.ts';
import { DurableFile } from './durable.ts';
import type { FileSystem, OpenFile } from './files.ts';
import type { Segment } from './segment.ts';

/** Numbers of a class: none below `low` is owed or in an entry, and none from `end` on was assigned. */
type ClassNumbers = readonly [name: number, low: number, end: number];

interface ManifestData {
  /** Numbers of the segments, ascending. */
  readonly segments: readonly number[];
  /** Number of bytes of the newest segment that were on the medium, and the minimum length of its file. */
  readonly settled: number;
  readonly length: number;
  readonly classes: readonly ClassNumbers[];
}

/** The newest segment, its file, and how many of its bytes are on the medium. */
interface NewestSegment {
  readonly segment: Pick<Segment, 'number'>;
  readonly file: Pick<OpenFile, 'size'>;
  readonly synced: number;
}

/** Minimum count of numbers that a class can assign before the file must be written again. */
const LEAST_RESERVE = 16;

export class Manifest {
  readonly #file: DurableFile<ManifestData>;
  readonly #log: Log | undefined;
  #data: ManifestData | undefined;
  /** By class, the number that was next when the file was last written. */
  #given: ReadonlyMap<number, number> = new Map();
  #refused = false;

  constructor(directory: string, files: FileSystem, log: Log | undefined) {
    const options = { accept: accepted, files, ...defined({ log }) };
    this.#file = new DurableFile(join(directory, 'manifest.json'), options);
    this.#log = log;
  }

  /** Reads the file. The journal may have no manifest. */
  async read(): Promise<void> {
    this.#data = (await this.#file.read())?.value;
  }

  /** Number of the newest segment; 0 if unknown. */
  get newest(): number {
    return this.#data?.segments.at(-1) ?? 0;
  }

  get segments(): readonly number[] {
    return this.#data?.segments ?? [];
  }

  get classes(): readonly ClassNumbers[] {
    return this.#data?.classes ?? [];
  }

  /** Returns what the manifest says about the segment if it is the newest. */
  of(segment: number): { readonly settled: number; readonly length: number } | undefined {
    return segment === this.newest ? this.#data : undefined;
  }

  /** Writes the file unless it lists the newest segment and reserves all numbers. `gone`: it lists dead segments. */
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

  /** Call when the journal closes: no number remains reserved, and all of the newest segment is on the medium. */
  async close(contents: Contents, { segment, synced }: NewestSegment): Promise<void> {
    if (this.#data === undefined || segment.number !== this.newest) return;
    await this.#write({ ...this.#data, settled: synced, classes: classesIn(contents) });
  }

  /** Call before the newest segment is cut to this length. Returns false if the new length could not be written. */
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

/** Returns the classes that have assigned numbers, each with its next number. */
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
