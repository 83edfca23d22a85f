import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CONFIRM, newestChanges, readTrustChanges, TRUST_STATE, type TrustChanges } from '../adapters/keys/index.ts';
import { FIRST_START, type FileSystem, lockDirectory, nodeFileSystem, openDocument } from '../adapters/store/index.ts';
import type { Document, Log, Memory } from '../agent/ports.ts';
import { emptyLedger, type LedgerDocument, lacksCommits } from '../agent/remotes/ledger.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { BOOTS, UNCOUNTED_BOOT, UNRECORDED_BOOT } from '../protocol/schema/message.ts';
import { absentEntries, hasRecords, namesIn } from './data-folder.ts';
import { isUnreadable } from './read-again.ts';

/** Errors of a disk that accepts no data now but may do so later. */
const REFUSALS = ['ENOSPC', 'EROFS', 'EDQUOT', 'EIO'];

/** Purpose of a directory, and how the user can choose another one. */
interface Purpose {
  readonly of: string;
  readonly choose: string;
  readonly mode?: number;
}

const RECORDS: Purpose = { of: 'records', choose: '--data, `data` of vigie.yaml, or directory()' };

/** Creates a directory, by default one for records. @throws VigieError `usage.wrong` if it cannot be created */
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
 * Creates a directory and its parents. Node's recursive mkdir never ends if a file system returns ENOENT although the
 * parent directory exists, as /proc does.
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
 * Locks the directory for this process. If the disk fails to write, the car must still be recorded, so the agent runs
 * without the lock and logs that.
 * @throws VigieError `usage.wrong` if another process has the lock, `store.unreadable` if the disk fails to return it
 */
export function takeDirectory(path: string, log: Log): () => void {
  try {
    return lockDirectory(path);
  } catch (error) {
    if (!refused(error)) throw error;
    log.error('records.unlocked', { error: (error as Error).message });
    return () => undefined;
  }
}

/** Counts the starts of the agent, and names the owner of the records. */
export interface Boots {
  /** Number of the newest start. */
  readonly boot: number;
  /** Random number of the first start, which identifies the folder. Omitted before the first start, and if it was 1. */
  readonly life?: number;
  readonly vin?: string;
}

/** A range so wide that two starts of a car are unlikely to get the same number. */
const UNCOUNTED = [UNCOUNTED_BOOT, UNCOUNTED_BOOT + 2 ** 30] as const;

/** Returns a random number for a start that could not be counted. */
function uncountedBoot(anyNumber: (least: number, below: number) => number = randomInt): number {
  return anyNumber(...UNCOUNTED);
}

/** Returns a random number for a start whose records the disk fails to return: its messages are numbered from 0. */
export function unrecordedBoot(anyNumber: (least: number, below: number) => number = randomInt): number {
  return anyNumber(UNRECORDED_BOOT, UNRECORDED_BOOT + 2 ** 29);
}

/** Returns a random 32-bit number for the first start in a folder, or for an agent that stores no records. */
export function firstBoot(anyNumber: (least: number, below: number) => number = randomInt): number {
  return anyNumber(0, BOOTS);
}

/** @throws VigieError `usage.wrong` if the records belong to another car */
export function checkOwner({ vin: owner }: Boots, vin: string, where: string): void {
  if (owner === undefined || owner === vin) return;
  const text = `these are the records of ${owner}; choose another directory for ${vin}`;
  throw new VigieError('usage.wrong', text, { where });
}

/** Key of the newest counted start in the journal. */
const START = 'start';

/**
 * Counts this start and returns its number. The first start in a folder gets a random number, even if the disk fails to
 * store it, so that receivers recognise a new folder. If the disk fails to store a later count, that start gets a
 * random number far from the others: it may repeat message numbers, and receivers tell them apart by the start.
 * The journal has the count too. Without it, a start after an unwritten `boot.json` would begin another life, although
 * the message numbers of the folder continue.
 */
export async function countBoot(
  boots: Document<Boots>,
  memory: Pick<Memory, 'recall' | 'keep'>,
  { vin, log, anyNumber }: { vin: string; log: Log; anyNumber?: (least: number, below: number) => number },
): Promise<number> {
  const known = newerOf(boots.data, memory.recall(START) as Boots | undefined);
  const isFirst = isUnstarted(known);
  const life = isFirst ? firstBoot(anyNumber) : known.life;
  const boot = isFirst ? (life as number) : (known.boot + 1) % BOOTS;
  const next: Boots = { boot, ...defined({ life }) };
  const keep = (start: Boots): void => memory.keep(() => [[START, start]]);
  try {
    await boots.write({ ...next, vin });
    keep(next);
    return boot;
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    log.error('start.unrecorded', { error: error.message });
    keep(isFirst ? next : known);
    return isFirst ? boot : uncountedBoot(anyNumber);
  }
}

function isUnstarted({ boot, life }: Boots): boolean {
  return boot === 0 && life === undefined;
}

