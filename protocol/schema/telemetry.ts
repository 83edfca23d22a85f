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

/** Bounds of one message: readings, and bytes of columns before compression. Such columns always fit. */
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

/** Steps that times are rounded to, ms. */
export const timeResolutions = [1, 10, 100] as const;
export type TimeResolution = (typeof timeResolutions)[number];

export interface TelemetryOptions {
  /** Step that the times are rounded to, ms, of all slots or of each. The coarser, the smaller. Default 1. */
  readonly resolution?: TimeResolution | ((slot: Slot) => TimeResolution);
  /** Compresses; default {@link portableDeflate}. */
  readonly deflate?: Deflate;
}

/** Where the readings of one slot go. */
interface Track {
  readonly coding: Coding | undefined;
  /** Milliseconds of a tick. */
  readonly step: TimeResolution;
  readonly block: BlockWriter;
  readonly series: Gathering;
}

/** Slots with readings that can be sent as telemetry. */
export const telemetrySlots: ReadonlySet<Slot> = new Set(slots.filter((slot) => integersOf(slot) !== undefined));

/**
 * The columns of readings given in any order of slots; the order within a slot is kept, as are equal times.
 * @throws VigieError `message.malformed` for a slot that is not a telemetry, for a value that its slot cannot have and
 * for a time more than 2^51 ms from 1970; `message.unbounded` for more readings than {@link telemetryBounds}
 */
export function telemetryFromReadings(readings: Iterable<Reading>, options: TelemetryOptions = {}): Telemetry {
  const { resolution = 1, deflate = portableDeflate } = options;
  const blocks = new Map<TimeResolution, BlockWriter>();
  const tracks: (Track | undefined)[] = [];
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
  // A multiple of every resolution, so that the steps are the same in every message.
  const coarsest = Math.max(1, ...blocks.keys());
  start = total === 0 ? 0 : Math.floor(start / coarsest) * coarsest;
  const writer = new NumberWriter();
  for (const [step, block] of [...blocks].sort(([a], [b]) => a - b)) block.write(start / step, writer);
  return { start, size: writer.written.length, columns: deflate(writer.written) };
}

function unbounded(what: string, maximum: number): VigieError {
  return new VigieError('message.unbounded', `telemetry of ${what}; at most ${maximum} allowed, send it in parts`);
}

/** Columns, and the base of their times. */
interface Columns {
  readonly start: number;
  readonly size: number;
  readonly columns: Uint8Array;
}

/** Series with their times in UTC milliseconds, by ascending id of their slot. */
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
 * The readings of all series, series by series, each value rounded to the slot's resolution and each time to that of
 * its series. Left out is what a newer sender knows and this version does not: slots, and names at the end of an
 * enumeration.
 * @throws VigieError `message.malformed` when the columns are not what docs/wire-format.md says, and
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
    /** Path of the slot; `#` and its id in decimal when this version does not know it, values are integers then. */
    readonly path: string;
    /** Absent: the value has none, is a time, or this version does not know it. */
    readonly unit?: string;
    readonly at: readonly number[];
    /** An integer in place of a name that this version does not know. */
    readonly values: readonly SlotValue[];
  }[];
}

/** @throws VigieError as {@link readingsFromTelemetry} */
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
