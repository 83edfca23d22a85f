/** Readings of custom signals as telemetry: columns as for Status, but with catalog numbers in place of slots. */

import { BlockWriter, type ColumnSeries, type Gathering } from '../columns/block.ts';
import { type Deflate, portableDeflate } from '../columns/deflate.ts';
import { NumberWriter, REACH } from '../columns/numbers.ts';
import { plainNumbers } from '../columns/slot-numbers.ts';
import { defined } from '../defined.ts';
import { VigieError } from '../errors.ts';
import { seriesOfColumns, type Telemetry, type TimeResolution, telemetryBounds } from '../schema/telemetry.ts';
import type { Catalogs } from './catalog.ts';
import { hexOf } from './hash.ts';
import type { SignalValue } from './values.ts';

/** One value of one signal at one time. */
export interface SignalReading {
  /** Number of the signal in the catalog. */
  readonly number: number;
  /** The integer that represents the value, within ±2^51. */
  readonly count: number;
  /** UTC milliseconds. */
  readonly at: number;
}

interface SignalTelemetryOptions {
  /** Hash of the catalog that defines the numbers. */
  readonly catalog: Uint8Array;
  /** Returns the step in ms to which the times of a signal are rounded. */
  readonly resolution: (number: number) => TimeResolution;
  /** Compressor; default {@link portableDeflate}. */
  readonly deflate?: Deflate;
}

/**
 * Returns the columns of readings in any order of signals; keeps the order within a signal.
 * @throws VigieError `message.unbounded` for more readings than {@link telemetryBounds}, `message.malformed` for
 * integers beyond ±2^51
 */
export function telemetryFromSignals(readings: readonly SignalReading[], options: SignalTelemetryOptions): Telemetry {
  const { catalog, resolution, deflate = portableDeflate } = options;
  if (readings.length > telemetryBounds.readings) {
    throw new VigieError(
      'message.unbounded',
      `${readings.length} readings; at most ${telemetryBounds.readings} allowed`,
    );
  }
  const blocks = new Map<TimeResolution, BlockWriter>();
  const tracks = new Map<number, { step: TimeResolution; block: BlockWriter; series: Gathering }>();
  let start = Number.POSITIVE_INFINITY;
  for (const { number, count, at } of readings) {
    if (!(Math.abs(count) <= REACH && Math.abs(at) <= REACH / 2)) {
      throw new VigieError(
        'message.malformed',
        `signal ${number} cannot be telemetry with the count ${count} at ${at}`,
      );
    }
    let track = tracks.get(number);
    if (track === undefined) {
      const step = resolution(number);
      const block = blocks.get(step) ?? new BlockWriter(step, plainNumbers);
      blocks.set(step, block);
      track = { step, block, series: block.series(number) };
      tracks.set(number, track);
    }
    track.block.add(track.series, Math.round(at / track.step), count);
    if (at < start) start = at;
  }
  // A multiple of every resolution, so that the steps are the same in all messages.
  const coarsest = Math.max(1, ...blocks.keys());
  start = readings.length === 0 ? 0 : Math.floor(start / coarsest) * coarsest;
  const writer = new NumberWriter();
  for (const [step, block] of [...blocks].sort(([a], [b]) => a - b)) block.write(start / step, writer);
  const signals = { catalog, size: writer.written.length, columns: deflate(writer.written) };
  return { start, size: 0, columns: deflate(new Uint8Array(0)), signals };
}

/**
 * Returns the series of custom signals with times in UTC ms, by ascending number; none for telemetry of Status.
 * @throws VigieError as `readingsFromTelemetry`
 */
export function signalSeries({ start, signals }: Telemetry): ColumnSeries[] {
  return signals === undefined ? [] : seriesOfColumns({ start, ...signals }, plainNumbers);
}

/** Custom signals for people and programs: names, UTC milliseconds and values. */
export interface SignalsJson {
  /** Hash of the catalog, in hexadecimal. */
  readonly catalog: string;
  readonly signals: readonly {
    /** `#` and the decimal number until its catalog is known: the values are then the integers of the columns. */
    readonly name: string;
    readonly unit?: string;
    readonly at: readonly number[];
    readonly values: readonly SignalValue[];
  }[];
}

/** Returns undefined for telemetry of Status only. @throws VigieError as {@link signalSeries} */
export function signalsJson(telemetry: Telemetry, catalogs: Catalogs): SignalsJson | undefined {
  const catalog = telemetry.signals?.catalog;
  if (catalog === undefined) return undefined;
  const signals = signalSeries(telemetry).map(({ slot: number, times: at, values }) => {
    const known = catalogs.signal(catalog, number);
    if (known === undefined) return { name: `#${number}`, at, values };
    const { name, unit } = known.definition;
    return { name, ...defined({ unit }), at, values: values.map(known.value) };
  });
  return { catalog: hexOf(catalog), signals };
}
