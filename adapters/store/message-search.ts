/** Finds messages in segment files by number. There is no index: it would use memory and is rarely needed. */
import type { OutboxEntry } from '../../agent/ports.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { RecordCursor } from './cursor.ts';
import type { FileSystem } from './files.ts';
import { readEntry } from './message-record.ts';
import { headLength, lengthAt, nextRecord, recordAt } from './record.ts';
import { messageRecord } from './record-types.ts';
import { headerLength, seedOf } from './segment.ts';

/** A segment to search for messages. */
export interface MessageFile {
  readonly number: number;
  readonly path: string;
  /** End of the valid records in bytes; infinite if that is the end of the file. */
  readonly used: number;
}

/** Number of bytes searched per step, as in compaction. */
const stepBytes = 128 << 10;

/**
 * In each step, yields the wanted messages of one piece of a file, oldest file first. A message that was moved occurs
 * more than once. Calls `files` at each step, because segments change meanwhile. Skips damaged records. Throws
 * `store.failed` if the disk fails to return a file.
 */
export function* findMessages(
  system: FileSystem,
  files: () => readonly MessageFile[],
  wants: (priorityClass: number, seq: number) => boolean,
): Generator<readonly OutboxEntry[], void, undefined> {
  let number = 0;
  let at = headerLength;
  for (;;) {
    const file = files().find((one) => one.number >= number);
    if (file === undefined) return;
    if (file.number !== number) at = headerLength;
    number = file.number;
    const { entries, next } = piece(system, file, at, wants);
    if (next > at) {
      at = next;
    } else {
      number++;
      at = headerLength;
    }
    yield entries;
  }
}

/** Returns the wanted messages from `from` on, and the start of the next piece; `from` at the end of the file. */
function piece(
  system: FileSystem,
  { number, path, used }: MessageFile,
  from: number,
  wants: (priorityClass: number, seq: number) => boolean,
): { readonly entries: OutboxEntry[]; readonly next: number } {
  const seed = seedOf(number);
  let bytes = read(system, path, from, Math.min(stepBytes, used - from));
  const first = headLength + lengthAt(bytes, 0, Number.POSITIVE_INFINITY);
  if (first > bytes.length && from + first <= used) bytes = read(system, path, from, first);
  const entries: OutboxEntry[] = [];
  const cursor = new RecordCursor();
  let at = 0;
  for (;;) {
    const length = recordAt(bytes, at, bytes.length, seed);
    if (length < 0) {
      // If a record continues beyond this piece, read it with the next piece.
      if (at > 0 && lengthAt(bytes, at, Number.POSITIVE_INFINITY) > bytes.length - at - headLength) break;
      at = nextRecord(bytes, at, seed);
      if (at < 0) return { entries, next: from + bytes.length };
      continue;
    }
    const end = at + headLength + length;
    if (isWanted(cursor.reset(bytes, at + headLength, end), wants)) {
      const entry = readEntry(cursor.reset(bytes, at + headLength, end));
      if (entry !== undefined) entries.push(entry);
    }
    at = end;
    if (at >= bytes.length) break;
  }
  return { entries, next: from + at };
}

function isWanted(cursor: RecordCursor, wants: (priorityClass: number, seq: number) => boolean): boolean {
  if (cursor.array() === undefined || cursor.count() !== messageRecord) return false;
  const priorityClass = cursor.count();
  const seq = cursor.count();
  return priorityClass !== undefined && seq !== undefined && wants(priorityClass, seq);
}

function read(system: FileSystem, path: string, from: number, length: number): Uint8Array {
  try {
    const file = system.open(path, 'read');
    try {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, file.size() - from)));
      return bytes.subarray(0, file.read(bytes, from));
    } finally {
      file.close();
    }
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new VigieError('store.failed', `kept messages cannot be read (${reason})`, { where: path, cause });
  }
}
