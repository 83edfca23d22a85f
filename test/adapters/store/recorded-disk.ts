/**
 * A file system in memory that records all operations, and can return the files that a power cut at any moment would
 * have left. It guarantees no more than a real one:
 *
 * - Data is on the medium after fdatasync of its file began and ended, a name after sync of its directory.
 * - Of unsynced data, each page may have any of its states since, independent of other pages. A page may be half in one
 *   state and half in another, split at any byte where a sector tore.
 * - Lengths and names follow the journal of the file system: the first few of their changes are on the medium.
 * - A failed fdatasync forgets its data: they may never reach the medium, even if later ones succeed.
 */
import type { FileSystem, OpenFile } from '../../../adapters/store/files.ts';

const page = 512;
const sector = 64;

type Event =
  | { readonly what: 'write'; readonly file: number; readonly position: number; readonly data: Uint8Array }
  | { readonly what: 'length'; readonly file: number; readonly length: number }
  | { readonly what: 'synced' | 'forgotten'; readonly file: number; readonly began: number }
  | { readonly what: 'name'; readonly change: (names: Map<string, number>) => void }
  | { readonly what: 'named'; readonly began: number };

/** Returns an integer from 0 to `most`, inclusive. */
export type Choose = (most: number) => number;

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}

function broken(path: string): Error {
  return Object.assign(new Error(`EIO: ${path}`), { code: 'EIO' });
}

export class RecordedDisk implements FileSystem {
  readonly #first = new Map<number, Uint8Array>();
  readonly #firstNames = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #content = new Map<number, Uint8Array>();
  readonly #history: Event[] = [];
  #files = 0;
  #operations = 0;
  #failing = Number.NaN;

  /** @param files initial files, already on the medium */
  constructor(files: ReadonlyMap<string, Uint8Array> = new Map()) {
    for (const [path, bytes] of files) {
      const file = this.#files++;
      this.#first.set(file, bytes);
      this.#content.set(file, bytes.slice());
      this.#firstNames.set(path, file);
      this.#names.set(path, file);
    }
  }

  /** Makes the modifying operation after the next `operations` ones fail. */
  failAfter(operations: number): void {
    this.#failing = this.#operations + operations;
  }

