/** Backup and restore of a hub on SQLite. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { syncPath } from '../../adapters/service/generation-files.ts';
import { lockDirectory, nodeFileSystem } from '../../adapters/store/index.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { HubLog } from '../core/ports.ts';
import { type Owner, type RegisteredCar, type Registry, withdrawTokens } from '../core/registry.ts';
import { SqliteDatabase, SqlReader, SqlRegistry } from '../database/index.ts';
import { databaseFile, makeHubDirectory } from './folder.ts';

/** Differences between a restored copy and the newer database that it replaced. */
export interface Restored {
  /** Number of tokens in the copy. All of them are withdrawn. */
  readonly tokens: number;
  /** Cars that were forgotten, removed, or taken from an owner after the copy was made. The copy repeats this. */
  readonly forgotten: readonly string[];
  readonly removed: readonly string[];
  readonly left: readonly string[];
  /** Cars that were registered after the copy was made. The hub no longer knows them. */
  readonly unknown: readonly string[];
  /** Reason why the differences are unknown: the replaced database is missing or cannot be opened. */
  readonly uncompared?: string;
  /** Path of the replaced database. */
  readonly replaced?: string;
}

/**
 * Writes the database to a new file, whether or not the hub is running. Rejects with `usage.wrong` if the file exists,
 * and with `store.failed` if it cannot be written.
 */
export async function backUp(data: string, file: string): Promise<void> {
  if (existsSync(file)) throw new VigieError('usage.wrong', 'is there already: choose another name', { where: file });
  const part = `${file}.part`;
  rmSync(part, { force: true });
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (cause) {
    throw new VigieError('store.failed', (cause as Error).message, { where: part, cause });
  }
  const database = await SqliteDatabase.open(databaseFile(data));
  try {
    await database.copyTo(part);
  } finally {
    database.close();
  }
  syncPath(part, 'r+');
  renameSync(part, file);
}

/**
 * Replaces the database with a copy and keeps the old database under another name. Access that ended after the copy was
 * made stays ended: all tokens are withdrawn, and cars that were forgotten or removed remain so. Rejects with
 * `usage.wrong` while a process uses the directory, and with `input.unreadable` if the file is not a backup.
 */
export async function restore(data: string, file: string, now: number, log: HubLog): Promise<Restored> {
  makeHubDirectory(data, log);
  const unlock = lockDirectory(data);
  const present = databaseFile(data);
  const copy = `${present}.restoring`;
  try {
    removeDatabase(copy);
    copyBackup(file, copy);
    const restored = await settle(copy, present, now);
    const replaced = keepReplaced(present);
    renameSync(copy, present);
    await nodeFileSystem.syncDirectory(data);
    return { ...restored, ...(replaced && { replaced }) };
  } finally {
    removeDatabase(copy);
    unlock();
  }
}

function copyBackup(file: string, copy: string): void {
  try {
    if (statSync(file).size === 0) throw new Error('the file is empty');
    copyFileSync(file, copy);
    chmodSync(copy, 0o600);
  } catch (cause) {
    throw new VigieError('input.unreadable', `is no backup of a hub: ${(cause as Error).message}`, {
      where: file,
      cause,
    });
  }
}

/** Repeats in the copy the later removals of the present database. Resolves when the copy is on disk. */
async function settle(copy: string, present: string, now: number): Promise<Omit<Restored, 'replaced'>> {
  const database = await SqliteDatabase.open(copy);
  try {
    database.check();
    const registry = new SqlRegistry(database);
    const tokens = await withdrawTokens(registry, now);
    const vins = (await new SqlReader(database.select).vehicles()).map(({ vin }) => vin);
    const newer = await openPresent(present);
    if (typeof newer === 'string') {
      return { tokens, forgotten: [], removed: [], left: [], unknown: [], uncompared: newer };
    }
    try {
      return { tokens, ...(await endAgain(registry, vins, new SqlRegistry(newer), now)) };
    } finally {
      newer.close();
    }
  } finally {
    database.close();
  }
}

/** Opens the present database, or returns the reason why it cannot be opened. */
async function openPresent(present: string): Promise<SqliteDatabase | string> {
  if (!existsSync(present)) return 'there was no database';
  try {
    return await SqliteDatabase.open(present);
  } catch (error) {
    if (error instanceof VigieError) return error.message;
    throw error;
  }
}

type Ended = Pick<Restored, 'forgotten' | 'removed' | 'left' | 'unknown'>;

async function endAgain(registry: Registry, heard: readonly string[], newer: Registry, now: number): Promise<Ended> {
  const [forgotten, removed, left]: [string[], string[], string[]] = [[], [], []];
  const cars = new Map((await registry.cars()).map((car) => [car.vin, car]));
  const newerCars = new Map((await newer.cars()).map((car) => [car.vin, car]));
  for (const vin of new Set([...cars.keys(), ...heard])) {
    const [car, newerCar] = [cars.get(vin), newerCars.get(vin)];
    if (await newer.isForgotten(vin)) {
      await registry.forget(vin, now);
      forgotten.push(vin);
      continue;
    }
    if (car === undefined || newerCar === undefined) continue;
    const ended = ownersOf(car).filter((owner) => !ownersOf(newerCar).some((one) => isSame(one, owner)));
    if (ended.length > 0) {
      await registry.leave(vin, ended, now);
      left.push(vin);
    }
    if (car.removed !== undefined || newerCar.removed === undefined) continue;
    await registry.remove(vin, newerCar.removed);
    removed.push(vin);
  }
  return { forgotten, removed, left, unknown: [...newerCars.keys()].filter((vin) => !cars.has(vin)) };
}

function ownersOf({ fleets, users }: RegisteredCar): Owner[] {
  return [
    ...fleets.map((id) => ({ kind: 'fleet', id }) as const),
    ...users.map((id) => ({ kind: 'user', id }) as const),
  ];
}

function isSame(one: Owner, other: Owner): boolean {
  return one.kind === other.kind && one.id === other.id;
}

/** Gives the database a second name with a hard link, so that the first name always refers to a database. */
function keepReplaced(present: string): string | undefined {
  if (!existsSync(present)) return undefined;
  const replaced = `${present}.replaced`;
  removeDatabase(replaced);
  // The write-ahead log of a database that cannot be opened belongs to that database, not to the copy.
  for (const ending of ['-wal', '-shm']) {
    if (existsSync(`${present}${ending}`)) renameSync(`${present}${ending}`, `${replaced}${ending}`);
  }
  try {
    linkSync(present, replaced);
  } catch {
    // The file systems of many USB sticks have no links: copy the database.
    copyFileSync(present, replaced);
  }
  return replaced;
}

function removeDatabase(path: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${ending}`, { force: true });
}