/** Returns the newer count of a folder. A document that was damaged may be the one before. */
function newerOf(document: Boots, noted: Boots | undefined): Boots {
  if (noted === undefined) return document;
  return isUnstarted(document) || (noted.life === document.life && noted.boot > document.boot) ? noted : document;
}

/** Name of the file that contains changes of the trusted keys by commands. */
export const TRUST = 'trust.json';

/** Name of the file that contains the outcomes of commands. */
const LEDGER = 'remotes.json';

/**
 * Begins the first start in a folder. Once it has finished, later starts report missing files as lost. Call before the
 * agent writes any other file there. Until {@link finishFirstStart} the folder contains a marker: if the start is
 * interrupted, the next one is a first start again and keeps all existing files. If the disk fails to write, the next
 * write will report that.
 * @returns true if this is a first start
 * @throws VigieError `store.unreadable` if the disk fails to return the contents of the folder
 */
export async function beginRecords(data: string, log: Log, files: FileSystem = nodeFileSystem): Promise<boolean> {
  const names = namesIn(data, files);
  const marked = names.includes(FIRST_START);
  if (!marked && hasRecords(names)) return false;
  const steps = [
    async () => marked || mark(data, files),
    () => writeMissing<TrustChanges>(join(data, TRUST), { generation: 0 }, log, files),
    () => writeMissing(join(data, LEDGER), emptyLedger, log, files),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      if (isUnreadable(error) || !(error instanceof Error)) throw error;
      log.error('records.unprepared', { error: error.message });
    }
  }
  return true;
}

/** Writes the marker. Resolves when it is on the medium; rejects with the system's error. */
async function mark(data: string, files: FileSystem): Promise<void> {
  const file = files.open(join(data, FIRST_START), 'replace');
  try {
    await file.sync();
  } finally {
    file.close();
  }
  await files.syncDirectory(data);
}

async function writeMissing<T>(path: string, contents: T, log: Log, files: FileSystem): Promise<void> {
  const document = await openDocument<T>(path, contents, { log, files });
  if (document.found === 'none') await document.write(contents);
}

/**
 * Ends a first start once everything that a later start requires is on the medium. `commit` writes the first group of
 * the journal. If the disk has failed to write any of this, the next start is a first start again.
 */
export async function finishFirstStart(
  data: string,
  { commit }: { commit(): Promise<void> },
  log: Log,
  files: FileSystem = nodeFileSystem,
): Promise<void> {
  try {
    await commit();
    if (absentEntries(data, 'agent', files).length > 0) return;
    files.remove(join(data, FIRST_START));
    await files.syncDirectory(data);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    log.error('records.unprepared', { error: error.message });
  }
}

/** Opens the outcomes of commands. `first`: there was never a copy. `files`: default, the machine's file system. */
export async function openLedger(data: string, first: boolean, log: Log, files?: FileSystem): Promise<LedgerDocument> {
  const document = await openDocument(join(data, LEDGER), emptyLedger, { log, ...(files && { files }) });
  const { found, corrupt } = document;
  return {
    corrupt,
    found: first && found === 'none' ? 'newest' : found,
    get data() {
      return document.data;
    },
    write: (next) => document.write(next),
  };
}

interface TrustParts {
  readonly data: string;
  readonly memory: Memory;
  /** The configured file of trusted keys. */
  readonly file: string;
  /** True if there was never a copy. */
  readonly first: boolean;
  /** Shows whether the journal is older than it was before. */
  readonly ledger: LedgerDocument;
  readonly log: Log;
  /** Default: the file system of the machine. */
  readonly files?: FileSystem;
}

/** Opens the changes of trusted keys by commands: reads both copies, and writes the newer one to the file. */
export async function openChanges({
  data,
  memory,
  file,
  first,
  ledger,
  log,
  files,
}: TrustParts): Promise<Document<TrustChanges>> {
  const options = { log, accept: readTrustChanges, ...(files && { files }) };
  const document = await openDocument<TrustChanges>(join(data, TRUST), {}, options);
  const { found, corrupt } = document;
  const changes = newestChanges({
    file: document.data,
    found,
    corrupt,
    journal: readTrustChanges(memory.recall(TRUST_STATE)),
    journalDamaged: memory.damaged === true || lacksCommits(ledger.data, memory),
    first,
  });
  const { unconfirmed } = changes;
  if (unconfirmed !== undefined) log.error('trust.unconfirmed', { why: unconfirmed.why, fix: CONFIRM });
  if (found === 'newest' && changes === document.data) return document;
  if (unconfirmed === undefined && !first) log.warn('trust.recovered', { file });
  try {
    await document.write(unconfirmed === undefined ? changes : { ...changes, unconfirmed: { ...unconfirmed, file } });
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    log.error('trust.unwritten', { error: error.message });
  }
  return document;
}

/** Returns true for an error that means that the disk currently accepts no data. */
function refused(error: unknown): boolean {
  if (isUnreadable(error)) return false;
  const cause = error instanceof VigieError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code !== undefined && REFUSALS.includes(cause.code);
}
