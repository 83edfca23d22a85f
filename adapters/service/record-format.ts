/**
 * The number of the format of the records. It stands in the file `version` and again in `version.copy`, so that a
 * damaged file does not hide that a newer agent made the records.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';

/** The format that this agent writes. */
export const FORMAT = 1;

const VERSION = 'version';
const COPY = 'version.copy';

export interface RecordFormat {
  /** The highest number of the two files; {@link FORMAT} when neither holds one. */
  readonly format: number;
  /** Which file is missing or damaged; absent: none, or the folder is new. */
  readonly fault?: string;
}

/** Reads the format of a folder. Throws what the file system throws for a folder that cannot be listed. */
export function readFormat(folder: string): RecordFormat {
  const copy = numberIn(join(folder, COPY));
  const number = numberIn(join(folder, VERSION));
  const format = Math.max(number ?? 0, copy ?? 0) || FORMAT;
  const faults = [
    ...(number === undefined ? [describe(folder, VERSION)] : []),
    ...(copy === undefined ? [describe(folder, COPY)] : []),
  ];
  return faults.length === 0 || isNew(folder) ? { format } : { format, fault: faults.join('; ') };
}

export interface ClaimedFormat {
  /** As {@link RecordFormat.fault}; the file was put aside and written again. */
  readonly fault?: string;
  /** Why the disk did not take the number. */
  readonly refused?: string;
}

/**
 * Makes both files hold {@link FORMAT}. A damaged file is kept as `version.damaged`. A disk that refuses does not
 * throw: the records are of this format all the same.
 * @throws VigieError `configuration.wrong` for the records of a newer agent, which are left as they are
 */
export function claimFormat(folder: string): ClaimedFormat {
  const { format, fault } = readFormat(folder);
  if (format > FORMAT) {
    throw new VigieError(
      'configuration.wrong',
      `the records have format ${format}, this agent knows ${FORMAT}: run the newer agent that made them, or name another folder`,
      { where: folder },
    );
  }
  const found = fault === undefined ? {} : { fault };
  try {
    for (const name of [VERSION, COPY]) {
      if (numberIn(join(folder, name)) === FORMAT) continue;
      putAside(folder, name);
      write(folder, name);
    }
    return found;
  } catch (error) {
    return { ...found, refused: (error as Error).message };
  }
}

/** The number in a file; undefined when it holds none or cannot be read. */
function numberIn(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

function describe(folder: string, name: string): string {
  const file = join(folder, name);
  return existsSync(file) ? `${file} must hold the number of the format, e.g. ${FORMAT}` : `${file} is gone`;
}

/** Whether the folder is empty, apart from the lock of this process. */
function isNew(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).every((name) => name.startsWith('lock'));
}

/** A file stays in place until its successor replaces it: a power cut leaves one of them. */
function putAside(folder: string, name: string): void {
  const file = join(folder, name);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  let aside = `${file}.damaged`;
  for (let n = 2; existsSync(aside); n++) aside = `${file}.damaged.${n}`;
  if (found.isFile()) copyFileSync(file, aside);
  else renameSync(file, aside);
}

/** The number is on the medium when this returns. */
function write(folder: string, name: string): void {
  const draft = join(folder, `${name}.next`);
  const file = openSync(draft, 'w', 0o640);
  try {
    writeFileSync(file, `${FORMAT}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, join(folder, name));
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
