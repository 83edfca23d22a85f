import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { VigieError } from '../protocol/errors.ts';
import { isVin } from '../protocol/topics.ts';

/** Default folder for all files of the bench. */
export const benchDirectory = join('.vigie', 'bench');

/** Data of a running bench that `watch` and `send` read, so that they need no options. */
export interface Rig {
  readonly vin: string;
  /** URL of the broker. */
  readonly broker: string;
  /** Directory of the command-signing keys. */
  readonly keys: string;
}

export function rigFile(directory: string): string {
  return join(directory, 'bench.json');
}

/** Reads the data of a bench that was started here; undefined if there was none. */
export function readRig(directory: string): Rig | undefined {
  const file = rigFile(directory);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new VigieError('input.unreadable', (error as Error).message, { where: file, cause: error });
  }
  try {
    return JSON.parse(text) as Rig;
  } catch (error) {
    throw new VigieError('input.malformed', 'not JSON; start the bench again', { where: file, cause: error });
  }
}

/** Parses a VIN from the command line. @throws InvalidArgumentError, which ends the command */
export function vinOf(text: string): string {
  if (isVin(text)) return text;
  throw new InvalidArgumentError(
    `"${text}" is not a VIN: 17 capital letters and digits without I, O and Q (ISO 3779); this has ${text.length}.`,
  );
}
