/**
 * Telemetry travels as columns: one series per slot, with the times as differences and the values as integers. What
 * an integer means follows from the slot's kind:
 *
 * | kind | integer |
 * |---|---|
 * | quantity | round(value / resolution), also for the components of a position |
 * | flag | 0 or 1 |
 * | enumeration | position of the name in the slot's values |
 * | set | bit n is set when the n-th name of the slot's values is in it |
 * | instant | UTC milliseconds |
 *
 * Slots of kind text and value have no such form and are no telemetry.
 */
import { quantitySteps } from '../cbor/steps.ts';
import { VigieError } from '../errors.ts';
import { type Slot, type SlotValue, slotById, slots } from '../slots.ts';
import { count } from './count.ts';
import { instant, list, quantity, record, required, type Static } from './fields.ts';

const integer = (description: string) => quantity({ unit: '1', resolution: 1, description });

const seriesSchema = record(
  'TelemetrySeries',
  {
    slot: required(1, count('Which slot of Status, by its id (protocol/slots.ts).')),
    start: required(2, instant({ description: 'Time of the first reading.' })),
    deltas: required(
      3,
      list(
        quantity({
          unit: 'ms',
          resolution: 1,
          description: 'Time since the reading before; negative where a clock stepped back.',
        }),
        {
          description: 'One for each reading but the first.',
        },
      ),
    ),
    values: required(
      4,
      list(integer('A value as the integer of its slot.'), { minItems: 1, description: 'One for each reading.' }),
    ),
  },
  { description: 'The readings of one slot, in the order they were taken.' },
);

export const telemetrySchema = record(
  'Telemetry',
  {
    series: required(1, list(seriesSchema, { description: 'At most one series per slot, by ascending slot id.' })),
  },
  { description: 'Readings over time.' },
);
export type Telemetry = Static<typeof telemetrySchema>;
export type TelemetrySeries = Static<typeof seriesSchema>;

/** One value of one slot at one time. */
export interface Reading {
  readonly slot: Slot;
  readonly value: SlotValue;
  /** UTC milliseconds; a fraction is rounded away. */
  readonly at: number;
}

/** Both directions between a slot's value and its integer; undefined where there is none. */
interface Coding {
  count(value: SlotValue): number | undefined;
  value(count: number): SlotValue | undefined;
}

const codings: readonly (Coding | undefined)[] = slots.map(codingOf);

/** Whether readings of the slot can travel as telemetry. */
export function isTelemetry(slot: Slot): boolean {
  return codings[slot.index] !== undefined;
}

/**
 * The columns of readings given in any order of slots; the order within a slot is kept, as are equal times.
 * @throws VigieError `message.malformed` for a slot that is no telemetry and for a value that its slot cannot have
 */
export function telemetryFromReadings(readings: Iterable<Reading>): Telemetry {
  const series = new Map<number, TelemetrySeries & { last: number }>();
  for (const { slot, value, at } of readings) {
    const integer = codings[slot.index]?.count(value);
    const time = Math.round(at);
    if (integer === undefined || !Number.isSafeInteger(time)) {
      throw new VigieError('message.malformed', `${slot.path} cannot be telemetry with the value ${value} at ${at}`);
    }
    const known = series.get(slot.id);
    if (known === undefined) {
      series.set(slot.id, { slot: slot.id, start: time, deltas: [], values: [integer], last: time });
      continue;
    }
    known.deltas.push(time - known.last);
    known.values.push(integer);
    known.last = time;
  }
  const sorted = [...series.values()].sort((a, b) => a.slot - b.slot);
  return { series: sorted.map(({ slot, start, deltas, values }) => ({ slot, start, deltas, values })) };
}

/**
 * The readings of all series, series by series, each value rounded to the slot's resolution. Left out is what a
 * newer sender knows and this version does not: slots, and names at the end of an enumeration.
 * @throws VigieError `message.malformed` when a series has not one time for each value
 */
export function readingsFromTelemetry(telemetry: Telemetry): Reading[] {
  const readings: Reading[] = [];
  for (const series of telemetry.series) {
    const slot = slotById.get(series.slot);
    const coding = slot === undefined ? undefined : codings[slot.index];
    const times = timesOf(series);
    if (slot === undefined || coding === undefined) continue;
    for (const [index, at] of times.entries()) {
      const value = coding.value(series.values[index] as number);
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
    readonly at: readonly number[];
    /** An integer in place of a name that this version does not know. */
    readonly values: readonly SlotValue[];
  }[];
}

/** @throws VigieError `message.malformed` when a series has not one time for each value */
export function telemetryJson(telemetry: Telemetry): TelemetryJson {
  return {
    series: telemetry.series.map((series) => {
      const slot = slotById.get(series.slot);
      const coding = slot === undefined ? undefined : codings[slot.index];
      return {
        path: slot?.path ?? `#${series.slot}`,
        at: timesOf(series),
        values: series.values.map((integer) => coding?.value(integer) ?? integer),
      };
    }),
  };
}

function timesOf(series: TelemetrySeries): number[] {
  if (series.deltas.length !== series.values.length - 1) {
    throw new VigieError(
      'message.malformed',
      `telemetry of slot ${series.slot} has ${series.values.length} values and ${series.deltas.length} time differences`,
    );
  }
  let at = series.start;
  return [at, ...series.deltas.map((delta) => (at += delta))];
}

function codingOf(slot: Slot): Coding | undefined {
  const values = slot.values ?? [];
  switch (slot.kind) {
    case 'quantity':
      return quantityCoding(slot);
    case 'instant':
      return {
        count: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
        value: (integer) => integer,
      };
    case 'flag':
      return {
        count: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
        value: (integer) => (integer === 0 || integer === 1 ? integer === 1 : undefined),
      };
    case 'enumeration':
      return {
        count: (value) => (values.includes(value as string) ? values.indexOf(value as string) : undefined),
        value: (position) => values[position],
      };
    case 'set':
      return {
        count: (value) => (Array.isArray(value) ? bitsOf(value, values) : undefined),
        value: (bits) => values.filter((_, position) => Math.floor(bits / 2 ** position) % 2 === 1),
      };
    case 'text':
    case 'value':
      return undefined;
  }
}

function quantityCoding(slot: Slot): Coding | undefined {
  const { resolution = 0, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = slot;
  if (resolution === 0) return undefined;
  const steps = quantitySteps({ resolution, minimum, maximum });
  return {
    count(value) {
      const integer = typeof value === 'number' ? steps.count(value) : Number.NaN;
      return Number.isSafeInteger(integer) ? integer : undefined;
    },
    value: (integer) => steps.value(integer),
  };
}

function bitsOf(names: readonly unknown[], values: readonly string[]): number | undefined {
  let bits = 0;
  for (const name of new Set(names)) {
    const position = values.indexOf(name as string);
    if (position < 0) return undefined;
    bits += 2 ** position;
  }
  return bits;
}
