/**
 * Format number of the records. It is in both `version` and `version.copy`, so that one damaged file cannot hide that a
 * newer agent wrote the records.
 */

import { join } from 'node:path';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { type FileSystem, nodeFileSystem, unreadable } from './files.ts';

/** The format that this agent writes. */
export const FORMAT = 1;

/** Returned for a path at which there is a directory instead of a file. */
const FOLDER: unique symbol = Symbol('folder');
type Folder = typeof FOLDER;

/** Name of a marker file, which exists in a folder only until the first start in that folder has finished. */
export const FIRST_START = 'first-start';

const VERSION = 'version';
const COPY = 'version.copy';
/** Folder for a hub's data. It is in the same folder as the records if both use the standard folder. */
const HUB = 'hub';

interface RecordFormat {
  /** The higher number in the two files; {@link FORMAT} if neither contains a number. */
  readonly format: number;
  /** Names missing or damaged files. Undefined if both are valid or no first start has finished in the folder. */
  readonly fault?: string;
}

/**
 * Reads the format of a folder.
 * @throws VigieError `store.unreadable` if the disk fails to return the folder or a file
 */
export function readFormat(folder: string, files: FileSystem = nodeFileSystem): RecordFormat {
  const texts = [VERSION, COPY].map((name) => textIn(join(folder, name), files));
  const numbers = texts.map(numberOf);
  const format = Math.max(...numbers.map((number) => number ?? 0)) || FORMAT;
  const faults = [VERSION, COPY].flatMap((name, i) =>
    numbers[i] === undefined ? [describe(join(folder, name), texts[i])] : [],
  );
  return faults.length === 0 || isNew(folder, files) ? { format } : { format, fault: faults.join('; ') };
}

interface ClaimedFormat {
  /** Like {@link RecordFormat.fault}; the damaged file was renamed and written again. */
  readonly fault?: string;
  /** Reason why the number could not be stored. */
  readonly refused?: string;
}

/**
 * Like {@link readFormat}.
 * @throws VigieError `configuration.wrong` if a newer agent wrote the records, which stay unchanged
 */
export function refuseNewer(folder: string, files: FileSystem = nodeFileSystem): RecordFormat {
  const found = readFormat(folder, files);
  if (found.format <= FORMAT) return found;
  throw new VigieError(
    'configuration.wrong',
    `the records have format ${found.format}, this agent knows ${FORMAT}: run the newer agent that made them, or name another folder`,
    { where: folder },
  );
}

/**
 * Writes {@link FORMAT} to both files. Keeps a damaged file as `version.damaged`. Does not throw if the disk fails to
 * write: the records have this format anyway.
 * @throws VigieError like {@link refuseNewer}
 */
export async function claimFormat(folder: string, files: FileSystem = nodeFileSystem): Promise<ClaimedFormat> {
  const { fault } = refuseNewer(folder, files);
  const found = defined({ fault });
  try {
    for (const name of [VERSION, COPY]) {
      const text = textIn(join(folder, name), files);
      if (numberOf(text) === FORMAT) continue;
      putAside(folder, name, text, files);
      await write(folder, name, files);
    }
    return found;
  } catch (error) {
    return { ...found, refused: (error as Error).message };
  }
}

/** Returns the content of a file, `FOLDER` if it is a directory, or undefined. Throws `store.unreadable`. */
function textIn(file: string, files: FileSystem): string | Folder | undefined {
  try {
    return new TextDecoder().decode(files.read(file));
  } catch (error) {
    if (isReadFailure(error)) throw unreadable(file, error);
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : FOLDER;
  }
}

/** Returns the number in a file's content, or undefined if there is no valid number. */
function numberOf(text: string | Folder | undefined): number | undefined {
  const trimmed = typeof text === 'string' ? text.trim() : '';
  return /^[1-9][0-9]{0,5}$/.test(trimmed) ? Number(trimmed) : undefined;
}

function describe(file: string, text: string | Folder | undefined): string {
  return text === undefined ? `${file} is gone` : `${file} must hold the number of the format, e.g. ${FORMAT}`;
}

/**
 * Returns true if no first start has finished in the folder: the folder has the marker, or contains only this process's
 * lock and a hub's folder.
 */
function isNew(folder: string, files: FileSystem): boolean {
  const names = namesIn(folder, files);
  return names.includes(FIRST_START) || names.every((name) => name.startsWith('lock') || name === HUB);
}

function namesIn(folder: string, files: FileSystem): readonly string[] {
  try {
    return files.list(folder);
  } catch (error) {
    if (isReadFailure(error)) throw unreadable(folder, error);
    return [];
  }
}

/** Copies a damaged file. The original stays until it is replaced, so that a power cut leaves at least one of them. */
function putAside(folder: string, name: string, text: string | Folder | undefined, files: FileSystem): void {
  if (text === undefined) return;
  const taken = namesIn(folder, files);
  let aside = `${name}.damaged`;
  for (let n = 2; taken.includes(aside); n++) aside = `${name}.damaged.${n}`;
  if (text === FOLDER) {
    files.rename(join(folder, name), join(folder, aside));
    return;
  }
  const file = files.open(join(folder, aside), 'create');
  try {
    file.write(files.read(join(folder, name)), 0);
  } finally {
    file.close();
  }
}

/** Writes the number to the file. Resolves when it is on the medium. */
async function write(folder: string, name: string, files: FileSystem): Promise<void> {
  const draft = join(folder, `${name}.next`);
  const file = files.open(draft, 'replace');
  try {
    file.write(new TextEncoder().encode(`${FORMAT}\n`), 0);
    await file.sync();
  } finally {
    file.close();
  }
  files.rename(draft, join(folder, name));
  await files.syncDirectory(folder);
}
