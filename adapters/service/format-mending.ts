/**
 * What is done about a damaged file `version`. The number is kept twice; where neither can be read, the folder tells its
 * format by what only that has in it. Nothing is thrown away: what was damaged is put aside.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  FIRST,
  formatOf,
  type Migration,
  migrations,
  newest,
  numberOf,
  VERSION,
  VERSION_COPY,
  writeFormat,
} from './data-format.ts';

/** Where a damaged file is put, beside it. */
const ASIDE = `${VERSION}.damaged`;

export interface Mended {
  /** The format of the folder. */
  readonly format: number;
  /** What was wrong and what was done, for people. */
  readonly said: string;
  /** Why the disk did not take it; absent: the file says the format again. */
  readonly refused?: string;
}

/** Makes the file `version` say the format of the folder again; undefined when it does. Never throws. */
export function mendFormat(folder: string, steps: readonly Migration[] = migrations): Mended | undefined {
  const copy = copyOf(folder);
  const fault = faultOf(folder, copy);
  if (fault === undefined) return undefined;
  const format = copy ?? apparent(folder, steps);
  const source = copy === undefined ? 'what the folder has in it' : VERSION_COPY;
  const said = `${fault}; by ${source} the records are of format ${format}`;
  try {
    putAside(folder);
    writeFormat(folder, format);
    return { format, said };
  } catch (error) {
    return { format, said, refused: (error as Error).message };
  }
}

/**
 * Whether a folder can be worked with although nothing says its format: it is new, or what is in it is of the newest
 * format and only the number is missing.
 */
export function needsNoStep(folder: string, steps: readonly Migration[] = migrations): boolean {
  if (formatOf(folder) === undefined) return true;
  return !existsSync(join(folder, VERSION)) && apparent(folder, steps) === newest(steps);
}

function faultOf(folder: string, copy: number | undefined): string | undefined {
  try {
    const format = formatOf(folder);
    // Nothing at all is the first format, or a new folder; a copy says that there was more.
    if (copy !== undefined && !existsSync(join(folder, VERSION))) return `${join(folder, VERSION)} is gone`;
    // Agents before this one kept no copy.
    if (format !== undefined && copy !== format && existsSync(join(folder, VERSION))) keepCopy(folder, format);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A disk that does not take it takes it another time: it is only a copy. */
function keepCopy(folder: string, format: number): void {
  try {
    writeFormat(folder, format, VERSION_COPY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** The format that {@link VERSION_COPY} says; undefined when it says none. */
function copyOf(folder: string): number | undefined {
  try {
    return numberOf(readFileSync(join(folder, VERSION_COPY), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

/** The newest format of which something is there. */
function apparent(folder: string, steps: readonly Migration[]): number {
  return steps.findLast(({ names }) => names.some((name) => existsSync(join(folder, name))))?.to ?? FIRST;
}

/** What is a file stays there until it is replaced: a power cut leaves the one or the other. */
function putAside(folder: string): void {
  const file = join(folder, VERSION);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  let aside = join(folder, ASIDE);
  for (let n = 2; existsSync(aside); n++) aside = join(folder, `${ASIDE}.${n}`);
  if (found.isFile()) copyFileSync(file, aside);
  else renameSync(file, aside);
}
