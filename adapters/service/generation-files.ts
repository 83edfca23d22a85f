/** Texts of configurations, each in a file that is whole or not there. */
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
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';

/** A folder of configurations by number. */
export class GenerationFiles {
  readonly #folder: string;

  /** @throws VigieError `store.failed` when the folder cannot be made */
  constructor(folder: string) {
    this.#folder = folder;
    guarded(folder, () => mkdirSync(folder, { recursive: true, mode: 0o750 }));
  }

  path(number: number): string {
    return join(this.#folder, `${number}.yaml`);
  }

  /** Where the last good contents of the file on the unit are. */
  get localCopy(): string {
    return join(this.#folder, 'local.yaml');
  }

  /** Where a text is put to be checked. */
  get candidate(): string {
    return join(this.#folder, 'candidate.yaml');
  }

  /** The text of a file here; undefined when it is not there. */
  read(path: string): string | undefined {
    return contentsOf(path);
  }

  /** Replaces a file; it is on the medium when this returns. @throws VigieError `store.failed` */
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
      const folder = openSync(this.#folder, 'r');
      try {
        fsyncSync(folder);
      } finally {
        closeSync(folder);
      }
    });
  }

  /** Removes the generations that nobody needs any more. */
  keepOnly(numbers: readonly number[]): void {
    const kept = new Set(numbers.map((number) => `${number}.yaml`));
    guarded(this.#folder, () => {
      for (const name of readdirSync(this.#folder)) {
        const forgotten = /^[0-9]+\.yaml$/.test(name) && !kept.has(name);
        if (forgotten || name.startsWith('candidate.yaml')) rmSync(join(this.#folder, name), { force: true });
      }
    });
  }
}

/** The text of a file; undefined when it cannot be read. */
export function contentsOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw error;
  }
}

/** Tells contents apart. */
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
