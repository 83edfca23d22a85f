/** Bodies of messages in a temporary file, so that an export of months needs little memory: 32 bytes for a message. */
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/** Size in bytes of lines that are written together. */
const GATHERED = 256 * 1024;

export class Spool {
  readonly #path: string;
  readonly #file: number;
  readonly #ends: number[] = [];
  #gathered: Buffer[] = [];
  #size = 0;
  #written = 0;

  /** Creates the file at `path`, which must not be in use. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'w+', 0o600);
  }

  /** Stores a value. Returns its index. */
  add(value: unknown): number {
    const line = Buffer.from(JSON.stringify(value));
    this.#gathered.push(line);
    this.#size += line.length;
    if (this.#size >= GATHERED) this.#flush();
    return this.#ends.push((this.#ends.at(-1) ?? 0) + line.length) - 1;
  }

  read(index: number): unknown {
    this.#flush();
    const from = index === 0 ? 0 : (this.#ends[index - 1] as number);
    const bytes = Buffer.alloc((this.#ends[index] as number) - from);
    for (let at = 0; at < bytes.length; ) at += readSync(this.#file, bytes, at, bytes.length - at, from + at);
    return JSON.parse(bytes.toString());
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #flush(): void {
    if (this.#size === 0) return;
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#size = 0;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at, bytes.length - at, this.#written + at);
    this.#written += bytes.length;
  }
}
