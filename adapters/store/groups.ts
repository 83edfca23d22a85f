/**
 * Which records of a segment count. Everything that one commit wrote is one group, and a mark ends it:
 * `[4, numbers]`, the numbers being `from`, `sum` and `synced`, four bytes each, the high one first.
 *
 * The group's records lie without gaps from `from` to the mark, and `sum` is the CRC-32C over their CRCs. When the
 * mark was written, the segment was on the medium up to `synced`. After a power cut any sectors behind that may be
 * missing, so of the groups there only those count that are whole and have only whole ones before them: all is as it
 * was at one moment. What was on the medium and is damaged now is another matter: a disk that forgets a sector takes
 * the records that lie there and no others.
 */
import { crc32cOf } from './crc32c.ts';
import { crcAt, headLength, nextRecord, recordAt } from './record.ts';
import { markRecord } from './record-types.ts';
import { type Header, headerLength, seedOf } from './segment.ts';

/** The payload of a mark up to its numbers: an array of two, the type, the head of a string of 12 bytes. */
const markHead: Uint8Array = Uint8Array.of(0x82, markRecord, 0x4c);
const markPayload = 15;

export interface Groups {
  /** Where the records that count begin, marks left out. */
  readonly records: readonly number[];
  /** Stretches in which at least one record is lost, in order. */
  readonly holes: readonly Hole[];
  /** Damaged stretches: those, and a header that is damaged. */
  readonly damaged: number;
  /** Behind what counts lies something that was not completed. */
  readonly torn: boolean;
  /** Bytes behind the end look like records, to a reader that does not know the end. */
  readonly more: boolean;
  /** Neither a header nor a whole record is in it, only other bytes. */
  readonly foreign: boolean;
  /** Up to where all is known to be on the medium. */
  readonly settled: number;
  /** End of the last group. A new segment must not report more to its reader. */
  readonly end: number;
}

export interface Hole {
  /** Where it ends: at a whole record, or where the file does. */
  readonly end: number;
  readonly bytes: number;
}

interface Mark {
  readonly from: number;
  readonly sum: number;
  readonly synced: number;
}

interface Found {
  /** Whole records, marks included. */
  readonly starts: readonly number[];
  readonly marks: ReadonlyMap<number, Mark>;
}

/**
 * Looks through the bytes of segment file `number`. `header` is what the file starts with, if anything. `limit` is
 * given when there is a later segment: this one was on the medium up to there, infinite when that is unknown.
 * `known` is what else is known of one without a later: up to where it was on the medium at least, and how long the
 * file was at least. Never throws for bad bytes.
 */
export function findGroups(
  bytes: Uint8Array,
  number: number,
  header: Header | undefined,
  limit: number | undefined,
  known: { readonly settled: number; readonly length: number } = { settled: 0, length: 0 },
): Groups {
  const all = findWhole(bytes, header === undefined ? 0 : headerLength, seedOf(number));
  if (header === undefined && all.starts.length === 0) {
    const foreign = !allZero(bytes, 0);
    return { ...noGroups, torn: foreign, more: foreign, foreign, end: 0 };
  }
  const until = limit ?? Number.POSITIVE_INFINITY;
  const starts = all.starts.filter((start) => start < until);
  let settled = limit ?? known.settled;
  for (const start of starts) settled = Math.max(settled, all.marks.get(start)?.synced ?? 0);
  // The header goes to the medium with the first group: without it no group counts that may not have got there.
  if (header === undefined && settled === 0) return { ...noGroups, torn: true, more: true };
  const judged = judge(bytes, { starts, marks: all.marks }, settled);
  const found = header === undefined ? { ...judged, damaged: judged.damaged + 1 } : judged;
  // Behind what counts lies what was not completed or is damaged, or what an earlier life of the file left.
  const rest = header?.usedBefore === false && !allZero(bytes, Math.max(found.end, endOf(bytes, all.starts)));
  const more = rest || found.torn || starts.length < all.starts.length;
  const end = Math.max(headerLength, endOf(bytes, starts));
  if (limit === undefined) {
    const lost = known.settled > end || bytes.length < known.length;
    const length = Math.max(known.settled, known.length);
    return { ...(lost ? withHole(found, end, length) : found), torn: found.torn || rest, more };
  }
  const lost = limit === Number.POSITIVE_INFINITY ? rest : limit > end;
  return {
    ...(lost ? withHole(found, end, limit < Number.POSITIVE_INFINITY ? limit : bytes.length) : found),
    torn: false,
    more,
  };
}

