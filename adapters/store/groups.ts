/**
 * Decides which records of a segment are valid. Each commit writes one group of records, which ends with a mark: `[4,
 * numbers]`, where the numbers are `from`, `sum` and `synced`, four bytes each, big-endian.
 *
 * The group's records follow without gaps from offset `from` to the mark, and `sum` is the CRC-32C over their CRCs.
 * When the mark was written, the segment was on the medium up to `synced`. A power cut can lose any sectors after that
 * offset. There, a group is valid only if it and all groups before it are whole, so that the contents are those of one
 * commit. Damage before that offset is different: a disk that loses a sector loses only the records in that sector.
 */
import { crc32cOf } from './crc32c.ts';
import { crcAt, headLength, nextRecord, recordAt } from './record.ts';
import { markRecord } from './record-types.ts';
import { type Header, headerLength, seedOf } from './segment.ts';

/** Start of a mark's payload, before the numbers: an array of two, the type, the head of a string of 12 bytes. */
const markHead: Uint8Array = Uint8Array.of(0x82, markRecord, 0x4c);
const markPayload = 15;

export interface Groups {
  /** Start offsets of the valid records, without marks. */
  readonly records: readonly number[];
  /** Damaged stretches, each with at least one lost record, in order. */
  readonly holes: readonly Hole[];
  /** Number of damaged stretches: the holes, and the header if damaged. */
  readonly damaged: number;
  /** True if incomplete data follows the valid records. */
  readonly torn: boolean;
  /** True if bytes after `end` look like records to a reader that does not know `end`. */
  readonly more: boolean;
  /** True if the file contains data, but neither a header nor a whole record. */
  readonly foreign: boolean;
  /** Offset up to which all bytes are known to have been on the medium. */
  readonly settled: number;
  /** End of the last valid group. A later segment's header must not state a greater end for this segment. */
  readonly end: number;
}

export interface Hole {
  /** End of the hole: the start of the next whole record, or the end that the segment should have. */
  readonly end: number;
  readonly bytes: number;
}

interface Mark {
  readonly from: number;
  readonly sum: number;
  readonly synced: number;
}

interface Found {
  /** Start offsets of whole records, marks included. */
  readonly starts: readonly number[];
  readonly marks: ReadonlyMap<number, Mark>;
}

/**
 * Searches the bytes of segment file `number` for groups. `header` is the file's header, if valid. `limit` is defined
 * if there is a later segment: this one was on the medium up to `limit`, which is infinite if the end is unknown.
 * `known` describes a segment without a later one: the offset up to which it was at least on the medium, and the
 * minimum length of the file. Never throws for corrupt bytes.
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
  // The header is synced together with the first group. Without a header, a group that may be unsynced is invalid.
  if (header === undefined && settled === 0) return { ...noGroups, torn: true, more: true };
  const judged = judge(bytes, { starts, marks: all.marks }, settled);
  const found = header === undefined ? { ...judged, damaged: judged.damaged + 1 } : judged;
  // After the valid records there may be incomplete or damaged data, or leftovers of a previous use of the file.
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

/** Adds a hole: the bytes from `from` to `end` are lost. */
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

/** Returns the valid groups. All bytes up to `synced` were on the medium. */
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
  // In a group that was on the medium, the damaged part may be the mark itself.
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

/** Returns the end of the last of these records, or 0 if there is none. */
function endOf(bytes: Uint8Array, starts: readonly number[]): number {
  const last = starts.at(-1);
  return last === undefined ? 0 : last + headLength + lengthOf(bytes, last);
}

/** Returns the start offsets of the whole records from `begin` on; skips any other bytes between them. */
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

/** Returns the payload length of a record that is known to be whole. */
function lengthOf(bytes: Uint8Array, at: number): number {
  return bytes[at + 1]! | (bytes[at + 2]! << 8) | (bytes[at + 3]! << 16);
}

function allZero(bytes: Uint8Array, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}
