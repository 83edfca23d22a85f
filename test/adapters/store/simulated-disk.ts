/**
 * A file system in memory with a page cache, which a power cut empties, and with faults on demand. It guarantees no
 * more than a real one: data is on the medium after sync of its file, a name after sync of its directory. Of unsynced
 * data, any sector may be there or not; of changes of names, the first few are there, because a journaling file system
 * keeps their order.
 */
import { dirname } from 'node:path';
import type { FileSystem, OpenFile } from '../../../adapters/store/files.ts';

const sector = 512;

interface Node {
  cached: Uint8Array;
  stored: Uint8Array;
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${path}`), { code });
}

function resized(bytes: Uint8Array, length: number): Uint8Array {
  const result = new Uint8Array(length);
  result.set(bytes.subarray(0, length));
  return result;
}

export class SimulatedDisk implements FileSystem {
  readonly #names = new Map<string, Node>();
  readonly #storedNames = new Map<string, Node>();
  /** Changes of names not yet covered by a sync of the directory, in order. */
  #nameChanges: ((names: Map<string, Node>) => void)[] = [];
  /** Called before each modifying operation. A returned error code is thrown. */
  fault: (operation: string, path: string) => string | undefined = () => undefined;
  /** Like `fault`, for reads. */
  readFault: (path: string) => string | undefined = () => undefined;
  /** Number of modifying operations. */
  operations = 0;
  /** If set, a sync waits for this promise. */
  pause: Promise<void> | undefined;
  syncs = 0;
  onSync: (() => void) | undefined;

  #change(operation: string, path: string): void {
    this.operations++;
    const code = this.fault(operation, path);
    if (code !== undefined) throw systemError(code, path);
  }

  #look(path: string): void {
    const code = this.readFault(path);
    if (code !== undefined) throw systemError(code, path);
  }

  #rename(change: (names: Map<string, Node>) => void): void {
    change(this.#names);
    this.#nameChanges.push(change);
  }

  open(path: string, mode: 'create' | 'replace' | 'change' | 'read'): OpenFile {
    if (mode === 'read') this.#look(path);
    else this.#change(`open ${mode}`, path);
    let node = this.#names.get(path);
    if (mode === 'read' && node === undefined) throw systemError('ENOENT', path);
    if (mode === 'create' && node !== undefined) throw systemError('EEXIST', path);
    if (mode === 'change' && node === undefined) throw systemError('ENOENT', path);
    if (node === undefined) {
      const made = { cached: new Uint8Array(0), stored: new Uint8Array(0) };
      this.#rename((names) => names.set(path, made));
      node = made;
    }
    if (mode === 'replace') node.cached = new Uint8Array(0);
    return this.#file(path, node);
  }

  #file(path: string, node: Node): OpenFile {
    const store = (): void => {
      this.#change('sync', path);
      node.stored = node.cached.slice();
      this.syncs++;
      this.onSync?.();
    };
    return {
      path,
      size: () => node.cached.length,
      read: (into, position) => {
        this.#look(path);
        const part = node.cached.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      write: (data, position) => {
        try {
          this.#change('write', path);
        } catch (error) {
          // A full disk writes a part.
          this.#put(node, data.subarray(0, data.length >> 1), position);
          throw error;
        }
        this.#put(node, data, position);
      },
      truncate: (length) => {
        this.#change('truncate', path);
        node.cached = resized(node.cached, length);
      },
      sync: async () => {
        const snapshot = node.cached.slice();
        if (this.pause !== undefined) await this.pause;
        this.#change('sync', path);
        node.stored = snapshot;
        this.syncs++;
        this.onSync?.();
      },
      syncInPlace: store,
      close: () => undefined,
    };
  }

  #put(node: Node, data: Uint8Array, position: number): void {
    if (position + data.length > node.cached.length) node.cached = resized(node.cached, position + data.length);
    node.cached.set(data, position);
  }

  read(path: string): Uint8Array {
    this.#look(path);
    const node = this.#names.get(path);
    if (node === undefined) throw systemError('ENOENT', path);
    return node.cached.slice();
  }

  list(directory: string): readonly string[] {
    this.#look(directory);
    const names = [...this.#names.keys()].filter((path) => dirname(path) === directory);
    return names.map((path) => path.slice(directory.length + 1));
  }

  rename(from: string, to: string): void {
    this.#change('rename', from);
    const node = this.#names.get(from);
    if (node === undefined) throw systemError('ENOENT', from);
    this.#rename((names) => {
      names.delete(from);
      names.set(to, node);
    });
  }

  remove(path: string): void {
    this.#change('remove', path);
    if (!this.#names.has(path)) throw systemError('ENOENT', path);
    this.#rename((names) => names.delete(path));
  }

  makeDirectory(path: string): void {
    this.#change('makeDirectory', path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.#change('syncDirectory', path);
    for (const change of this.#nameChanges) change(this.#storedNames);
    this.#nameChanges = [];
  }

  /** Sets the content of a file as if it had been there from the start. */
  plant(path: string, bytes: Uint8Array): void {
    const node = { cached: bytes.slice(), stored: bytes.slice() };
    this.#names.set(path, node);
    this.#storedNames.set(path, node);
  }

  /** Paths of all files. */
  get paths(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  /**
   * Returns the disk after a power cut. `survives` decides for each unsynced change of a name and each unsynced sector
   * whether it reached the medium.
   */
  powerCut(survives: () => boolean): SimulatedDisk {
    const after = new SimulatedDisk();
    const names = new Map(this.#storedNames);
    for (const change of this.#nameChanges) {
      if (!survives()) break;
      change(names);
    }
    for (const [path, { cached, stored }] of names) {
      const bytes = resized(stored, cached.length !== stored.length && survives() ? cached.length : stored.length);
      for (let at = 0; at < bytes.length; at += sector) {
        const part = cached.subarray(at, Math.min(at + sector, bytes.length));
        if (survives()) bytes.set(part, at);
      }
      after.plant(path, bytes);
    }
    return after;
  }
}
