/** Stores configurations, each in a file that is either complete or absent. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';

/** A file that was sent with a configuration. */
export interface SentFile {
  /** Relative path. Each name in it begins with a letter, a digit or `_`. */
  readonly path: string;
  readonly contents: Uint8Array;
}

/** A folder of numbered configurations. */
export class GenerationFiles {
  readonly #folder: string;

  /** @param make true to create a missing folder. @throws VigieError `store.failed` if that fails */
  constructor(folder: string, make = true) {
    this.#folder = folder;
    if (!make) return;
    guarded(folder, () => mkdirSync(folder, { recursive: true, mode: 0o750 }));
  }

  path(number: number): string {
    return join(this.#folder, `${number}.yaml`);
  }

  /** Path of a copy of the last valid version of the unit's own file. */
  get localCopy(): string {
    return join(this.#folder, 'local.yaml');
  }

  /** Path at which a configuration is stored to be checked. */
  get candidate(): string {
    return join(this.#folder, 'candidate.yaml');
  }

  /** Returns the folder of the files that were sent with the configuration at `path`. */
  filesOf(path: string): string {
    return path.replace(/\.yaml$/, '');
  }

  /** Replaces the files sent with a configuration; returns when they are on disk. @throws VigieError `store.failed` */
  writeFiles(path: string, files: readonly SentFile[]): void {
    const folder = this.filesOf(path);
    guarded(folder, () => {
      rmSync(folder, { recursive: true, force: true });
      const folders = new Set<string>();
      for (const { path: name, contents } of files) {
        const file = join(folder, name);
        mkdirSync(dirname(file), { recursive: true, mode: 0o750 });
        writeFileSync(file, contents, { mode: 0o640, flush: true });
        for (let above = dirname(file); above.startsWith(this.#folder); above = dirname(above)) folders.add(above);
      }
      for (const one of folders) syncPath(one);
    });
  }

  /** Returns the content of a file, or undefined if it cannot be read. */
  read(path: string): string | undefined {
    return contentsOf(path);
  }

  /** Replaces a file; returns when it is on disk. @throws VigieError `store.failed` */
  write(path: string, text: string): void {
    const draft = `${path}.next`;
    guarded(path, () => {
      const file = openSync(draft, 'w', 0o640);
      try {
        writeFileSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(draft, path);
      syncPath(this.#folder);
    });
  }

  /** Removes all other numbered configurations, and the candidate. */
  keepOnly(numbers: readonly number[]): void {
    const kept = new Set(numbers.map((number) => `${number}.yaml`));
    guarded(this.#folder, () => {
      for (const name of readdirSync(this.#folder)) {
        const forgotten = /^[0-9]+(\.yaml)?$/.test(name) && !kept.has(`${parseInt(name, 10)}.yaml`);
        if (!forgotten && !name.startsWith('candidate')) continue;
        rmSync(join(this.#folder, name), { recursive: true, force: true });
      }
    });
  }
}

/** Returns the content of a file, or undefined if it cannot be read. */
export function contentsOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw error;
  }
}

/** Flushes the names in a folder to disk or, with the flags `r+`, the contents of a file. */
export function syncPath(path: string, flags: 'r' | 'r+' = 'r'): void {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Returns a digest that identifies the content. */
export function fingerprint(text: string | undefined): string {
  return text === undefined ? '' : createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function guarded(where: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    throw new VigieError('store.failed', `the configuration cannot be kept: ${(cause as Error).message}`, {
      where,
      cause,
    });
  }
}
