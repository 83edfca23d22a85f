/** A control unit that answers with the values of a recorded drive, by the formulae of SAE J1979, annex B. */
import { Ecu, hex, unhex } from '../adapters/obd/elm327/car.ts';
import type { VirtualClock } from '../rig/clock.ts';
import type { Column, RecordedDrive } from './recording.ts';

/** A parameter of service 01 in the control unit. */
export interface Parameter {
  readonly pid: number;
  readonly column: Column;
  readonly bytes: (value: number) => readonly number[];
  /** Physical value of the bytes. */
  readonly value: (bytes: readonly number[]) => number;
  /** Resolution of the encoding. */
  readonly resolution: number;
}

const byte = (value: number): number[] => [Math.min(Math.max(Math.round(value), 0), 0xff)];
const word = (value: number): number[] => {
  const bounded = Math.min(Math.max(Math.round(value), 0), 0xffff);
  return [bounded >> 8, bounded & 0xff];
};
const wordOf = ([a = 0, b = 0]: readonly number[]): number => a * 256 + b;

function parameter(
  pid: number,
  column: Column,
  resolution: number,
  offset: number,
  encode: (value: number) => number[],
): Parameter {
  return {
    pid,
    column,
    resolution,
    bytes: (value) => encode((value - offset) / resolution),
    value: (bytes) => (encode === word ? wordOf(bytes) : (bytes[0] ?? 0)) * resolution + offset,
  };
}

export const parameters: readonly Parameter[] = [
  parameter(0x04, 'load', 100 / 255, 0, byte),
  parameter(0x05, 'coolant', 1, -40, byte),
  parameter(0x0b, 'pressure', 1, 0, byte),
  parameter(0x0c, 'rpm', 0.25, 0, word),
  parameter(0x0d, 'speed', 1, 0, byte),
  parameter(0x0f, 'intake', 1, -40, byte),
  parameter(0x11, 'throttle', 100 / 255, 0, byte),
  parameter(0x2f, 'fuel', 100 / 255, 0, byte),
  parameter(0x33, 'barometer', 1, 0, byte),
  parameter(0x42, 'voltage', 0.001, 0, word),
];

const ODOMETER = 0xa6;
/** Odometer at the start of the recording, km. */
const MILEAGE = 41_270.06;

export interface CarOptions {
  readonly clock: VirtualClock;
  readonly drive: RecordedDrive;
  /** Time with ignition on and engine off before the recording begins, s. */
  readonly before?: number;
  /** Time for which the control unit still answers after the driver stopped the engine, s. */
  readonly after?: number;
  /** Whether it also has an odometer, with a resolution of 0.1 km. */
  readonly odometer?: boolean;
}

/** Answer of the car to one request for one parameter. */
export interface Said {
  readonly pid: number;
  /** Monotonic ms. */
  readonly at: number;
  readonly bytes: readonly number[];
}

/**
 *     ignition on      recording                  engine stopped     ignition off
 *     ├─── before ─────┼──────────────────────────┼──── after ───────┤
 *     0                begin                      end                silentAt
 */
export class DrivenCar {
  readonly ecu: Ecu;
  readonly said: Said[] = [];
  /** Times of the first and the last row, monotonic ms. */
  readonly begin: number;
  readonly end: number;
  /** Time from which no control unit answers. */
  readonly silentAt: number;
  readonly #clock: VirtualClock;
  readonly #drive: RecordedDrive;
  readonly #odometer: boolean;

  constructor({ clock, drive, before = 20, after = 10, odometer = false }: CarOptions) {
    this.#clock = clock;
    this.#drive = drive;
    this.#odometer = odometer;
    this.begin = clock.monotonic() + before * 1000;
    this.end = this.begin + drive.end * 1000;
    this.silentAt = this.end + after * 1000;
    this.ecu = new Ecu({ request: 0x7e0, response: 0x7e8, answers: (request) => this.#answer(unhex(request)) });
  }

  /** Value at a time, monotonic ms. */
  value(column: Column, at: number): number {
    const outside = at < this.begin || at > this.end;
    if (outside && (column === 'rpm' || column === 'speed')) return 0;
    return this.#drive.at(column, (at - this.begin) / 1000);
  }

  #answer([service = 0, ...pids]: readonly number[]): readonly string[] | undefined {
    const at = this.#clock.monotonic();
    if (at >= this.silentAt) return undefined;
    if (service !== 1) return [hex([0x7f, service, 0x11])];
    const data = pids.flatMap((pid) => {
      const bytes = this.#data(pid, at);
      return bytes === undefined ? [] : [pid, ...bytes];
    });
    // A physical request would get 7F. In a functional request, a unit ignores parameters that it lacks (§6.1.2.3).
    return data.length === 0 ? undefined : [hex([0x41, ...data])];
  }

  #data(pid: number, at: number): readonly number[] | undefined {
    if (pid % 0x20 === 0) return this.#list(pid);
    if (!this.#has(pid)) return undefined;
    const known = parameters.find((one) => one.pid === pid);
    const bytes = known?.bytes(this.value(known.column, at)) ?? this.#other(pid, at);
    this.said.push({ pid, at, bytes });
    return bytes;
  }

  #other(pid: number, at: number): number[] {
    if (pid !== ODOMETER) return [1];
    const steps = Math.floor((MILEAGE + this.#drive.km((at - this.begin) / 1000)) * 10 + 1e-9);
    return [steps >>> 24, (steps >> 16) & 0xff, (steps >> 8) & 0xff, steps & 0xff];
  }

  /** Parameter 51 states that the engine burns petrol. */
  #has(pid: number): boolean {
    return parameters.some((one) => one.pid === pid) || pid === 0x51 || (this.#odometer && pid === ODOMETER);
  }

  /** Bit map of the next 32 parameters, the first in the highest bit. The last bit means that more exist. */
  #list(from: number): readonly number[] | undefined {
    const highest = this.#odometer ? 0xa0 : 0x40;
    if (from > highest) return undefined;
    const bits = Array.from({ length: 32 }, (_, i) => {
      const pid = from + 1 + i;
      return pid % 0x20 === 0 ? pid <= highest : this.#has(pid);
    });
    return [0, 8, 16, 24].map((start) => bits.slice(start, start + 8).reduce((sum, set) => sum * 2 + (set ? 1 : 0), 0));
  }
}
