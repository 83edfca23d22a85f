/**
 * A disk in memory that guarantees no more than a real one. A power cut loses, tears and reorders unsynced data: each
 * page has its old content, its new content, or a mixture. Of renames and removals, only the first few survive. A
 * failed sync forgets which pages it should have written.
 */
import { dirname } from 'node:path';
import type { FileSystem, OpenFile } from '../../adapters/store/files.ts';
import type { Chance } from './chance.ts';
import type { WorldTime } from './time.ts';

const PAGE = 512;

/** Length of a file when a sync began, and the pages that differed from the medium. */
interface Synced {
  readonly length: number;
  readonly pages: readonly { readonly page: number; readonly bytes: Uint8Array }[];
}

/** A file: its content for programs, and its content on the medium. */
class Inode {
  bytes: Uint8Array = new Uint8Array(1024);
  length = 0;
  #medium: Uint8Array = new Uint8Array(0);
  #mediumLength = 0;
  /** Pages that differ from the medium according to the operating system. */
  readonly dirty = new Set<number>();

  get contents(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  get stored(): Uint8Array {
    return this.#medium.subarray(0, this.#mediumLength);
  }

  /** A file with these bytes, all on the medium. */
  static on(medium: Uint8Array): Inode {
    const made = new Inode();
    made.#medium = medium;
    made.#mediumLength = medium.length;
    made.write(medium, 0);
    made.dirty.clear();
    return made;
  }

  write(data: Uint8Array, position: number): void {
    if (position > this.length) this.resize(position);
    const end = position + data.length;
    if (end > this.bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      grown.set(this.contents);
      this.bytes = grown;
    }
    this.bytes.set(data, position);
    this.length = Math.max(this.length, end);
    for (let page = Math.floor(position / PAGE); page * PAGE < end; page++) this.dirty.add(page);
  }

  resize(length: number): void {
    if (length > this.bytes.length) {
      const grown = new Uint8Array(length);
      grown.set(this.contents);
      this.bytes = grown;
    }
    if (length < this.length) {
      this.bytes.fill(0, length, this.length);
      for (const page of this.dirty) if (page * PAGE >= length) this.dirty.delete(page);
    }
    this.length = length;
  }

  /** Begins a sync: the pages to write, which count as clean from now on. */
  begin(): Synced {
    const { contents, length } = this;
    const pages = [...this.dirty].map((page) => ({
      page,
      bytes: contents.slice(page * PAGE, (page + 1) * PAGE),
    }));
    this.dirty.clear();
    return { length, pages };
  }

  /** Writes the pages to the medium. */
  store({ length, pages }: Synced): void {
    if (length > this.#medium.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#medium.length));
      grown.set(this.stored);
      this.#medium = grown;
    }
    if (length < this.#mediumLength) this.#medium.fill(0, length, this.#mediumLength);
    this.#mediumLength = length;
    for (const { page, bytes } of pages) this.#medium.set(bytes, page * PAGE);
  }
}

type Names = Map<string, Inode>;

/** Damage to a file of the journal. */
export interface DiskDamage {
  readonly kind: 'missing' | 'empty' | 'zeros' | 'flip' | 'cut';
  /** Selects the file. */
  readonly which: number;
  /** Position in the file, from 0 to 1. */
  readonly place: number;
}

export interface DiskFaults {
  /** Error code of a failing write operation. Undefined if it succeeds. */
  refuses(operation: string, path: string): string | undefined;
  /** Error code of a failing read. Undefined if it succeeds. */
  unreadable(path: string): string | undefined;
  /** Called when a file is renamed or removed after a failed read of it. */
  touched(path: string): void;
  /** Duration of a sync, ms. */
  syncTakes(): number;
  /** Called before each write operation. */
  operated(operation: string, path: string): void;
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${path}`), { code });
}

export class WorldDisk {
  operations = 0;
  /** Total duration of all syncs, ms. */
  syncing = 0;
  readonly #time: WorldTime;
  #names: Names = new Map();
  #stored: Names = new Map();
  #changes: ((names: Names) => void)[] = [];

  constructor(time: WorldTime) {
    this.#time = time;
  }

  /** All files, as programs read them. */
  get files(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#names].map(([path, inode]) => [path, inode.contents]));
  }

  /** Replaces the medium by an empty one. */
  replace(): void {
    this.#names = new Map();
    this.#stored = new Map();
    this.#changes = [];
  }

  /**
   * Cuts the power: afterwards programs read the content of the medium, and a random part of the unsynced data. With
   * `damages`, unfinished writes may leave arbitrary data.
   */
  cutPower(chance: Chance, damages = false): void {
    const names = new Map(this.#stored);
    for (const change of this.#changes.splice(0, chance.below(this.#changes.length + 1))) change(names);
    this.#changes = [];
    const after: Names = new Map();
    for (const [path, inode] of names) {
      after.set(path, Inode.on(survivors(inode, chance, damages)));
    }
    this.#names = after;
    this.#stored = new Map(after);
  }

  /**
   * Damages a file of the journal, but not the newest, because damage at that file's end looks like a power cut. Returns
   * its path, or undefined if the journal has no other file.
   */
  damage({ kind, which, place }: DiskDamage): string | undefined {
    const names = [...this.#names.keys()].filter((path) => path.endsWith('.journal')).sort();
    const path = names[which % Math.max(1, names.length - 1)];
    const inode = names.length < 2 || path === undefined ? undefined : this.#names.get(path);
    if (path === undefined || inode === undefined) return undefined;
    const at = Math.floor(place * inode.length);
    const bytes = inode.contents.slice(0, kind === 'cut' ? at : kind === 'empty' ? 0 : inode.length);
    if (kind === 'zeros') bytes.fill(0, at, at + PAGE);
    if (kind === 'flip' && at < bytes.length) bytes[at]! ^= 1;
    for (const files of [this.#names, this.#stored]) {
      if (kind === 'missing') files.delete(path);
      else files.set(path, Inode.on(bytes));
    }
    return path;
  }

  /** The file system for one run of a program, until `alive` reports the end of the run. */
  mount(alive: () => boolean, faults: DiskFaults, chance: Chance): FileSystem {
    const change = (operation: string, path: string): void => {
      if (!alive()) throw systemError('EIO', path);
      this.operations++;
      faults.operated(operation, path);
      if (!alive()) throw systemError('EIO', path);
      const code = faults.refuses(operation, path);
      if (code !== undefined) throw systemError(code, path);
    };
    const find = (path: string): Inode => {
      const inode = this.#names.get(path);
      if (inode === undefined) throw systemError('ENOENT', path);
      return inode;
    };
    /** Files whose last read failed. */
    const unread = new Set<string>();
    const readable = (path: string): void => {
      const code = faults.unreadable(path);
      unread.delete(path);
      if (code === undefined) return;
      unread.add(path);
      throw systemError(code, path);
    };
    const touch = (path: string): void => {
      if (unread.has(path)) faults.touched(path);
    };
    const sync = (operation: string, path: string, begin: () => () => void): Promise<void> =>
      new Promise((resolve, reject) => {
        if (!alive()) return;
        const finish = begin();
        const takes = faults.syncTakes();
        this.#time.after(takes, () => {
          this.syncing += takes;
          // The run has ended, so no caller waits for the result.
          if (!alive()) return;
          try {
            change(operation, path);
            finish();
            resolve();
          } catch (error) {
            if (alive()) reject(error as Error);
          }
        });
      });
    const file = (path: string, inode: Inode): OpenFile => ({
      path,
      size: () => inode.length,
      read(into, position) {
        readable(path);
        const part = inode.contents.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      write(data, position) {
        try {
          change('write', path);
        } catch (error) {
          // A full disk has written a part.
          if (alive()) inode.write(data.subarray(0, data.length >> 1), position);
          throw error;
        }
        inode.write(data, position);
      },
      truncate(length) {
        change('truncate', path);
        inode.resize(length);
      },
      async sync() {
        let failed = true;
        const synced = inode.begin();
        try {
          await sync('sync', path, () => () => {
            failed = false;
            inode.store(synced);
          });
        } finally {
          if (failed) {
            for (const page of synced.pages) if (chance.happens(0.5)) inode.store({ ...synced, pages: [page] });
          }
        }
      },
      syncInPlace() {
        change('sync', path);
        inode.store(inode.begin());
      },
      close: () => undefined,
    });
    return {
      open: (path, mode) => {
        if (mode !== 'read') change(`open to ${mode}`, path);
        if (mode === 'create' && this.#names.has(path)) throw systemError('EEXIST', path);
        if (mode === 'read' || mode === 'change') {
          const known = find(path);
          if (mode === 'read') readable(path);
          return file(path, known);
        }
        const known = this.#names.get(path);
        if (known !== undefined) {
          known.resize(0);
          return file(path, known);
        }
        const made = new Inode();
        this.#rename((names) => names.set(path, made));
        return file(path, made);
      },
      read: (path) => {
        const { contents } = find(path);
        readable(path);
        return contents.slice();
      },
      list: (directory) => {
        readable(directory);
        return [...this.#names.keys()]
          .filter((path) => dirname(path) === directory)
          .map((path) => path.slice(directory.length + 1));
      },
      rename: (from, to) => {
        change('rename', from);
        touch(from);
        const inode = find(from);
        this.#rename((names) => {
          names.delete(from);
          names.set(to, inode);
        });
      },
      remove: (path) => {
        change('remove', path);
        touch(path);
        find(path);
        this.#rename((names) => names.delete(path));
      },
      makeDirectory: (path) => change('make the directory', path),
      syncDirectory: (path) =>
        sync('sync the names', path, () => {
          const covered = this.#changes.length;
          return () => {
            for (const one of this.#changes.splice(0, covered)) one(this.#stored);
          };
        }),
    };
  }

  #rename(change: (names: Names) => void): void {
    change(this.#names);
    this.#changes.push(change);
  }
}

/** Content of the medium after a power cut. */
function survivors(inode: Inode, chance: Chance, damages: boolean): Uint8Array {
  const { contents, stored } = inode;
  const length = chance.happens(0.5) ? contents.length : stored.length;
  const bytes = new Uint8Array(length);
  bytes.set(stored.subarray(0, length));
  const pages = Math.ceil(Math.max(contents.length, stored.length) / PAGE);
  for (let page = 0; page < pages; page++) {
    const from = page * PAGE;
    const end = Math.min(from + PAGE, length, contents.length);
    if (from >= end || !differs(contents, stored, from, end)) continue;
    const what = chance.below(damages ? 4 : 3);
    if (what === 0) continue;
    if (what === 3) {
      // Unchanged data is not rewritten.
      for (let i = firstOther(contents, stored, from, end); i < end; i++) bytes[i] = chance.below(256);
      continue;
    }
    // The first part of a torn page is new.
    const whole = what === 1 ? end : from + chance.below(end - from + 1);
    bytes.set(contents.subarray(from, whole), from);
  }
  return bytes;
}

function differs(a: Uint8Array, b: Uint8Array, from: number, end: number): boolean {
  return Buffer.compare(a.subarray(from, end), b.subarray(from, end)) !== 0;
}

/** First position from `from` on at which the two differ, at most `end`. */
function firstOther(a: Uint8Array, b: Uint8Array, from: number, end: number): number {
  let place = from;
  while (place < end && a[place] === b[place]) place++;
  return place;
}
