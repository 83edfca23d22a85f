/** The segment files of a journal: `00000001.journal`, `00000002.journal`, … in one directory, read in that order. */
import { join } from 'node:path';
import type { Log } from '../../agent/ports.ts';
import { type FileSystem, type OpenFile, unreadable } from './files.ts';
import { type KeepingRule, type KeptSegment, KeptSegments } from './kept-segments.ts';
import type { SegmentFile } from './listing.ts';
import { type Header, headerLength, readHeader, type Segment, writeHeader } from './segment.ts';

/** Stands for the predecessor in the header of the first segment. */
const NO_SEGMENT: Pick<Segment, 'number' | 'used'> = { number: 0, used: 0 };

const SEGMENT_NAME = /^(\d{8,})\.journal/;
const SPARE_SUFFIX = '.spare';
/** Suffix of a segment file that has not been renamed to its final name yet. */
const MOVED_SUFFIX = '.moved';
/** Maximum number of spare files, which let a steady flow of messages reuse blocks of the file system. */
const MAX_SPARES = 3;

export class SegmentFiles {
  readonly directory: string;
  readonly #files: FileSystem;
  readonly #log: Log | undefined;
  /** Buffer of the last read file, reused so that not every segment allocates memory. */
  #buffer = new Uint8Array(0);
  #last = 0;
  /** False if the directory did not exist when it was listed. */
  #exists = true;
  /** Files renamed to spares since the last directory sync. A power cut may restore their segment names. */
  #newSpares: string[] = [];
  #spares: string[] = [];
  /** True if names have changed since the last directory sync. */
  #renamed = false;
  /** Dead segments kept for their acknowledged messages. */
  readonly #kept: KeptSegments;

  constructor(directory: string, files: FileSystem, log: Log | undefined, keeping: KeepingRule) {
    this.directory = directory;
    this.#files = files;
    this.#log = log;
    this.#kept = new KeptSegments(keeping);
  }

  get kept(): Pick<KeptSegments, 'all' | 'bytes'> {
    return this.#kept;
  }

  /** Number of spare files. */
  get spares(): number {
    return this.#spares.length + this.#newSpares.length;
  }

  /** Number of the next segment to create. */
  get nextNumber(): number {
    return this.#last + 1;
  }

