/** Telemetry: readings of slots over time, as compressed columns (protocol/columns). */

import { BlockWriter, type ColumnSeries, type Gathering, readBlock } from '../columns/block.ts';
import { type Deflate, NO_DICTIONARY, portableDeflate } from '../columns/deflate.ts';
import { inflate } from '../columns/inflate.ts';
import { type Coding, integersOf } from '../columns/integers.ts';
import { NumberReader, NumberWriter, REACH } from '../columns/numbers.ts';
import { type SeriesNumbers, slotNumbers } from '../columns/slot-numbers.ts';
import { defined } from '../defined.ts';
import { VigieError } from '../errors.ts';
import { type Slot, type SlotValue, slotById, slots } from '../slots.ts';
import { HASH_LENGTH } from './catalog.ts';
import { count } from './count.ts';
import { bytes, instant, optional, record, required, type Static } from './fields.ts';

/** Bounds of one message: readings, and bytes of columns before compression. Columns within these always fit. */
export const telemetryBounds = { readings: 10_000, size: 1 << 18 } as const;

const signalColumnsSchema = record('SignalColumns', 'Readings of custom signals over time.', {
  catalog: required(1, bytes('Hash of the catalog that says what the numbers stand for.', { maxLength: HASH_LENGTH })),
  size: required(2, count('Bytes of the columns before compression.', { maximum: telemetryBounds.size })),
  columns: required(
    3,
    bytes('Columns of times and values, compressed.', {
      coding: 'docs/wire-format.md, "Custom signals"',
      maxLength: telemetryBounds.size,
    }),
  ),
});

export const telemetrySchema = record('Telemetry', 'Readings over time.', {
  start: required(1, instant('The moment that the times of the readings are counted from.')),
  size: required(2, count('Bytes of the columns before compression.', { maximum: telemetryBounds.size })),
  columns: required(
    3,
    bytes('Columns of times and values, compressed.', {
      coding: 'docs/wire-format.md, "Telemetry"',
      maxLength: telemetryBounds.size,
    }),
  ),
  signals: optional(4, signalColumnsSchema),
});
export type Telemetry = Static<typeof telemetrySchema>;

/** One value of one slot at one time. */
export interface Reading {
  readonly slot: Slot;
  readonly value: SlotValue;
  /** UTC milliseconds. */
  readonly at: number;
}

/** Steps in ms to which times are rounded. */
export const timeResolutions = [1, 10, 100] as const;
export type TimeResolution = (typeof timeResolutions)[number];

export interface TelemetryOptions {
  /** Step in ms to which times are rounded, for all slots or for each. Coarser steps need fewer bytes. Default 1. */
  readonly resolution?: TimeResolution | ((slot: Slot) => TimeResolution);
  /** Compressor; default {@link portableDeflate}. */
  readonly deflate?: Deflate;
}

/** Reused: a buffer for each message costs as much as writing its numbers. */
const writer = new NumberWriter();

/** Destination of the readings of one slot. */
interface Track {
  readonly coding: Coding | undefined;
  /** Length of a tick in ms. */
  readonly step: TimeResolution;
  readonly block: BlockWriter;
  readonly series: Gathering;
}

/** Slots whose readings can be sent as telemetry. */
export const telemetrySlots: ReadonlySet<Slot> = new Set(slots.filter((slot) => integersOf(slot) !== undefined));

/**
 * Returns the columns of readings in any order of slots; keeps the order within a slot, and equal times.
 * @throws VigieError `message.malformed` for a slot that is not telemetry, for a value that its slot cannot have and
 * for a time more than 2^51 ms from 1970; `message.unbounded` for more readings than {@link telemetryBounds}
 */
