/**
 * Raw frames as columns of numbers (columns/numbers.ts). A series has frames of one bus, identifier, flags and length.
 *
 *     frames                           number of frames
 *     series                           number of series
 *     bus, for each series             sorted by bus, identifier, flags, length
 *     identifier, for each series      with the bits of SocketCAN's can_id
 *     flags, for each series           FD 1, bit-rate switch 2, error state 4, sent by the unit 8
 *     length, for each series          of the payload, 0..64
 *     count, for each series           number of frames minus one
 *     interval, for each series        µs
 *     first time, for each series      µs since `start` of the message, signed
 *     deviations, for each series      µs, signed: time minus previous time minus interval; none for the first frame
 *     displacements, for each frame    signed, see below
 *     payloads, for each series        for each byte position: the byte of the first frame, then of each further frame
 *                                      the difference to the previous one, modulo 256; none for remote frames
 *
 * A reader sorts the frames by time, then by series, and adds its displacement to the position of each frame. Frames
 * with equal times, and frames that arrived late, are then in the order of arrival.
 */
import { NumberReader, NumberWriter, REACH } from '../columns/numbers.ts';

/** Frames as columns, like the agent's batches. */
export interface CapturedFrames {
  readonly count: number;
  /** UTC milliseconds with fraction, exact to the microsecond. */
  readonly at: Float64Array;
  /** Identifier with the bits of SocketCAN's can_id; unsigned. */
  readonly id: Uint32Array;
  /** Index of the bus. */
  readonly bus: Uint8Array;
  readonly flags: Uint8Array;
  /** Payload length in bytes, 0..64. */
  readonly length: Uint8Array;
  /** Offset of the payload in `data`. */
  readonly offset: Uint32Array;
  readonly data: Uint8Array;
}

const REMOTE = 0x4000_0000;
const LONGEST = 64;

interface Series {
  readonly bus: number;
  readonly id: number;
  readonly flags: number;
  readonly length: number;
  /** Indexes of its frames, in the order of arrival. */
  readonly frames: number[];
}

function payloadOf({ id, length }: Pick<Series, 'id' | 'length'>): number {
  return (id & REMOTE) === 0 ? length : 0;
}

/** Encodes frames as columns. @param start UTC ms from which times are counted */
export function columnsOfFrames(frames: CapturedFrames, start: number): Uint8Array {
  const origin = start * 1000;
  const times = Float64Array.from(
    { length: frames.count },
    (_, index) => Math.round(frames.at[index]! * 1000) - origin,
  );
  const series = seriesOf(frames);
  const writer = new NumberWriter();
  writer.unsigned(frames.count);
  writer.unsigned(series.length);
  for (const { bus } of series) writer.unsigned(bus);
  for (const { id } of series) writer.unsigned(id);
  for (const { flags } of series) writer.unsigned(flags);
  for (const { length } of series) writer.unsigned(length);
  for (const one of series) writer.unsigned(one.frames.length - 1);
  const intervals = series.map((one) => intervalOf(one.frames, times));
  for (const interval of intervals) writer.unsigned(interval);
  for (const one of series) writer.signed(times[one.frames[0]!]!);
  for (const [index, one] of series.entries()) {
    for (let i = 1; i < one.frames.length; i++) {
      writer.signed(times[one.frames[i]!]! - times[one.frames[i - 1]!]! - intervals[index]!);
    }
  }
  const listed = series.flatMap((one) => one.frames);
  const order = sortedPlaces(listed.map((frame) => times[frame]!));
  for (const [place, position] of order.entries()) writer.signed(listed[position]! - place);
  for (const one of series) writer.raw(payloadColumns(one, frames));
  return writer.written;
}

function seriesOf({ count, bus, id, flags, length }: CapturedFrames): Series[] {
  const found = new Map<string, Series>();
  for (let index = 0; index < count; index++) {
    const one = { bus: bus[index]!, id: id[index]!, flags: flags[index]!, length: length[index]! };
    const key = `${one.bus} ${one.id} ${one.flags} ${one.length}`;
    const series = found.get(key);
    if (series === undefined) found.set(key, { ...one, frames: [index] });
    else series.frames.push(index);
  }
  return [...found.values()].sort((a, b) => a.bus - b.bus || a.id - b.id || a.flags - b.flags || a.length - b.length);
}

/** Returns the median of the differences in µs, or 0 if there is none or it is negative. */
function intervalOf(frames: readonly number[], times: Float64Array): number {
  const differences = frames.slice(1).map((frame, i) => times[frame]! - times[frames[i]!]!);
  const median = differences.sort((a, b) => a - b)[differences.length >> 1] ?? 0;
  return Math.max(0, median);
}

