/** Messages on this machine: those in a car's folder of records, and those that `vigie replay --cbor` wrote. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { readMessages } from '../../adapters/store/index.ts';
import type { Boots } from '../../assembly/directory.ts';
import { correctionIn } from '../../hub/core/message.ts';
import { endOfItem } from '../../protocol/cbor/item-cursor.ts';
import { decodeMessage, messageBounds } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import {
  corrected,
  type ExportContent,
  exportKinds,
  type PageEntry,
  seenBody,
  timeOf,
} from '../../protocol/interface/own/message-pages.ts';
import type { TripClass } from '../../protocol/interface/own/trip-classes.ts';
import { Runs } from '../../protocol/runs.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { Catalogs } from '../../protocol/signals/catalog.ts';

/** Messages that an export reads. */
export interface ExportSource {
  /** Where the messages are, for the manifest. */
  readonly name: string;
  entries(content: ExportContent): AsyncIterable<PageEntry>;
  /** Classes of trips by the ids of the trips. Only a hub keeps them. */
  tripClasses?(): Promise<ReadonlyMap<string, TripClass>>;
}

type Payloads = () => Iterable<Uint8Array>;

/** @throws VigieError `usage.wrong` if the folder belongs to another car or is not a folder of records */
export function folderSource(folder: string, vin: string): ExportSource {
  const owner = ownerOf(folder);
  if (owner !== undefined && owner !== vin) {
    throw new VigieError('usage.wrong', `these are the records of ${owner}, not of ${vin}`, { where: folder });
  }
  function* payloads(): Generator<Uint8Array> {
    for (const { payload } of readMessages(join(folder, 'outbox'))) yield payload;
  }
  return { name: folder, entries: (content) => entriesOf(payloads, content, folder) };
}

function ownerOf(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, 'boot.json'), 'utf8')) as Boots).vin;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return undefined;
    const fix = 'name the folder `data` of the car’s configuration';
    throw new VigieError('usage.wrong', `is not a folder of records: it has no boot.json; ${fix}`, { where: folder });
  }
}

/** Source of a CBOR sequence (RFC 8742). */
export function sequenceSource(path: string): ExportSource {
  return { name: path, entries: (content) => entriesOf(() => itemsIn(path), content, path) };
}

/** Yields the items of a file. @throws VigieError `input.unreadable`, `input.malformed` */
function* itemsIn(path: string): Generator<Uint8Array> {
  const file = openForReading(path);
  try {
    let bytes: Uint8Array = new Uint8Array(0);
    const room = Buffer.alloc(messageBounds.maximumBytes);
    for (let position = 0; ; ) {
      const end = bytes.length === 0 ? undefined : endIn(bytes);
      if (end !== undefined) {
        yield bytes.subarray(0, end);
        bytes = bytes.subarray(end);
        position += end;
        continue;
      }
      const read = readSync(file, room);
      if (read === 0 && bytes.length === 0) return;
      if (read === 0 || bytes.length > messageBounds.maximumBytes) {
        const fix = 'it is the file that `vigie replay --cbor` writes, uncompressed and whole';
        throw new VigieError('input.malformed', `has no message at byte ${position}; ${fix}`, { where: path });
      }
      bytes = Buffer.concat([bytes, room.subarray(0, read)]);
    }
  } finally {
    closeSync(file);
  }
}

function openForReading(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw new VigieError('input.unreadable', `cannot be read: ${reasonOf(cause)}`, { where: path, cause });
  }
}

/** Returns the end of the first item; undefined if the bytes end before it. */
function endIn(bytes: Uint8Array): number | undefined {
  try {
    return endOfItem(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Yields all messages once. Reads `payloads` twice, because catalogs and corrections of the clock may come after the
 * messages that need them. Reports the number of unreadable messages, which count as missing.
 */
async function* entriesOf(payloads: Payloads, content: ExportContent, where: string): AsyncGenerator<PageEntry> {
  const catalogs = new Catalogs();
  const behind = new Map<number, number>();
  for (const message of messagesIn(payloads)) {
    if (message?.kind === 'catalog') catalogs.add(message.body);
    const by = message === undefined ? undefined : correctionIn(message);
    if (by !== undefined && message !== undefined && !behind.has(message.boot)) behind.set(message.boot, by);
  }
  const read = new Map<string, Runs>();
  const kinds = new Set<Kind>([...exportKinds[content], 'gap']);
  let unreadable = 0;
  for (const stored of messagesIn(payloads)) {
    if (stored === undefined) {
      unreadable++;
      continue;
    }
    const { boot, seq, kind } = stored;
    const priority = classOf(kind);
    const key = `${priority} ${boot}`;
    const numbers = read.get(key) ?? new Runs();
    read.set(key, numbers);
    if (numbers.has(seq)) continue;
    numbers.add(seq);
    const message = corrected(stored, stored.clock === 'none' ? (behind.get(boot) ?? 0) : 0);
    if (kinds.has(kind)) {
      const body = seenBody(() => true, message, catalogs) ?? {};
      yield { class: priority, boot, seq, kind, at: timeOf(message), body };
    } else {
      yield { class: priority, boot, numbers: [seq, seq], side: 0 };
    }
  }
  if (unreadable > 0) process.stderr.write(`${where}: ${unreadable} damaged messages left out\n`);
}

function* messagesIn(payloads: Payloads): Generator<Message | undefined> {
  for (const payload of payloads()) yield decoded(payload);
}

function decoded(payload: Uint8Array): Message | undefined {
  try {
    return decodeMessage(payload);
  } catch (error) {
    if (error instanceof VigieError) return undefined;
    throw error;
  }
}
