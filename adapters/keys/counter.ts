import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';
import { createFile, hasCode, unreadable, unwritten } from './files.ts';

/**
 * A number that only increases and is never issued twice, stored in the name of an empty file, `<name>.counter.<n>`.
 * Exclusive creation of a file is atomic across processes, so that two processes that sign with the same key can share
 * the counter without a lock, which a crash could leave behind. The number is never below the time in ms: copies of a
 * key that have separate counters do not collide unless they sign in the same millisecond.
 */
export class Counter {
  readonly #directory: string;
  readonly #name: string;
  readonly #now: () => number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(directory: string, name: string, now: () => number) {
    this.#directory = directory;
    this.#name = name;
    this.#now = now;
  }

  /** Resolves with the next number when it is on disk. On failure, rejects with `store.failed` and uses no number. */
  next(): Promise<number> {
    const claimed = this.#last.then(() => this.#claim());
    this.#last = claimed.catch(() => undefined);
    return claimed;
  }

  async #claim(): Promise<number> {
    for (;;) {
      const number = Math.max((await this.#highest()) + 1, Math.floor(this.#now()));
      if (!Number.isSafeInteger(number)) {
        throw new VigieError('store.failed', 'the counter is used up; make a new key', { where: this.#path(number) });
      }
      try {
        await createFile(this.#path(number), '', 0o600);
      } catch (error) {
        // Another process has created this file first.
        if (hasCode(error, 'EEXIST')) continue;
        throw unwritten(this.#path(number), error);
      }
      // A faster process may have issued this number and already removed its file before this process created the file.
      if ((await this.#highest()) !== number) continue;
      await this.#forgetBelow(number);
      return number;
    }
  }

  async #highest(): Promise<number> {
    return Math.max(-1, ...(await this.#numbers()));
  }

  async #forgetBelow(number: number): Promise<void> {
    for (const older of await this.#numbers()) {
      if (older < number) await rm(this.#path(older), { force: true });
    }
  }

  async #numbers(): Promise<number[]> {
    const prefix = `${this.#name}.counter.`;
    try {
      const names = await readdir(this.#directory);
      return names
        .filter((name) => name.startsWith(prefix) && /^[0-9]+$/.test(name.slice(prefix.length)))
        .map((name) => Number(name.slice(prefix.length)));
    } catch (error) {
      throw unreadable(this.#directory, error, 'it is the directory of the signing keys');
    }
  }

  #path(number: number): string {
    return join(this.#directory, `${this.#name}.counter.${number}`);
  }
}
