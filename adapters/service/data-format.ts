/**
 * The format of the folder of records: its number is in the file `version`. A migration leads from one number to the
 * next and back, and nothing is thrown away on the way down that an older agent would not miss.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';

/** One step between two formats. Each way may be cut off anywhere and begun again. */
export interface Migration {
  /** The format that it leads to; `to - 1` is where it comes from. */
  readonly to: number;
  readonly what: string;
  /** Files and folders that no format before it has. */
  readonly names: readonly string[];
  up(folder: string): void;
  down(folder: string): void;
}

/** Format of a folder without the file `version`. */
export const FIRST = 1;
export const VERSION = 'version';
/** The same number, for when that file is damaged. */
export const VERSION_COPY = 'version.copy';

/** Every migration, in order. A new one is added at the end, with the way back. */
export const migrations: readonly Migration[] = [
  {
    to: 2,
    what: 'configurations that were sent to the car, and starts of the agent',
    names: ['configuration', 'configuration.json', 'starts.json'],
    up(folder) {
      // What an earlier way down put aside is taken up again.
      for (const name of ['configuration', 'configuration.json', 'starts.json']) {
        const aside = join(folder, `${name}.format-2`);
        if (existsSync(aside) && !existsSync(join(folder, name))) renameSync(aside, join(folder, name));
      }
      mkdirSync(join(folder, 'configuration'), { recursive: true, mode: 0o750 });
    },
    down(folder) {
      for (const name of ['configuration', 'configuration.json', 'starts.json']) {
        const aside = join(folder, `${name}.format-2`);
        if (existsSync(join(folder, name)) && !existsSync(aside)) renameSync(join(folder, name), aside);
      }
    },
  },
];

/** The newest format of some migrations. */
export function newest(steps: readonly Migration[] = migrations): number {
  return steps.at(-1)?.to ?? FIRST;
}

/**
 * The format of a folder; undefined when there is nothing in it yet.
 * @throws VigieError `configuration.wrong` when the file says no number, `input.unreadable` when it cannot be read
 */
export function formatOf(folder: string): number | undefined {
  const file = join(folder, VERSION);
  try {
    const format = numberOf(readFileSync(file, 'utf8'));
    if (format !== undefined) return format;
    throw new VigieError('configuration.wrong', 'must hold the number of the format, e.g. 2', { where: file });
  } catch (error) {
    if (error instanceof VigieError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new VigieError('input.unreadable', message, { where: file, cause: error });
  }
  // The lock of the process that asks says nothing about records.
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('lock')) : [];
  return names.length === 0 ? undefined : FIRST;
}

/** The format that a file says; undefined when it says none. */
export function numberOf(text: string): number | undefined {
  const format = Number(text.trim());
  return /^[0-9]{1,6}$/.test(text.trim()) && format >= FIRST ? format : undefined;
}

/**
 * Brings a folder to the format `to`, up or down, a step at a time; the file `version` follows each step, so that what
 * was cut off is begun again. Returns what was done, for people.
 * @throws VigieError `configuration.wrong` for a folder of a newer agent, `store.failed` when the disk refuses
 */
export function migrate(
  folder: string,
  steps: readonly Migration[] = migrations,
  to: number = newest(steps),
): string[] {
  const known = newest(steps);
  const from = formatOf(folder);
  if (from !== undefined && from > known) {
    const fix = `run that one, or have it go back with \`vigie migrate --to ${known}\``;
    throw new VigieError('configuration.wrong', `has format ${from}, which a newer agent made; ${fix}`, {
      where: folder,
    });
  }
  if (!Number.isInteger(to) || to < FIRST || to > known) {
    throw new VigieError('usage.wrong', `formats are ${FIRST} to ${known}, not ${to}`, { where: folder });
  }
  const done: string[] = [];
  try {
    let format = from ?? FIRST;
    for (const step of steps) {
      if (step.to <= format || step.to > to) continue;
      step.up(folder);
      format = step.to;
      writeFormat(folder, format);
      if (from !== undefined) done.push(`format ${format}: ${step.what}`);
    }
    for (const step of [...steps].reverse()) {
      if (step.to > format || step.to <= to) continue;
      step.down(folder);
      format = step.to - 1;
      writeFormat(folder, format);
      done.push(`back to format ${format}, without ${step.what}`);
    }
  } catch (cause) {
    if (cause instanceof VigieError) throw cause;
    throw new VigieError('store.failed', `the records could not be migrated: ${(cause as Error).message}`, {
      where: folder,
      cause,
    });
  }
  return done;
}

/** On the medium when it returns: a format that is not written down must not be worked with. */
export function writeFormat(folder: string, format: number, ...only: readonly string[]): void {
  for (const name of only.length > 0 ? only : [VERSION, VERSION_COPY]) writeNumber(folder, format, name);
}

function writeNumber(folder: string, format: number, name: string): void {
  const draft = join(folder, `${name}.next`);
  const file = openSync(draft, 'w', 0o640);
  try {
    writeFileSync(file, `${format}\n`);
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