  #fails(): boolean {
    return this.#operations++ === this.#failing;
  }

  #refuse(path: string): void {
    if (this.#fails()) throw broken(path);
  }

  /** Number of recorded events. */
  get moments(): number {
    return this.#history.length;
  }

  get paths(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  open(path: string, mode: 'create' | 'replace' | 'change' | 'read'): OpenFile {
    if (mode !== 'read') this.#refuse(path);
    let file = this.#names.get(path);
    if (mode === 'create' && file !== undefined) throw Object.assign(new Error('EEXIST'), { code: 'EEXIST' });
    if (file === undefined) {
      if (mode === 'change' || mode === 'read') throw missing(path);
      const made = this.#files++;
      file = made;
      this.#content.set(made, new Uint8Array(0));
      this.#rename((names) => names.set(path, made));
    }
    if (mode === 'replace') this.#resize(file, 0);
    return this.#open(path, file);
  }

  #open(path: string, file: number): OpenFile {
    return {
      path,
      size: () => this.#content.get(file)!.length,
      read: (into, position) => {
        const part = this.#content.get(file)!.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      write: (whole, position) => {
        const fails = this.#fails();
        // A full disk writes a part.
        const data = fails ? whole.subarray(0, whole.length >> 1) : whole;
        const content = this.#content.get(file)!;
        if (position + data.length > content.length) this.#resize(file, position + data.length);
        this.#content.get(file)!.set(data, position);
        this.#history.push({ what: 'write', file, position, data: data.slice() });
        if (fails) throw broken(path);
      },
      truncate: (length) => {
        this.#refuse(path);
        this.#resize(file, length);
      },
      sync: async () => {
        const began = this.#history.length;
        const fails = this.#fails();
        // The event loop runs on while the medium works.
        await new Promise<void>((resolve) => setImmediate(resolve));
        this.#history.push({ what: fails ? 'forgotten' : 'synced', file, began });
        if (fails) throw broken(path);
      },
      syncInPlace: () => {
        const fails = this.#fails();
        this.#history.push({ what: fails ? 'forgotten' : 'synced', file, began: this.#history.length });
        if (fails) throw broken(path);
      },
      close: () => undefined,
    };
  }

  #resize(file: number, length: number): void {
    const content = this.#content.get(file)!;
    const resized = new Uint8Array(length);
    resized.set(content.subarray(0, length));
    this.#content.set(file, resized);
    this.#history.push({ what: 'length', file, length });
  }

  #rename(change: (names: Map<string, number>) => void): void {
    change(this.#names);
    this.#history.push({ what: 'name', change });
  }

  read(path: string): Uint8Array {
    const file = this.#names.get(path);
    if (file === undefined) throw missing(path);
    return this.#content.get(file)!.slice();
  }

  list(directory: string): readonly string[] {
    const below = this.paths.filter((path) => path.startsWith(`${directory}/`));
    // A folder exists as long as it contains files.
    return [...new Set(below.map((path) => path.slice(directory.length + 1).split('/')[0] as string))];
  }

  rename(from: string, to: string): void {
    this.#refuse(from);
    const file = this.#names.get(from);
    if (file === undefined) throw missing(from);
    this.#rename((names) => {
      names.delete(from);
      names.set(to, file);
    });
  }

  remove(path: string): void {
    this.#refuse(path);
    if (!this.#names.has(path)) throw missing(path);
    this.#rename((names) => names.delete(path));
  }

  makeDirectory(path: string): void {
    this.#refuse(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.#refuse(path);
    const began = this.#history.length;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#history.push({ what: 'named', began });
  }

  /** Returns the files after a power cut that followed the first `moment` events. */
  after(moment: number, choose: Choose): Map<string, Uint8Array> {
    const past = this.#history.slice(0, moment);
    let named = 0;
    for (const event of past) if (event.what === 'named') named = event.began;
    const names = new Map(this.#firstNames);
    const changes = past.flatMap((event, i) => (event.what === 'name' ? [{ i, change: event.change }] : []));
    const promised = changes.filter(({ i }) => i < named).length;
    const there = promised + choose(changes.length - promised);
    for (const { change } of changes.slice(0, there)) change(names);
    const files = new Map<string, Uint8Array>();
    for (const [path, file] of names) files.set(path, this.#fileAfter(past, file, choose));
    return files;
  }

  #fileAfter(past: readonly Event[], file: number, choose: Choose): Uint8Array {
    const first = this.#first.get(file) ?? new Uint8Array(0);
    let bytes = first.slice();
    const own = past.flatMap((event, moment) => ('file' in event && event.file === file ? [{ event, moment }] : []));
    const syncs = own.flatMap(({ event }) => (event.what === 'synced' || event.what === 'forgotten' ? [event] : []));
    const promised = (moment: number) => syncs.find(({ began }) => began > moment)?.what === 'synced';
    const lengths = [first.length];
    let leastLength = 0;
    // For each page: its states, and the index of the earliest one that may be on the medium.
    const pages = new Map<number, { least: number; readonly states: Uint8Array[] }>();
    const at = (number: number): Uint8Array => {
      const state = new Uint8Array(page);
      state.set(bytes.subarray(number * page, (number + 1) * page));
      return state;
    };
    for (const { event, moment } of own) {
      if (event.what === 'length') {
        lengths.push(event.length);
        if (promised(moment)) leastLength = lengths.length - 1;
        const resized = new Uint8Array(event.length);
        resized.set(bytes.subarray(0, event.length));
        bytes = resized;
      } else if (event.what === 'write') {
        const { position, data } = event;
        for (let number = Math.floor(position / page); number * page < position + data.length; number++) {
          if (!pages.has(number)) pages.set(number, { least: 0, states: [at(number)] });
        }
        bytes.set(data, position);
        for (let number = Math.floor(position / page); number * page < position + data.length; number++) {
          const kept = pages.get(number)!;
          kept.states.push(at(number));
          if (promised(moment)) kept.least = kept.states.length - 1;
        }
      }
    }
    const result = new Uint8Array(lengths[leastLength + choose(lengths.length - 1 - leastLength)]!);
    result.set(first.subarray(0, result.length));
    for (const [number, { least, states }] of pages) {
      const state = states[least + choose(states.length - 1 - least)]!.slice();
      // Sometimes the head of the page is in another state than its tail, split within a torn sector.
      if (choose(7) === 7) {
        const other = states[least + choose(states.length - 1 - least)]!;
        const tear = choose(page / sector - 1) * sector + choose(sector);
        state.set(other.subarray(tear), tear);
      }
      const from = number * page;
      if (from < result.length) result.set(state.subarray(0, result.length - from), from);
    }
    return result;
  }
}
