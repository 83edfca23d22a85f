/** Builds {@link FrameBatch} columns, and defines the position and padding of payloads. */
import type { FrameBatch } from '../../agent/ports.ts';

/** Returns the bytes that a payload of `length` uses in `data`: the next multiple of 8, and 8 for an empty payload. */
export function span(length: number): number {
  return length === 0 ? 8 : (length + 7) & ~7;
}

/**
 * Creates an empty batch for at most `capacity` frames.
 * @param bytes room for payloads; `capacity * 64` suffices for any mixture of frames.
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

/** Returns the offset in `data` for the next payload. */
export function nextOffset(batch: FrameBatch): number {
  const last = batch.count - 1;
  return last < 0 ? 0 : (batch.offset[last] as number) + span(batch.length[last] as number);
}

/**
 * Adds a frame. The first `length` of `bytes` are its payload; missing bytes count as 0 (a remote frame has a length
 * but no bytes).
 * @param at UTC milliseconds
 * @param id identifier with EXTENDED, REMOTE and ERROR bits
 * @param length 0..64
 * @returns false if the batch has no room; nothing was then added.
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

/**
 * Returns the frames `from` to `to` (excluded) of a batch without copying them. If given, `at` replaces their times.
 */
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