export function telemetryFromReadings(readings: Iterable<Reading>, options: TelemetryOptions = {}): Telemetry {
  const { resolution = 1, deflate = portableDeflate } = options;
  const blocks = new Map<TimeResolution, BlockWriter>();
  const tracks = new Array<Track | undefined>(slots.length);
  const trackOf = (slot: Slot): Track => {
    const step = typeof resolution === 'number' ? resolution : resolution(slot);
    const block = blocks.get(step) ?? new BlockWriter(step);
    blocks.set(step, block);
    return { coding: integersOf(slot), step, block, series: block.series(slot.id) };
  };
  let total = 0;
  let start = Number.POSITIVE_INFINITY;
  for (const { slot, value, at } of readings) {
    let track = tracks[slot.index];
    if (track === undefined) tracks[slot.index] = track = trackOf(slot);
    const integer = track.coding?.count(value);
    if (integer === undefined || !(Math.abs(at) <= REACH / 2)) {
      throw new VigieError('message.malformed', `${slot.path} cannot be telemetry with the value ${value} at ${at}`);
    }
    track.block.add(track.series, Math.round(at / track.step), integer);
    if (at < start) start = at;
    total++;
  }
  if (total > telemetryBounds.readings) throw unbounded(`${total} readings`, telemetryBounds.readings);
  // A multiple of every resolution, so that the steps are the same in all messages.
  const coarsest = Math.max(1, ...blocks.keys());
  start = total === 0 ? 0 : Math.floor(start / coarsest) * coarsest;
  writer.clear();
  for (const [step, block] of [...blocks].sort(([a], [b]) => a - b)) block.write(start / step, writer);
  return { start, size: writer.written.length, columns: deflate(writer.written) };
}

function unbounded(what: string, maximum: number): VigieError {
  return new VigieError('message.unbounded', `telemetry of ${what}; at most ${maximum} allowed, send it in parts`);
}

/** Columns, and the origin of their times. */
interface Columns {
  readonly start: number;
  readonly size: number;
  readonly columns: Uint8Array;
}

/** Returns the series with their times in UTC milliseconds, by ascending slot id. */
export function seriesOfColumns({ start, size, columns }: Columns, numbers: SeriesNumbers): ColumnSeries[] {
  if (size > telemetryBounds.size) throw unbounded(`${size} bytes`, telemetryBounds.size);
  const reader = new NumberReader(inflate(columns, size, NO_DICTIONARY));
  const found: ColumnSeries[] = [];
  let left: number = telemetryBounds.readings;
  while (reader.left > 0) {
    const { resolution, series } = readBlock(reader, left, numbers);
    for (const { slot, times, values } of series) {
      left -= values.length;
      found.push({ slot, times: times.map((tick) => start + tick * resolution), values });
    }
  }
  return found.sort((a, b) => a.slot - b.slot);
}

/**
 * Returns the readings of all series in sequence, with each value rounded to the slot's resolution and each time to
 * that of its series. Omits content that this version does not know: slots, and names at the end of an
 * enumeration.
 * @throws VigieError `message.malformed` if the columns do not conform to docs/wire-format.md, and
 * `message.unbounded` beyond {@link telemetryBounds}
 */
export function readingsFromTelemetry(telemetry: Telemetry): Reading[] {
  const readings: Reading[] = [];
  for (const { slot: id, times, values } of seriesOfColumns(telemetry, slotNumbers)) {
    const slot = slotById.get(id);
    const coding = slot === undefined ? undefined : integersOf(slot);
    if (slot === undefined || coding === undefined) continue;
    for (const [index, at] of times.entries()) {
      const value = coding.value(values[index]!);
      if (value !== undefined) readings.push({ slot, value, at });
    }
  }
  return readings;
}

/** Telemetry for people and programs: paths, UTC milliseconds and physical values. */
export interface TelemetryJson {
  readonly series: readonly {
    /** Path of the slot; `#` and its decimal id if this version does not know it: the values are then integers. */
    readonly path: string;
    /** If omitted, the value has no unit, is a time, or is unknown to this version. */
    readonly unit?: string;
    readonly at: readonly number[];
    /** An integer replaces a name that this version does not know. */
    readonly values: readonly SlotValue[];
  }[];
}

/** Converts telemetry to JSON. @throws VigieError as {@link readingsFromTelemetry} */
export function telemetryJson(telemetry: Telemetry): TelemetryJson {
  return {
    series: seriesOfColumns(telemetry, slotNumbers).map(({ slot: id, times, values }) => {
      const slot = slotById.get(id);
      const coding = slot === undefined ? undefined : integersOf(slot);
      const unit = slot?.kind === 'instant' || slot?.unit === '1' ? undefined : slot?.unit;
      return {
        path: slot?.path ?? `#${id}`,
        ...defined({ unit }),
        at: times,
        values: values.map((integer) => coding?.value(integer) ?? integer),
      };
    }),
  };
}
