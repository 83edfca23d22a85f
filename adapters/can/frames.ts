/** Builds {@link FrameBatch} columns: where payloads lie and how they are padded is decided here. */
import type { FrameBatch } from '../../agent/ports.ts';

/** Bytes that a payload of `length` takes in `data`: the next multiple of 8, and 8 for an empty one. */
export function span(length: number): number {
  return length === 0 ? 8 : (length + 7) & ~7;
}

/**
 * An empty batch for at most `capacity` frames.
 * @param bytes room for payloads; `capacity * 64` holds any mixture of frames.
 */
export function createBatch(capacity: number, bytes: number): FrameBatch {
  return {
    count: 0,
    at: new Float64Array(capacity),
    id: new Uint32Array(capacity),
    bus: new Uint8Array(capacity),
    flags: new Uint8Array(capacity),
    length: new Uint8Array(capacity),
    offset: new Uint32Array(capacity),
    data: new Uint8Array(bytes),
  };
}

/** Where in `data` the next payload goes. */
export function nextOffset(batch: FrameBatch): number {
  const last = batch.count - 1;
  return last < 0 ? 0 : (batch.offset[last] as number) + span(batch.length[last] as number);
}

/**
 * Adds a frame: the first `length` of `bytes` are its payload; bytes that are not there count as 0 (a remote frame
 * has a length and no bytes).
 * @param at UTC milliseconds
 * @param id identifier with EXTENDED, REMOTE and ERROR bits
 * @param length 0..64
 * @returns false when the batch has no room; nothing was added then.
 */
export function append(
  batch: FrameBatch,
  at: number,
  id: number,
  bus: number,
  flags: number,
  bytes: Uint8Array,
  length: number,
): boolean {
  const { count, data } = batch;
  const offset = nextOffset(batch);
  const end = offset + span(length);
  if (count >= batch.at.length || end > data.length) return false;
  const given = Math.min(length, bytes.length);
  for (let i = 0; i < given; i++) data[offset + i] = bytes[i] as number;
  for (let i = offset + given; i < end; i++) data[i] = 0;
  batch.at[count] = at;
  batch.id[count] = id;
  batch.bus[count] = bus;
  batch.flags[count] = flags;
  batch.length[count] = length;
  batch.offset[count] = offset;
  batch.count = count + 1;
  return true;
}

/** Frames `from` up to, but without, `to` of a batch, seen through the same memory; `at` may take their times' place. */
export function slice(batch: FrameBatch, from: number, to: number, at = batch.at.subarray(from, to)): FrameBatch {
  return {
    count: to - from,
    at,
    id: batch.id.subarray(from, to),
    bus: batch.bus.subarray(from, to),
    flags: batch.flags.subarray(from, to),
    length: batch.length.subarray(from, to),
    offset: batch.offset.subarray(from, to),
    data: batch.data,
  };
}