  /**
   * Returns the files that may contain records. Numbers of new segments continue after `newest`. Changes nothing on the
   * disk. Throws `store.unreadable`.
   */
  list(newest: number): readonly SegmentFile[] {
    const names = this.#names();
    this.#last = Math.max(this.#last, newest);
    return names.map(({ number, path }) => ({ number, path, header: this.#header(path) }));
  }

  /**
   * Syncs the empty directory: otherwise, a segment that could not be written and was removed could reappear after a
   * power cut. Returns false and logs the error if the disk fails.
   */
  async syncEmptiness(): Promise<boolean> {
    if (!this.#exists) return true;
    try {
      await this.#files.syncDirectory(this.directory);
      return true;
    } catch (error) {
      this.#log?.error('store.unsynced', { file: this.directory, error: String(error) });
      return false;
    }
  }

  /**
   * Creates the file of a segment that follows `before`, about `length` bytes long, and writes its header. Throws the
   * system's error.
   */
  create(segment: Segment, before: Segment | undefined, length: number): OpenFile {
    this.#files.makeDirectory(this.directory);
    const spare = this.#spares.pop();
    if (spare !== undefined) {
      this.#files.rename(spare, segment.path);
      this.#last = segment.number;
    }
    const file = this.#files.open(segment.path, spare === undefined ? 'create' : 'change');
    this.#last = segment.number;
    this.#renamed = true;
    try {
      // Sparse: so fdatasync need not write a new length each time, and no zeros are written.
      if (spare === undefined) file.truncate(length);
      file.write(writeHeader(segment.number, before ?? NO_SEGMENT, spare !== undefined), 0);
    } catch (error) {
      this.discard(segment.path, file);
      throw error;
    }
    return file;
  }

  /** Syncs names that have changed and that a segment depends on. */
  async syncNames(): Promise<void> {
    if (!this.#renamed) return;
    const spares = this.#newSpares;
    await this.#files.syncDirectory(this.directory);
    this.#renamed = false;
    this.#newSpares = this.#newSpares.filter((path) => !spares.includes(path));
    this.#spares.push(...spares);
  }

  /** Returns the path of the segment that has this number. */
  path = (number: number): string => join(this.directory, `${String(number).padStart(8, '0')}.journal`);

  /** Path of the newest segment, or of the first if there is none yet. */
  get lastPath(): string {
    return this.path(Math.max(1, this.#last));
  }

  /** Renames segments to their final names and returns the files with their new paths. Logs failures. */
  rename(segments: readonly SegmentFile[]): readonly SegmentFile[] {
    const move = (file: SegmentFile, path: string): SegmentFile => {
      try {
        this.#files.rename(file.path, path);
        this.#renamed = true;
        return { ...file, path };
      } catch (error) {
        this.#log?.warn('store.name', { file: file.path, error: String(error) });
        return file;
      }
    };
    // Two files may have each other's final name, so first rename all to temporary names.
    const moved = segments.map((file) => {
      const own = this.path(file.number);
      return file.path === own ? file : move(file, own + MOVED_SUFFIX);
    });
    const taken = new Set(moved.map(({ path }) => path));
    return moved.map((file) => {
      const own = this.path(file.number);
      return taken.has(own) ? file : move(file, own);
    });
  }

  /** Closes and removes a file that could not be written; logs failures. */
  discard(path: string, file: OpenFile): void {
    this.closeQuietly(file);
    this.remove(path);
  }

  closeQuietly(file: OpenFile): void {
    try {
      file.close();
    } catch (error) {
      this.#log?.warn('store.close', { file: file.path, error: String(error) });
    }
  }

  /** Removes a file that is not needed. Returns false and logs the error if the disk fails. */
  remove(path: string): boolean {
    try {
      this.#files.remove(path);
      this.#renamed = true;
      return true;
    } catch (error) {
      this.#log?.warn('store.remove', { file: path, error: String(error) });
      return false;
    }
  }

  /** Retires a dead segment: keeps its file for the messages or as a spare, or removes it. False if that fails. */
  retire(segment: Segment, segmentBytes: number): boolean {
    const kept = this.#kept.place(segment);
    if (kept === undefined) return this.#removeOrReuse(segment.path, segment.used >= segmentBytes && !segment.damaged);
    if (!this.#moveAside(segment.path, kept.path)) return false;
    this.#kept.add(kept);
    for (const one of this.#kept.excess) this.#drop(one, one.bytes >= segmentBytes);
    return true;
  }

  /** Removes the oldest segment kept for its messages. Returns false if there is none or the disk fails. */
  makeRoom(): boolean {
    const [oldest] = this.#kept.all;
    return oldest !== undefined && this.#drop(oldest, false);
  }

  /** Removes kept files that exceed the limits on kept files. */
  dropExcess(): void {
    for (const kept of this.#kept.excess) this.#drop(kept, false);
  }

  #drop(kept: KeptSegment, whole: boolean): boolean {
    if (!this.#removeOrReuse(kept.path, whole)) return false;
    this.#kept.forget(kept);
    return true;
  }

  /** Removes a file whose records are not needed, or keeps it for reuse if it is `whole`. */
  #removeOrReuse(path: string, whole: boolean): boolean {
    if (!whole || this.spares >= MAX_SPARES) return this.remove(path);
    const spare = path + SPARE_SUFFIX;
    if (!this.#moveAside(path, spare)) return false;
    // Reuse it only after its new name is on the medium: a power cut must not leave new records under the old name.
    this.#newSpares.push(spare);
    return true;
  }

  #moveAside(path: string, aside: string): boolean {
    try {
      this.#files.rename(path, aside);
    } catch (error) {
      this.#log?.warn('store.spare', { file: path, error: String(error) });
      return false;
    }
    this.#renamed = true;
    return true;
  }

  /** Cuts off the bytes after the records of a sealed segment and marks the segment as clean. */
  async cut(segment: Segment): Promise<void> {
    let file: OpenFile | undefined;
    segment.clean = false;
    try {
      file = this.#files.open(segment.path, 'change');
      file.truncate(segment.used);
      await file.sync();
      segment.clean = true;
    } catch (error) {
      this.#log?.warn('store.cut', { file: segment.path, error: String(error) });
    } finally {
      if (file !== undefined) this.closeQuietly(file);
    }
  }

  #header(path: string): Header | undefined {
    return readHeader(this.read(path, headerLength));
  }

  /** Returns the file's content, or its first `most` bytes; valid until the next read. Throws `store.unreadable`. */
  read(path: string, most = Number.POSITIVE_INFINITY): Uint8Array {
    let file: OpenFile | undefined;
    try {
      file = this.#files.open(path, 'read');
      const size = Math.min(file.size(), most);
      if (this.#buffer.length < size) this.#buffer = new Uint8Array(size);
      return this.#buffer.subarray(0, file.read(this.#buffer.subarray(0, size), 0));
    } catch (error) {
      throw unreadable(path, error);
    } finally {
      if (file !== undefined) this.closeQuietly(file);
    }
  }

  /** Frees the buffer into which whole files are read. */
  dropBuffer(): void {
    this.#buffer = new Uint8Array(0);
  }

  #names(): readonly { readonly number: number; readonly path: string }[] {
    let names: readonly string[];
    try {
      names = this.#files.list(this.directory);
    } catch (cause) {
      this.#exists = false;
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return [];
      throw unreadable(this.directory, cause);
    }
    const numbered = names.flatMap((name) => {
      const match = SEGMENT_NAME.exec(name);
      return match === null ? [] : [{ name, number: Number(match[1]), path: join(this.directory, name) }];
    });
    this.#last = numbered.reduce((last, { number }) => Math.max(last, number), 0);
    for (const { name, path } of numbered) {
      this.#kept.found(name, path);
      if (!name.endsWith(SPARE_SUFFIX)) continue;
      this.#newSpares.push(path);
      this.#renamed = true;
    }
    const segments = numbered.filter(({ name }) => name.endsWith('.journal') || name.endsWith(MOVED_SUFFIX));
    return segments.sort((a, b) => a.number - b.number);
  }

  /** Renames an unusable file. */
  putAside(path: string): void {
    const aside = `${path}.corrupt`;
    this.#log?.error('store.corrupt', { file: path, aside });
    try {
      this.#files.rename(path, aside);
      this.#renamed = true;
    } catch (error) {
      this.#log?.warn('store.aside', { file: path, error: String(error) });
    }
  }

  /**
   * Syncs the records that were read from the last segment. If `mayCut`, cuts the file after its valid records.
   * `unsettled` are the last bytes, which may not be on the medium.
   */
  async makeDurable(segment: Segment, unsettled: Uint8Array, mayCut: boolean): Promise<void> {
    let file: OpenFile | undefined;
    segment.clean = mayCut;
    try {
      file = this.#files.open(segment.path, 'change');
      if (mayCut && file.size() > segment.used) {
        // A start that was killed may have written the manifest that allows the cut without syncing its name.
        await this.#files.syncDirectory(this.directory);
        file.truncate(segment.used);
      }
      // Write them again: after a failed fdatasync, the system may report cached pages as stored.
      if (unsettled.length > 0) file.write(unsettled, segment.used - unsettled.length);
      await file.sync();
      await this.#files.syncDirectory(this.directory);
    } catch (error) {
      segment.clean = false;
      segment.suspect = true;
      this.#log?.error('store.unsynced', { file: segment.path, error: String(error) });
    } finally {
      if (file !== undefined) this.closeQuietly(file);
    }
  }
}
