/**
 * Recorded drives as readings: 27 OBD signals once a second, as comma-separated columns without times. Status has no
 * slot for many of them, so each signal uses a substitute slot that fits its raw values. The benchmark measures the
 * transmission of every signal as the integers that the car reported.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reading } from '../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';

/** Step of each signal, in column order (SAE J1979, appendix B), and its substitute slot. */
const columns: readonly (readonly [step: number, path: string])[] = [
  [1, 'odometer.mileage'], // run time since engine start, s
  [0.25, 'engines.Thermic.speed'], // engine speed, 1/min
  [1, 'kinetic.speed'], // vehicle speed, km/h
  [100 / 255, 'engines.Thermic.extension.thermic.coolant.temp'], // throttle, %
  [100 / 255, 'engines.Thermic.extension.thermic.oil.temp'], // engine load, %
  [1, 'engines.Thermic.extension.thermic.air.temp'], // coolant, °C
  [100 / 128, 'environment.air.temp'], // long-term fuel trim, %
  [100 / 128, 'kinetic.acceleration'], // short-term fuel trim, %
  [1, 'energies.Fuel.level'], // intake manifold pressure, kPa
  [100 / 255, 'energies.Electric.level'], // fuel level, %
  [100 / 255, 'battery.voltage'], // throttle B, %
  [100 / 255, 'lastPosition.signalQuality'], // pedal D, %
  [100 / 255, 'lastPosition.heading'], // pedal E, %
  [100 / 255, 'adas.sli'], // commanded throttle, %
  [2 / 65_536, 'engines.Electric.speed'], // commanded equivalence ratio
  [1, 'energies.Electric.extension.electric.charging.chargingRate'], // barometric pressure, kPa
  [100 / 255, 'energies.Fuel.autonomy'], // relative throttle, %
  [1, 'energies.Electric.autonomy'], // intake air, °C
  [0.5, 'lastPosition.altitude'], // timing advance, °
  [0.1, 'energies.Fuel.extension.fuel.consumptions.instant'], // catalyst 1, °C
  [0.1, 'energies.Electric.extension.electric.consumption.consumption'], // catalyst 2, °C
  [0.001, 'energies.Electric.extension.electric.battery.load.residual'], // control module, V
  [100 / 255, 'energies.Electric.extension.electric.battery.load.capacity'], // evaporative purge, %
  [1, 'energies.Fuel.extension.fuel.consumptions.total'], // with malfunction lamp on, min
  [1, 'lastPosition.latitude'], // since trouble codes were cleared, min
  [1, 'lastPosition.longitude'], // with malfunction lamp on, km
  [1, 'alarm.trigger.startAt'], // warm-ups since trouble codes were cleared
];

/** Raw values at one time, in the order of the signals. */
export type DriveRow = readonly number[];

/** Returns the rows of every drive in the folder, by file name. Omits incomplete rows. */
export function readDrives(folder: string): ReadonlyMap<string, readonly DriveRow[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.csv'));
  return new Map(files.sort().map((file) => [file, rowsOf(readFileSync(join(folder, file), 'utf8'))]));
}

/** Returns the rows of one drive file. */
export function rowsOf(text: string): DriveRow[] {
  const rows: DriveRow[] = [];
  for (const line of text.trim().split('\n').slice(1)) {
    const numbers = line.split(',').slice(0, columns.length).map(Number);
    if (numbers.length < columns.length || !numbers.every(Number.isFinite)) continue;
    rows.push(numbers.map((number, column) => Math.round(number / columns[column]![0])));
  }
  return rows;
}

export interface Sampling {
  /** If true, unchanged readings are omitted. */
  readonly onChange: boolean;
  /**
   * If true, all signals of a row share one time, as one request may cover several signals. If false, each has its own
   * time.
   */
  readonly together: boolean;
  /** Largest deviation in ms of a time from the full second. */
  readonly jitter: number;
}

const START = 1_750_000_000_000;

/** Returns the readings of a drive in the order of time, with rows a second apart. Equal options give equal times. */
export function readingsOf(rows: readonly DriveRow[], { onChange, together, jitter }: Sampling): Reading[] {
  const random = randomOf(1);
  const off = (): number => Math.round((random() * 2 - 1) * jitter);
  const slots = columns.map(([, path]) => slotOf(path));
  const readings: Reading[] = [];
  let before: DriveRow = [];
  for (const [second, row] of rows.entries()) {
    const moment = off();
    const found: Reading[] = [];
    for (const [column, raw] of row.entries()) {
      if (onChange && before[column] === raw) continue;
      const slot = slots[column]!;
      const value = slot.kind === 'instant' ? raw : raw * slot.resolution!;
      found.push({ slot, value, at: START + second * 1000 + (together ? moment : off()) });
    }
    readings.push(...found.sort((a, b) => a.at - b.at));
    before = row;
  }
  return readings;
}

function slotOf(path: string): Slot {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new Error(`Status has no ${path}`);
  return slot;
}

/** Returns a generator of numbers from 0 to 1 that the seed determines (Numerical Recipes, section 7.1). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Splits readings into full batches of `size`. Omits the rest. */
export function batchesOf(readings: readonly Reading[], size: number): Reading[][] {
  const count = Math.floor(readings.length / size);
  return Array.from({ length: count }, (_, batch) => readings.slice(batch * size, (batch + 1) * size));
}
