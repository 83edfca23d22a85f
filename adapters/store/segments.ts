/** The segment files of a journal: a directory of `00000001.journal`, `00000002.journal`, …, read in that order. */
import { join } from 'node:path';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { FileSystem, OpenFile } from './files.ts';
import { scanSegment, segmentMark } from './record.ts';
import type { Residence, Slot } from './series.ts';

export interface Segment extends Residence {
  readonly path: string;
  /** Bytes of mark and records; the file may be longer. */
  used: number;
}

/** What was found when the segments were read. */
export interface SegmentFindings {
  /** Stretches of damage between whole records, each skipped. */
  damaged: number;
  /** Segments whose end was cut because no whole record followed. */
  torn: number;
  /** Segments that the disk did not give; they are left alone. */
  unreadable: number;
  /** Segments without a single whole record, renamed to end in `.corrupt`. */
  aside: number;
}

export interface LoadedSegments extends SegmentFindings {
  readonly segments: Segment[];
  /** Of these, those whose content may not be on the medium yet and could not be put there. */
  readonly unsynced: readonly Segment[];
}

const pattern = /^(\d{8,})\.journal/;

function newSegment(path: string, used: number): Segment {
  const slots: Slot<unknown>[] = [];
  return { path, used, live: 0, slots };
}

export class SegmentFiles {
  readonly directory: string;
  readonly #files: FileSystem;
  readonly #log: Log | undefined;
  #last = 0;

  constructor(directory: string, files: FileSystem, log: Log | undefined) {
    this.directory = directory;
    this.#files = files;
    this.#log = log;
  }

  /**
   * Reads all segments, oldest first, calling `visit` for every whole record, and makes durable what a killed
   * process left in the page cache. Throws `store.failed` only when the directory itself cannot be listed:
   * starting empty beside records that exist would give their numbers out again.
   */
  async load(visit: (payload: Uint8Array, segment: Segment) => void): Promise<LoadedSegments> {
    const findings = { damaged: 0, torn: 0, unreadable: 0, aside: 0 };
    const segments: Segment[] = [];
    const unsynced: Segment[] = [];
    const names = this.#names();
    for (const name of names) {
      const path = join(this.directory, name);
      let bytes: Uint8Array;
      try {
        bytes = this.#files.read(path);
      } catch (error) {
        findings.unreadable++;
        this.#log?.error('store.unreadable', { file: path, error: String(error) });
        continue;
      }
      const segment = newSegment(path, 0);
      const scan = scanSegment(bytes, (payload) => visit(payload, segment));
      segment.used = scan.end;
      if (scan.damaged > 0) {
        findings.damaged += scan.damaged;
        this.#log?.warn('store.damaged', { file: path, stretches: scan.damaged, records: scan.records });
      }
      if (scan.torn && scan.records === 0) {
        findings.aside++;
        this.#putAside(path);
        continue;
      }
      if (scan.torn) {
        findings.torn++;
        this.#log?.warn('store.torn', { file: path, cutAt: scan.end, bytes: bytes.length - scan.end });
      }
      segments.push(segment);
      // The older ones were synced before the next was begun.
      if (!scan.torn && name !== names.at(-1)) continue;
      if (!(await this.#makeDurable(segment, scan.torn))) unsynced.push(segment);
    }
    return { segments, unsynced, ...findings };
  }

  /** Makes the next segment file, `length` bytes long, and writes its mark. Throws the system's error. */
  create(length: number): { readonly segment: Segment; readonly file: OpenFile } {
    this.#files.makeDirectory(this.directory);
    const number = this.#last + 1;
    const path = this.path(number);
    const file = this.#files.open(path, 'create');
    this.#last = number;
    try {
      // A sparse file: fdatasync then need not write a new length each time, and no zeros are written either.
      file.truncate(length);
      file.write(segmentMark, 0);
    } catch (error) {
      this.discard(path, file);
      throw error;
    }
    return { segment: newSegment(path, segmentMark.length), file };
  }

  /** Path of the segment with that number. */
  path(number: number): string {
    return join(this.directory, `${String(number).padStart(8, '0')}.journal`);
  }

  /** Path of the segment made last, or to be made first. */
  get lastPath(): string {
    return this.path(Math.max(1, this.#last));
  }

  /** Closes and removes a file that could not be written; what fails is said in the log. */
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

  /** Removes a segment whose records nobody needs; one that stays does no harm when it is read again. */
  remove(path: string): void {
    try {
      this.#files.remove(path);
    } catch (error) {
      this.#log?.warn('store.remove', { file: path, error: String(error) });
    }
  }

  #names(): readonly string[] {
    let names: readonly string[];
    try {
      names = this.#files.list(this.directory);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return [];
      throw new VigieError(
        'store.failed',
        'the directory of the journal cannot be listed; give the agent access to it',
        {
          where: this.directory,
          cause,
        },
      );
    }
    const numbered = names.flatMap((name) => {
      const match = pattern.exec(name);
      return match === null ? [] : [{ name, number: Number(match[1]) }];
    });
    this.#last = numbered.reduce((last, { number }) => Math.max(last, number), 0);
    return numbered
      .filter(({ name }) => name.endsWith('.journal'))
      .sort((a, b) => a.number - b.number)
      .map(({ name }) => name);
  }

  #putAside(path: string): void {
    const aside = `${path}.corrupt`;
    this.#log?.error('store.corrupt', { file: path, aside });
    try {
      this.#files.rename(path, aside);
    } catch (error) {
      this.#log?.warn('store.aside', { file: path, error: String(error) });
    }
  }

  async #makeDurable(segment: Segment, cut: boolean): Promise<boolean> {
    let file: OpenFile | undefined;
    try {
      file = this.#files.open(segment.path, 'change');
      if (cut) file.truncate(segment.used);
      await file.sync();
      await this.#files.syncDirectory(this.directory);
      return true;
    } catch (error) {
      this.#log?.error('store.unsynced', { file: segment.path, error: String(error) });
      return false;
    } finally {
      if (file !== undefined) this.closeQuietly(file);
    }
  }
}