/** Bytes from `from` up to `end` are lost. */
function withHole(groups: Groups, from: number, end: number): Groups {
  return { ...groups, holes: [...groups.holes, { end, bytes: end - from }], damaged: groups.damaged + 1 };
}

const noGroups: Groups = {
  records: [],
  holes: [],
  damaged: 0,
  torn: false,
  more: false,
  foreign: false,
  settled: 0,
  end: headerLength,
};

/** The groups that count; all was on the medium up to `synced`. */
function judge(bytes: Uint8Array, { starts, marks }: Found, synced: number): Groups {
  const records: number[] = [];
  const holes: Hole[] = [];
  let group: number[] = [];
  let whole = true;
  let sum = 0;
  let from = headerLength;
  let at = headerLength;
  let end = headerLength;
  let broken = false;
  for (const start of starts) {
    if (start !== at) {
      broken = start > synced;
      if (broken) break;
      whole = false;
      holes.push({ end: start, bytes: start - at });
    }
    at = start + headLength + lengthOf(bytes, start);
    const mark = marks.get(start);
    if (mark === undefined) {
      group.push(start);
      sum = crc32cOf(crcAt(bytes, start), sum);
      continue;
    }
    broken = at > synced && !(whole && mark.from === from && mark.sum === sum);
    if (broken) break;
    for (const record of group) records.push(record);
    group = [];
    whole = true;
    sum = 0;
    from = at;
    end = at;
  }
  // The damaged part of a group that was on the medium may be its mark.
  if (!broken && group.length > 0 && at <= synced) {
    for (const record of group) records.push(record);
    return { ...noGroups, records, holes, damaged: holes.length, settled: synced, end: at };
  }
  const torn = broken || group.length > 0;
  return { ...noGroups, records, holes, damaged: holes.length, torn, settled: synced, end };
}

function findWhole(bytes: Uint8Array, begin: number, seed: number): Found {
  const marks = new Map<number, Mark>();
  const starts = wholeRecords(bytes, begin, seed);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (const start of starts) {
    const at = start + headLength;
    if (lengthOf(bytes, start) !== markPayload || !markHead.every((byte, i) => bytes[at + i] === byte)) continue;
    marks.set(start, { from: view.getUint32(at + 3), sum: view.getUint32(at + 7), synced: view.getUint32(at + 11) });
  }
  return { starts, marks };
}

/** Where the last of these records ends. */
function endOf(bytes: Uint8Array, starts: readonly number[]): number {
  const last = starts.at(-1);
  return last === undefined ? 0 : last + headLength + lengthOf(bytes, last);
}

/** Where the whole records from `begin` on start, whatever lies between them. */
export function wholeRecords(bytes: Uint8Array, begin: number, seed: number): number[] {
  const starts: number[] = [];
  let at = begin;
  while (at < bytes.length) {
    let length = recordAt(bytes, at, bytes.length, seed);
    if (length < 0) {
      at = nextRecord(bytes, at, seed);
      if (at < 0) break;
      length = lengthOf(bytes, at);
    }
    starts.push(at);
    at += headLength + length;
  }
  return starts;
}

/** Payload length of a record that is known to be whole. */
function lengthOf(bytes: Uint8Array, at: number): number {
  return bytes[at + 1]! | (bytes[at + 2]! << 8) | (bytes[at + 3]! << 16);
}

function allZero(bytes: Uint8Array, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}
