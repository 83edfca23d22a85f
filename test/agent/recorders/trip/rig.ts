/** Simulates a car for the trip recorder, second by second, and collects the records. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { MemoryRecords } from '../../../../adapters/store/index.ts';
import { hiddenFrom } from '../../../../agent/model/privacy.ts';
import { Status } from '../../../../agent/model/status.ts';
import type { Publisher } from '../../../../agent/ports.ts';
import { TripRecorder } from '../../../../agent/recorders/trip.ts';
import { Records } from '../../../../agent/records.ts';
import { encodeMessage } from '../../../../protocol/cbor/message.ts';
import type { TripRule } from '../../../../protocol/recording.ts';
import { type Trip, tripSchema } from '../../../../protocol/schema/trip.ts';
import { type SlotValue, slotByPath, slots } from '../../../../protocol/slots.ts';

export const T = Date.UTC(2026, 5, 1, 8);
export const SECOND = 1_000;
export const MINUTE = 60_000;
export const RULE: TripRule = { grace: 5 * MINUTE, moving: 2, silence: MINUTE };

const valid = new Ajv2020({ strict: false }).compile(tripSchema);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Values that the car sends at one time, by path. Undefined: an invalid value. */
export type Says = Readonly<Record<string, SlotValue | undefined>>;

export class Rig {
  status = new Status();
  readonly store = new MemoryRecords();
  /** Every version of every trip, in order. */
  readonly put: Trip[] = [];
  records: Records;
  recorder: TripRecorder;
  readonly rule: TripRule | undefined;
  readonly #hidden = new Map<string, SlotValue>();
  #level = 0;

  constructor(rule: TripRule | undefined = RULE) {
    this.rule = rule;
    this.records = new Records(this.#publisher(), this.store, silent);
    this.recorder = this.#recorder();
  }

  /** The newest version of each trip, in the order of their starts. */
  get trips(): Trip[] {
    return [...new Map(this.put.map((trip) => [trip.id, trip])).values()];
  }

  get only(): Trip {
    expect(this.trips).toHaveLength(1);
    return this.trips[0] as Trip;
  }

  /** Readings of one time, written like the mapping does. */
  say(says: Says, at: number): void {
    for (const [path, value] of Object.entries(says)) {
      const slot = slotByPath.get(path);
      if (slot === undefined) throw new Error(`Status has no ${path}`);
      if (value === undefined) continue;
      if (path === 'privacy.state') this.#choose(String(value), at);
      if (hiddenFrom(path) > this.#level) this.status.write(slot, value, at);
      else this.#hidden.set(path, value);
    }
  }

  tick(at: number): void {
    this.status.sweep(at);
    this.recorder.tick(at);
  }

  /** Sends `says(second)` every second from `from` for `seconds`, with ticks in between. Returns the end time. */
  drive(from: number, seconds: number, says: (second: number) => Says): number {
    for (let second = 0; second < seconds; second++) {
      this.say(says(second), from + second * SECOND);
      this.tick(from + second * SECOND + 500);
    }
    return from + seconds * SECOND;
  }

  /** Advances time without readings. */
  wait(from: number, ms: number): number {
    return this.drive(from, Math.round(ms / SECOND), () => ({}));
  }

  /** A power cut. The next run has the stored state. */
  cut(): void {
    const contents = structuredClone(this.status.contents());
    const state = structuredClone(this.recorder.state());
    const made = structuredClone(this.records.state());
    this.status = new Status();
    this.status.restore(contents);
    this.records = new Records(this.#publisher(), this.store, silent);
    this.records.restore(made);
    this.recorder = this.#recorder();
    this.recorder.restore(state);
  }

  #recorder(): TripRecorder {
    const recorder = new TripRecorder({ status: this.status, records: this.records, rule: this.rule });
    this.status.observe(recorder);
    return recorder;
  }

  #choose(state: string, at: number): void {
    const level = ['None', 'Geolocation', 'Full'].indexOf(state);
    this.#level = level;
    for (const slot of slots) if (hiddenFrom(slot.path) <= level) this.status.remove(slot, at);
  }

  #publisher(): Publisher {
    const publisher: Publisher = {
      put: (kind, body) => {
        expect(valid(body), JSON.stringify([valid.errors, body])).toBe(true);
        encodeMessage({ version: 1, kind, seq: 0, boot: 1, at: T, clock: 'ntp', body });
        this.put.push(structuredClone(body) as Trip);
      },
      secure: async (kind, body) => publisher.put(kind, body),
    };
    return publisher;
  }
}

/** Latitude and longitude this many metres north of a place in the south of France. */
export function north(metres: number): Says {
  return { 'lastPosition.latitude': Math.round((43.6 + metres / 111_195) * 1e7) / 1e7, 'lastPosition.longitude': 1.44 };
}

/** Distance and speed of a car that takes `ramp` seconds to reach `top` km/h and to stop, in `seconds` altogether. */
export function profile(
  top: number,
  seconds: number,
  ramp = 20,
): { speed: (s: number) => number; km: (s: number) => number } {
  const speed = (s: number): number => Math.max(0, Math.min(top, (top * s) / ramp, (top * (seconds - s)) / ramp));
  const km = (s: number): number => {
    let sum = 0;
    for (let i = 0; i < s; i++) sum += (speed(i) + speed(i + 1)) / 2 / 3600;
    return sum;
  };
  return { speed, km };
}

/** A drive of five minutes. */
export const trip = profile(72, 300);
export const KM = trip.km(300);
/** Odometer reading in km with this resolution. */
export const floor = (value: number, unit: number): number =>
  Math.round(Math.floor(value / unit + 1e-9) * unit * 10) / 10;

/** A car that sends every signal. */
export const full = (s: number): Says => ({
  'ignition.type': 'Start',
  'kinetic.speed': trip.speed(s),
  'kinetic.moving': trip.speed(s) > 0,
  'odometer.mileage': floor(1000.04 + trip.km(s), 0.1),
  ...north(trip.km(s) * 1000),
});
export const off: Says = { 'ignition.type': 'Stop', 'kinetic.speed': 0, 'kinetic.moving': false };

/** Ten seconds parked. */
export function parked(rig: Rig, says: Says, from = T - 10 * SECOND): void {
  rig.drive(from, 10, () => says);
}
