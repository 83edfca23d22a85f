/** Reads the segments of a journal when it is opened, and tidies the journal's directory. */
import type { Log } from '../../agent/ports.ts';
import type { Contents } from './contents.ts';
import { findGroups, type Groups } from './groups.ts';
import { listSegments, type SegmentFile } from './listing.ts';
import type { Manifest } from './manifest.ts';
import { headLength, lengthAt } from './record.ts';
import { stateSeries } from './record-types.ts';
import { Replay } from './replay.ts';
import { newSegment, type Segment } from './segment.ts';
import type { SegmentFiles } from './segments.ts';

/** Findings of reading the segments. */
export interface SegmentFindings {
  /** Number of damaged stretches (all skipped), missing segments, and records later found damaged. */
  damaged: number;
  /** Number of segments whose incomplete end was cut off. */
  torn: number;
  /** Number of segments without a whole record and of duplicate segments; both are renamed to end in `.corrupt`. */
  aside: number;
}

/** Reports what was found in a segment and tidies its file, whose current path is `path`. */
type Change = (path: string) => Promise<void>;

/** Contents of a segment, and what is wrong with it. */
interface SegmentContents extends Pick<Groups, 'damaged' | 'torn' | 'more' | 'end'> {
  /** Number of valid records. */
  readonly records: number;
  /** True if no later segment was created. */
  readonly last: boolean;
  /** True if the segment was on the medium, according to the manifest or a later segment. */
  readonly wasOnMedium: boolean;
  /** True if the segment contains no whole record. */
  readonly empty: boolean;
  /** Length of the file in bytes. */
  readonly size: number;
  /** Bytes of the last segment that may not be on the medium, from `settled` to `end`. */
  readonly unsettled: Uint8Array;
}

const noBytes = new Uint8Array(0);

export class Recovery {
  readonly findings = { damaged: 0, torn: 0, aside: 0, unknown: 0, malformed: 0 };
  readonly segments: Segment[] = [];
  /** Files in which damage was found. */
  readonly damagedFiles: string[] = [];
  /** True if commits may be lost: a state is lost, or damage is not followed by a checkpoint. */
  doubtful = false;
  /** True if the records that were found are on the medium or, if there are none, the empty directory is. */
  durable = true;
  readonly #files: SegmentFiles;
  readonly #manifest: Manifest;
  readonly #replay: Replay;
  readonly #log: Log | undefined;
  /** Number of skipped records by file and reason. */
  readonly #skipped = new Map<string, number>();

  constructor(files: SegmentFiles, manifest: Manifest, contents: Contents, log: Log | undefined) {
    this.#replay = new Replay(contents);
    this.#files = files;
    this.#manifest = manifest;
    this.#log = log;
  }

  /** Bytes written to the medium on one day, and that day. */
  get wear(): Replay['wear'] {
    return this.#replay.wear;
  }

