import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readTrustChanges, type TrustChanges } from '../adapters/keys/index.ts';
import { lockDirectory, openDocument } from '../adapters/store/index.ts';
import type { Document, Log } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';

/** What a disk says that can take nothing now, but once could. */
const REFUSALS = ['ENOSPC', 'EROFS', 'EDQUOT', 'EIO'];

/** What a directory is for, and how a person names another one. */
export interface Purpose {
  readonly of: string;
  readonly choose: string;
  readonly mode?: number;
}

const RECORDS: Purpose = { of: 'records', choose: '--data' };

/** Makes a directory, of records by default. @throws VigieError `usage.wrong` when it cannot be made */
export function makeDirectory(path: string, purpose: Purpose = RECORDS): void {
  try {
    makeMissing(resolve(path), purpose.mode ?? 0o777);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is a file, not a directory' : message;
    const fault = `cannot be the directory of ${purpose.of}: ${reason}; choose another with ${purpose.choose}`;
    throw new VigieError('usage.wrong', fault, { where: path, cause: error });
  }
}

/**
 * Makes a directory and those above it. Node's recursive mkdir tries for ever where a file system answers ENOENT
 * although the directory above is there, as /proc does.
 */
function makeMissing(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeMissing(dirname(path), mode);
    mkdirSync(path, { mode });
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