/** Returns the positions of a list in ascending order of its values; equal values keep their order. */
function sortedPlaces(values: readonly number[]): number[] {
  return values.map((_, position) => position).sort((a, b) => values[a]! - values[b]! || a - b);
}

function payloadColumns(series: Series, { offset, data }: CapturedFrames): Uint8Array {
  const { frames } = series;
  const size = payloadOf(series);
  const bytes = new Uint8Array(size * frames.length);
  let to = 0;
  for (let byte = 0; byte < size; byte++) {
    let previous = 0;
    for (const frame of frames) {
      const value = data[offset[frame]! + byte]!;
      bytes[to++] = value - previous;
      previous = value;
    }
  }
  return bytes;
}

/**
 * Reads the output of {@link columnsOfFrames}.
 * @param limit maximum number of frames; memory is allocated only in proportion to the bytes present
 * @throws VigieError `message.malformed` for anything else
 */
export function framesOfColumns(columns: Uint8Array, start: number, limit: number): CapturedFrames {
  const reader = new NumberReader(columns);
  const count = reader.unsigned();
  const size = reader.unsigned();
  if (count > limit || count > reader.left || size > count) throw reader.fault('promise more than there is');
  const read = <T>(next: () => T): T[] => Array.from({ length: size }, next);
  const upTo = (most: number) => (): number => {
    const value = reader.unsigned();
    if (value > most) throw reader.fault(`have ${value} where at most ${most} is allowed`);
    return value;
  };
  const buses = read(upTo(0xff));
  const ids = read(upTo(0xffff_ffff));
  const flags = read(upTo(0xff));
  const lengths = read(upTo(LONGEST));
  const counts = read(() => upTo(count - 1)() + 1);
  if (counts.reduce((sum, one) => sum + one, 0) !== count) throw reader.fault('have another number of frames');
  const intervals = read(upTo(REACH));
  const firsts = read(() => reader.signed());
  const times: number[] = [];
  for (let index = 0; index < size; index++) {
    let time = firsts[index]!;
    for (let i = 0; i < counts[index]!; i++) {
      if (i > 0) time += intervals[index]! + reader.signed();
      if (Math.abs(time) > REACH) throw reader.fault('have a time beyond 2^51');
      times.push(time);
    }
  }
  const places = new Array<number>(count);
  const taken = new Uint8Array(count);
  for (const [place, position] of sortedPlaces(times).entries()) {
    const frame = place + reader.signed();
    if (!(frame >= 0 && frame < count) || taken[frame] === 1) throw reader.fault(`have two frames at ${frame}`);
    taken[frame] = 1;
    places[position] = frame;
  }
  const frames = {
    count,
    at: new Float64Array(count),
    id: new Uint32Array(count),
    bus: new Uint8Array(count),
    flags: new Uint8Array(count),
    length: new Uint8Array(count),
    offset: new Uint32Array(count),
  };
  const chunks: Uint8Array[] = [];
  let position = 0;
  let bytes = 0;
  for (let index = 0; index < size; index++) {
    const [id, length] = [ids[index]!, lengths[index]!];
    const own = places.slice(position, position + counts[index]!);
    for (const [i, frame] of own.entries()) {
      frames.at[frame] = start + times[position + i]! / 1000;
      frames.id[frame] = id;
      frames.bus[frame] = buses[index]!;
      frames.flags[frame] = flags[index]!;
      frames.length[frame] = length;
      frames.offset[frame] = bytes;
      bytes += payloadBytes(length);
    }
    chunks.push(reader.raw(payloadOf({ id, length }) * own.length));
    position += own.length;
  }
  if (reader.left > 0) throw reader.fault('go on behind their end');
  return { ...frames, data: payloads(chunks, counts, lengths, bytes) };
}

/** Returns the memory in bytes for a payload: a multiple of 8, and 8 for an empty one. */
function payloadBytes(length: number): number {
  return Math.max(8, (length + 7) & ~7);
}

function payloads(
  chunks: readonly Uint8Array[],
  counts: readonly number[],
  lengths: readonly number[],
  bytes: number,
): Uint8Array {
  const data = new Uint8Array(bytes);
  let base = 0;
  for (const [index, chunk] of chunks.entries()) {
    const step = payloadBytes(lengths[index]!);
    const frames = counts[index]!;
    for (let from = 0, byte = 0; from < chunk.length; from += frames, byte++) {
      let value = 0;
      for (let i = 0; i < frames; i++) {
        value = (value + chunk[from + i]!) & 0xff;
        data[base + i * step + byte] = value;
      }
    }
    base += frames * step;
  }
  return data;
}