  /**
   * Reads all segments into the contents, oldest first; then tidies the directory and syncs what a killed process left
   * in the page cache. If the disk fails to return the directory or a file, rejects with `store.unreadable` and changes
   * nothing on the disk, because bytes that were not read cannot be classified as damaged.
   */
  async read(): Promise<void> {
    await this.#manifest.read();
    const { newest, segments, classes } = this.#manifest;
    const listing = listSegments(this.#files.list(newest), segments);
    const missing = segments.filter((number) => !listing.segments.some((one) => one.number === number));
    const newestMissing = missing.includes(newest);
    const later = listing.segments.find(({ number }) => number > newest);
    const changes: Change[] = [];
    for (const [i, file] of listing.segments.entries()) {
      // The checkpoint of a later segment includes what came before it, unless its first group is incomplete.
      if (newestMissing && file === later) this.#replay.addMissing(Number.POSITIVE_INFINITY);
      // The first group of a later file may not have reached the medium; such a file has no header.
      const last = file.number >= newest && listing.segments.slice(i + 1).every(({ header }) => header === undefined);
      changes.push(this.#readSegment(file, last, listing.limits.get(file.number)));
    }
    if (newestMissing && later === undefined) this.#replay.addMissing(Number.POSITIVE_INFINITY);
    this.#files.dropBuffer();
    this.#tidy(listing);
    for (const [i, { path }] of this.#files.rename(listing.segments).entries()) await changes[i]?.(path);
    for (const [where, records] of this.#skipped) this.#log?.warn('store.skipped', { where, records });
    const lost = this.#replay.finish(classes);
    // Without damage, segments disappear only if they have no live records.
    if (lost.size > 0 || (newestMissing && this.#replay.doubtful)) this.#miss(missing);
    this.doubtful = this.#replay.doubtful || [...lost.keys()].some(({ name }) => name === stateSeries);
    for (const [{ name }, entries] of lost) {
      if (typeof name === 'string') this.#log?.error('store.lost', { series: name, entries, files: this.damagedFiles });
    }
    if (this.segments.length === 0) this.durable = await this.#files.syncEmptiness();
  }

  #miss(segments: readonly number[]): void {
    for (const number of segments) {
      const path = this.#files.path(number);
      this.findings.damaged++;
      if (!this.damagedFiles.includes(path)) this.damagedFiles.push(path);
      this.#log?.error('store.missing', { file: path });
    }
  }

  #tidy({ unbegun, givenUp, copies, misnamed }: ReturnType<typeof listSegments>): void {
    this.#files.dropExcess();
    for (const { path } of unbegun) {
      this.#log?.info('store.unbegun', { file: path });
      this.#files.remove(path);
    }
    for (const { path } of givenUp) this.#files.remove(path);
    for (const { path } of copies) {
      this.findings.aside++;
      this.damagedFiles.push(path);
      this.#files.putAside(path);
    }
    for (const { path, header } of misnamed) {
      this.findings.damaged++;
      this.damagedFiles.push(path);
      this.#log?.warn('store.misnamed', { file: path, segment: header?.number });
    }
  }

  /**
   * Reads a segment into the contents. `last`: no later segment was created. `limit`: end of its valid records
   * according to the next segment.
   */
  #readSegment(file: SegmentFile, last: boolean, limit: number | undefined): Change {
    const { number, header } = file;
    const bytes = this.#files.read(file.path);
    const known = last ? this.#manifest.of(number) : undefined;
    const groups = findGroups(bytes, number, header, last ? undefined : (limit ?? Number.POSITIVE_INFINITY), known);
    const { records, holes } = groups;
    let hole = 0;
    for (const at of records) {
      for (; hole < holes.length && holes[hole]!.end <= at; hole++) this.#replay.addMissing(holes[hole]!.bytes);
      this.#apply(bytes, at, file);
    }
    for (; hole < holes.length; hole++) this.#replay.addMissing(holes[hole]!.bytes);
    // The last segment may have been created just as the power failed, unless the manifest says that it was on the
    // medium.
    const wasOnMedium = !last || known !== undefined;
    const empty = records.length === 0 && (wasOnMedium || groups.foreign);
    if (empty && wasOnMedium) this.#replay.addMissing(Number.POSITIVE_INFINITY);
    const unsettled = last ? bytes.slice(groups.settled, groups.end) : noBytes;
    const { damaged, torn, more, end } = groups;
    const found = {
      damaged,
      torn,
      more,
      end,
      records: records.length,
      last,
      wasOnMedium,
      empty,
      size: bytes.length,
      unsettled,
    };
    return (path) => this.#tidySegment(newSegment(number, path), found);
  }

  /** Reports what was found in a segment, and cuts off its invalid end or renames its invalid file. */
  async #tidySegment(segment: Segment, found: SegmentContents): Promise<void> {
    const { number, path } = segment;
    const { records, damaged, last, empty } = found;
    if (damaged > 0 || (empty && found.wasOnMedium)) {
      this.findings.damaged += Math.max(1, damaged);
      this.damagedFiles.push(path);
      this.#log?.warn('store.damaged', { file: path, stretches: Math.max(1, damaged), records });
    }
    if (empty) {
      this.findings.aside++;
      this.#files.putAside(path);
      return;
    }
    if (found.torn) {
      this.findings.torn++;
      this.#log?.warn('store.torn', { file: path, cutAt: found.end, bytes: found.size - found.end });
    }
    if (records === 0 && last) {
      // The file was created, but no group in it was completed.
      this.#files.remove(path);
      return;
    }
    segment.used = found.end;
    segment.damaged = damaged > 0;
    this.segments.push(segment);
    // Older segments were on the medium, and usually were cut at their end, before the next one was created.
    if (!last) {
      // If a later manifest was refused, its newest segment may still be this one, which must not appear shortened.
      if (found.more && (await this.#manifest.shorten(number, found.end))) await this.#files.cut(segment);
      return;
    }
    const mayCut = await this.#manifest.shorten(number, found.end);
    await this.#files.makeDurable(segment, found.unsettled, mayCut);
  }

  #apply(bytes: Uint8Array, at: number, { number, path }: SegmentFile): void {
    const length = lengthAt(bytes, at, bytes.length);
    const extent = { segment: number, offset: at, size: headLength + length };
    const reading = this.#replay.apply(bytes, at + headLength, at + headLength + length, extent);
    if (reading === 'known') return;
    this.findings[reading]++;
    const where = `${path}: ${reading}`;
    this.#skipped.set(where, (this.#skipped.get(where) ?? 0) + 1);
  }
}
