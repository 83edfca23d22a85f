/** The scripted day of the bench car, driven once: its frames, and expectations from the script. */
import { readFileSync, writeFileSync } from 'node:fs';
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { createBatch, slice } from '../../adapters/can/frames.ts';
import { day as script } from '../../adapters/simulated/day.ts';
import { Day, timeOfDay } from '../../adapters/simulated/day-scenario.ts';
import { SimulatedCar } from '../../adapters/simulated/index.ts';
import { Route } from '../../adapters/simulated/route.ts';
import type { FrameBatch } from '../../agent/ports.ts';
import { loadVehicle, type Vehicle } from '../../assembly/vehicle.ts';
import { VirtualClock } from './clock.ts';
import { madeOnce } from './run.ts';

/** Midnight of the day, UTC ms. */
export const MIDNIGHT: number = Date.UTC(2026, 2, 10);
/** Clock of a unit at midnight if it has just got its power back, UTC ms. */
const ORIGIN = Date.UTC(1970, 0, 1, 0, 1);
export const DAY = 86_400_000;

const route = new Route();
/** The day of the script, computed in full. */
export const scenario: Day = new Day(route, script);
export const vehicle: Vehicle = loadVehicle('bench');
/** Time at which the unit learns the time, ms since midnight. */
export const timeKnownAt: number = timeOfDay(script.find(({ timeKnown }) => timeKnown)?.at ?? '00:00:00');

/** Clock of the unit at `elapsed` ms after midnight, UTC ms. */
export function wallAt(elapsed: number): number {
  return elapsed + (elapsed < timeKnownAt ? ORIGIN : MIDNIGHT);
}

/** All frames of the day in one batch, with times in ms since midnight. */
export interface DayLog {
  readonly buses: readonly string[];
  readonly count: number;
  readonly elapsed: Float64Array;
  /** The same with times by the unit's clock, UTC ms. */
  readonly frames: FrameBatch;
}

const CAPACITY = 2_000_000;

/** The day driven by the simulated car, recorded once for all test files. */
export async function recordDay(): Promise<DayLog> {
  const file = await madeOnce('day', async (path) => writeFileSync(path, packDay(await driveDay())));
  return unpackDay(readFileSync(file));
}

/** Runs the day of the simulated car. */
export async function driveDay(): Promise<DayLog> {
  const clock = new VirtualClock(0);
  const car = new SimulatedCar({ clock, codec: new DbcCodec(vehicle.databases), scenario: 'day', seed: 1 });
  const frames = createBatch(CAPACITY, CAPACITY * 8);
  const elapsed = new Float64Array(CAPACITY);
  await car.start((batch) => {
    const from = frames.count;
    for (let i = 0; i < batch.count; i++) frames.offset[from + i] = (from + i) * 8;
    frames.id.set(batch.id.subarray(0, batch.count), from);
    frames.length.set(batch.length.subarray(0, batch.count), from);
    frames.data.set(batch.data.subarray(0, batch.count * 8), from * 8);
    elapsed.set(batch.at.subarray(0, batch.count), from);
    frames.count += batch.count;
  });
  clock.advance(DAY);
  await car.stop();
  for (let i = 0; i < frames.count; i++) frames.at[i] = wallAt(elapsed[i] as number);
  return { buses: car.buses, count: frames.count, elapsed, frames };
}

/** Frames from index `from` (inclusive) to `to` (exclusive). */
export function framesOf(log: DayLog, from: number, to: number): FrameBatch {
  return slice(log.frames, from, to);
}

/** The day as bytes, for another process. */
export function packDay({ count, elapsed, frames }: DayLog): Uint8Array {
  const columns = [
    elapsed.subarray(0, count),
    frames.id.subarray(0, count),
    frames.data.subarray(0, count * 8),
    frames.length.subarray(0, count),
  ];
  return Buffer.concat(columns.map((column) => new Uint8Array(column.buffer, column.byteOffset, column.byteLength)));
}

/** Size of one frame in {@link packDay}, bytes. */
const FRAME = 8 + 4 + 8 + 1;

export function unpackDay(packed: Uint8Array): DayLog {
  // A separate buffer, so that the columns are aligned to their elements.
  const { buffer } = new Uint8Array(packed);
  const count = packed.length / FRAME;
  const elapsed = new Float64Array(buffer, 0, count);
  const frames: FrameBatch = {
    count,
    at: elapsed.map(wallAt),
    id: new Uint32Array(buffer, count * 8, count),
    bus: new Uint8Array(count),
    flags: new Uint8Array(count),
    length: new Uint8Array(buffer, count * 20, count),
    offset: new Uint32Array(count).map((_, index) => index * 8),
    data: new Uint8Array(buffer, count * 12, count * 8),
  };
  return { buses: ['body'], count, elapsed, frames };
}
