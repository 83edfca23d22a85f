import { closeSync, openSync, writeSync } from 'node:fs';
import { VigieError } from '../../protocol/errors.ts';

/** Largest number of characters that may wait before they are written. */
const MOST_WAITING = 256 * 1024;

/** Writes lines to a file. */
export class FileLines {
  readonly #path: string;
  readonly #file: number;
  readonly #waiting: string[] = [];
  #size = 0;

  /** @throws VigieError `input.unreadable` if the file cannot be opened; later `store.failed` if the disk is full */
  constructor(path: string) {
    this.#path = path;
    this.#file = this.#try('input.unreadable', () => openSync(path, 'w'));
  }

  line(text: string): void {
    this.#waiting.push(text, '\n');
    this.#size += text.length + 1;
    if (this.#size >= MOST_WAITING) this.#write();
  }

  close(): void {
    this.#write();
    closeSync(this.#file);
  }

  #write(): void {
    let bytes = new TextEncoder().encode(this.#waiting.join(''));
    this.#waiting.length = 0;
    this.#size = 0;
    while (bytes.length > 0) bytes = bytes.subarray(this.#try('store.failed', () => writeSync(this.#file, bytes)));
  }

  #try<T>(code: 'input.unreadable' | 'store.failed', action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw new VigieError(code, `cannot be written: ${(error as Error).message}`, { where: this.#path, cause: error });
    }
  }
}
