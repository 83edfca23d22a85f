/** Drives recorded over OBD: one column per value, one row per second. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the recordings in a folder. */
export function drivesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.csv'))
    .sort()
    .map((name) => join(folder, name));
}

/** Columns by the beginning of their title. */
export const titles = {
  load: 'ENGINE_LOAD',
  coolant: 'COOLANT_TEMPERATURE',
  pressure: 'INTAKE_MANIFOLD_PRESSURE',
  rpm: 'ENGINE_RPM',
  speed: 'VEHICLE_SPEED',
  intake: 'INTAKE_AIR_TEMP',
  throttle: 'THROTTLE',
  fuel: 'FUEL_TANK',
  barometer: 'ABSOLUTE_BAROMETRIC_PRESSURE',
  voltage: 'CONTROL_MODULE_VOLTAGE',
} as const;
export type Column = keyof typeof titles;

export class RecordedDrive {
  /** Last second of the recording, counted from 0. */
  readonly end: number;
  readonly #columns: ReadonlyMap<Column, readonly number[]>;
  /** Distance driven until each second, km. */
  readonly #way: readonly number[];

  constructor(path: string) {
    const [head = '', ...lines] = readFileSync(path, 'utf8').trim().split('\n');
    const names = head.split(',').map((title) => title.trim());
    const rows = lines.map((line) => line.split(',').map(Number));
    this.#columns = new Map(
      (Object.keys(titles) as Column[]).map((column) => {
        const index = names.findIndex((title) => title.startsWith(titles[column]));
        const values = rows.map((row) => row[index] ?? Number.NaN);
        if (values.length === 0 || values.some(Number.isNaN)) throw new Error(`${path} has no ${titles[column]}`);
        return [column, values];
      }),
    );
    this.end = rows.length - 1;
    const way = [0];
    for (let second = 1; second <= this.end; second++) {
      way.push((way[second - 1] as number) + (this.row('speed', second - 1) + this.row('speed', second)) / 7200);
    }
    this.#way = way;
  }

  /** Value in a row. */
  row(column: Column, second: number): number {
    return this.#columns.get(column)?.[second] as number;
  }

  /** Value at a time in seconds: linear between two rows, and that of the nearest row outside. */
  at(column: Column, moment: number): number {
    const inside = Math.min(Math.max(moment, 0), this.end);
    const before = Math.min(Math.floor(inside), Math.max(0, this.end - 1));
    const value = this.row(column, before);
    return this.end === 0 ? value : value + (inside - before) * (this.row(column, before + 1) - value);
  }

  /** Distance driven until a time, km: the trapezoidal integral of {@link at}. */
  km(moment: number): number {
    const inside = Math.min(Math.max(moment, 0), this.end);
    const before = Math.floor(inside);
    const part = inside - before;
    return (this.#way[before] as number) + ((this.row('speed', before) + this.at('speed', inside)) / 7200) * part;
  }

  /** Maximum rate of change of a value, per second. */
  steepest(column: Column): number {
    let most = 0;
    for (let second = 1; second <= this.end; second++) {
      most = Math.max(most, Math.abs(this.row(column, second) - this.row(column, second - 1)));
    }
    return most;
  }

  /**
   * Seconds at which the engine starts or stops, within the second before. Outside of the recording it stands still: if
   * it runs in the first or last row, it was started just before, or is stopped just after.
   */
  engineTurns(): { readonly at: number; readonly runs: boolean }[] {
    const turns: { at: number; runs: boolean }[] = [];
    const runsAt = (second: number): boolean => second >= 0 && second <= this.end && this.row('rpm', second) > 0;
    for (let at = 0; at <= this.end + 1; at++) {
      if (runsAt(at) !== runsAt(at - 1)) turns.push({ at, runs: runsAt(at) });
    }
    return turns;
  }
}
