import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readTrustChanges, type TrustChanges } from '../adapters/keys/index.ts';
import { lockDirectory, openDocument } from '../adapters/store/index.ts';
import type { Document, Log } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';

/** What a disk says that can take nothing now, but once could. */
const REFUSALS = ['ENOSPC', 'EROFS', 'EDQUOT', 'EIO'];

/** Makes a directory of records. @throws VigieError `usage.wrong` when it cannot be */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const { code, message } = told(path, error as NodeJS.ErrnoException);
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is a file, not a directory' : message;
    throw new VigieError('usage.wrong', `cannot be the directory of records: ${reason}; choose another with --data`, {
      where: path,
      cause: error,
    });
  }
}

/** Why: a recursive mkdir says ENOENT whatever the file system said; that of the first missing directory says it. */
function told(path: string, error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  if (error.code !== 'ENOENT') return error;
  let missing = resolve(path);
  while (!existsSync(dirname(missing))) missing = dirname(missing);
  try {
    mkdirSync(missing);
    return error;
  } catch (why) {
    return why as NodeJS.ErrnoException;
  }
}

/**
 * Takes the directory for this process. A disk that refuses to write must not keep the car dark: then the agent runs
 * without the lock, and says so.
 */
export function takeDirectory(path: string, log: Log): () => void {
  try {
    return lockDirectory(path);
  } catch (error) {
    if (!refused(error)) throw error;
    log.error('the directory of records cannot be locked', { error: (error as Error).message });
    return () => undefined;
  }
}

/** What is known of the starts of the agent and of whose records these are. */
export interface Boots {
  readonly boot: number;
  readonly vin?: string;
}

/** Far above every count of starts, and so many that no two of a car fall on the same. */
const UNCOUNTED = [2 ** 30, 2 ** 31] as const;

/**
 * Counts this start. One that the disk does not take has a number by chance, far from the others: what it sends may be
 * numbered as what another start sends, and receivers tell them apart by the start.
 * @throws VigieError `usage.wrong` when the records are another car's
 */
export async function countBoot(boots: Document<Boots>, vin: string, where: string, log: Log): Promise<number> {
  const { boot, vin: owner = vin } = boots.data;
  if (owner !== vin) {
    throw new VigieError('usage.wrong', `these are the records of ${owner}; choose another directory for ${vin}`, {
      where,
    });
  }
  try {
    await boots.write({ boot: boot + 1, vin });
    return boot + 1;
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    log.error('this start could not be written down', { error: error.message });
    return randomInt(...UNCOUNTED);
  }
}

/** What commands have changed of the keys that the car trusts. */
export function openChanges(data: string, log: Log): Promise<Document<TrustChanges>> {
  return openDocument<TrustChanges>(join(data, 'trust.json'), {}, { log, accept: readTrustChanges });
}

/** Whether an error is that of a disk which can take nothing now. */
function refused(error: unknown): boolean {
  const cause = error instanceof VigieError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code !== undefined && REFUSALS.includes(cause.code);
}
