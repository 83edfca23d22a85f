/**
 * Distance of a trip, from three measures at once: steps of the odometer if there are any; the integral of speed before
 * the first step and after the last; positions where no other measure is available.
 *
 *     begin      first step                 last step     end
 *       ├─ speed ────┼──────── odometer ────────┼── speed ──┤
 *
 * An odometer that counts whole kilometres is exact only when it steps. This method uses only steps, so that it is
 * exact at any resolution.
 */
import type { DistanceSource } from '../../../protocol/schema/trip.ts';
import { distance } from '../../model/position.ts';
import { list, members, nullable, type Shape } from './shape.ts';

/** State of the measurement, in km and km/h; times are trip time in ms. */
export interface Meter {
  speed: { at: number; value: number } | null;
  odometer: { at: number; value: number } | null;
  /** Start of the next leg: its position, the time of arrival, and the time of the last fix there. */
  fix: { latitude: number; longitude: number; at: number; seen: number } | null;
  /** True if something of the present trip was measured. */
  known: boolean;
  /** Distance in km up to the last step of the odometer, by measure. */
  byOdometer: number;
  bySpeed: number;
  byPositions: number;
  /** Distance since the last odometer step, or since the start: by speed, and by positions where speed is missing. */
  stretch: [speed: number, positions: number];
  /** True if the stretch was measured without a gap. */
  whole: boolean;
  /** True if the stretch starts at a step of the odometer. */
  stepped: boolean;
}

export const meterShape: Shape = members({
  speed: nullable(members({ at: 'number', value: 'number' })),
  odometer: nullable(members({ at: 'number', value: 'number' })),
  fix: nullable(members({ latitude: 'number', longitude: 'number', at: 'number', seen: 'number' })),
  known: 'flag',
  byOdometer: 'number',
  bySpeed: 'number',
  byPositions: 'number',
  stretch: list('number'),
  whole: 'flag',
  stepped: 'flag',
});

/** Highest speed of a road vehicle, km/ms. */
const FASTEST = 70 / 1e6;
/** Longest distance in km by which an odometer of whole miles or kilometres may exceed its last reading. */
const STEP = 2;
/** Largest distance in m between fixes of a standing car that counts as drift of the receiver. */
export const DRIFT = 25;
/** Time in ms without a longer drift after which the car counts as standing. */
const STANDS = 10_000;

export function newMeter(): Meter {
  return { speed: null, odometer: null, fix: null, ...nothing() };
}

function nothing() {
  const stretch: Meter['stretch'] = [0, 0];
  return { known: false, byOdometer: 0, bySpeed: 0, byPositions: 0, stretch, whole: true, stepped: false };
}

/** Starts a trip; keeps the last readings. */
export function begin(meter: Meter): void {
  Object.assign(meter, nothing());
  meter.known = meter.speed !== null || meter.odometer !== null || meter.fix !== null;
}

/** Returns the distance so far in km. */
export function way(meter: Meter): number {
  return meter.byOdometer + meter.bySpeed + meter.byPositions + meter.stretch[0] + meter.stretch[1];
}

/** Returns the measure that covers most of the distance, or undefined if nothing was measured. */
export function sourceOf(meter: Meter): DistanceSource | undefined {
  if (!meter.known) return undefined;
  const speed = meter.bySpeed + meter.stretch[0];
  const positions = meter.byPositions + meter.stretch[1];
  if (meter.byOdometer > 0 && meter.byOdometer >= Math.max(speed, positions)) return 'Odometer';
  if (speed > 0 && speed >= positions) return 'Speed';
  if (positions > 0) return 'Positions';
  return meter.speed !== null ? 'Speed' : meter.odometer !== null ? 'Odometer' : 'Positions';
}

/** Adds a speed in km/h. Returns the distance in km since the previous reading, or 0 if it is older than `bound` ms. */
export function readSpeed(meter: Meter, value: number, at: number, bound: number): number {
  const { speed } = meter;
  meter.known = true;
  if (speed === null) {
    meter.speed = { at, value };
    return 0;
  }
  const span = at - speed.at;
  const mean = (speed.value + value) / 2;
  // Changed in place: a new object for each reading would be most of what trips allocate.
  speed.at = at;
  speed.value = value;
  if (span > bound) meter.whole = false;
  if (span <= 0 || span > bound) return 0;
  const gone = (mean * span) / 3_600_000;
  meter.stretch[0] += gone;
  return gone;
}

/** Records that the speed was unchanged at `at`. Returns the distance in km since the previous reading. */
export function holdSpeed(meter: Meter, at: number, bound: number): number {
  const { speed } = meter;
  return speed === null || at <= speed.at ? 0 : readSpeed(meter, speed.value, at, bound);
}

/**
 * Adds a reading of the odometer, km. Returns the size of its step: 0 for the first reading, a step back (a roll-over,
 * another instrument cluster) and a leap that no car can drive in that time; counting restarts at such a value. The
 * step also covers a gap of over `bound` ms in the other measures.
 */
export function readOdometer(meter: Meter, value: number, at: number, bound: number): number {
  const before = meter.odometer;
  meter.odometer = { at, value };
  meter.known = true;
  if (before === null) {
    settleStretch(meter);
    return 0;
  }
  const step = value - before.value;
  const span = Math.max(0, at - before.at);
  if (step <= 0 || step > STEP + span * FASTEST) {
    settleStretch(meter);
    return 0;
  }
  const [speed, positions] = meter.stretch;
  const measuredAt = meter.speed?.at ?? meter.fix?.seen ?? Number.NEGATIVE_INFINITY;
  const measured = meter.whole && at - measuredAt <= bound;
  // Up to the first step the car has driven only part of the odometer's unit, so never count more than the unit.
  if (meter.stepped || !measured) meter.byOdometer += step;
  else {
    const share = Math.min(1, step / Math.max(step, speed + positions));
    meter.bySpeed += speed * share;
    meter.byPositions += positions * share;
  }
  meter.stretch = [0, 0];
  meter.whole = true;
  meter.stepped = true;
  return step;
}

/** Records that the odometer was unchanged at `at`. */
export function holdOdometer(meter: Meter, at: number): void {
  if (meter.odometer !== null) meter.odometer.at = Math.max(meter.odometer.at, at);
}

export interface Leg {
  /** True if the car has left its previous position, and not by a leap. */
  readonly moved: boolean;
  /** True if the car is still at its previous position. */
  readonly stayed: boolean;
  /** Distance in km that no other measure has counted. */
  readonly gone: number;
}

/** Adds a fix and returns the leg since the previous one. */
export function readFix(meter: Meter, place: { latitude: number; longitude: number }, at: number): Leg {
  const before = meter.fix;
  meter.known = true;
  if (before === null) {
    meter.fix = { ...place, at, seen: at };
    return { moved: false, stayed: false, gone: 0 };
  }
  const metres = distance(before, place);
  if (metres < DRIFT) {
    return { moved: false, stayed: holdFix(meter, at), gone: 0 };
  }
  meter.fix = { ...place, at, seen: at };
  if (metres > DRIFT + FASTEST * 1e6 * Math.max(1, (at - before.seen) / 1000))
    return { moved: false, stayed: false, gone: 0 };
  const covered = meter.speed !== null && meter.speed.at > before.seen;
  const gone = covered ? 0 : metres / 1000;
  meter.stretch[1] += gone;
  return { moved: true, stayed: false, gone };
}

/** Records that the position was unchanged at `at`. Returns true if this lasted long enough to count as standing. */
export function holdFix({ fix }: Meter, at: number): boolean {
  if (fix === null) return false;
  fix.seen = Math.max(fix.seen, at);
  return fix.seen - fix.at >= STANDS;
}

/** Discards the last reading of a measure as the base for its next one. */
export function forget(meter: Meter, measure: 'speed' | 'odometer' | 'fix'): void {
  if (measure === 'odometer') settleStretch(meter);
  meter[measure] = null;
}

/** Counts the stretch by speed and positions: the odometer can no longer measure it. */
function settleStretch(meter: Meter): void {
  meter.bySpeed += meter.stretch[0];
  meter.byPositions += meter.stretch[1];
  meter.stretch = [0, 0];
  meter.whole = true;
  meter.stepped = false;
}

/** Moves all times `by` ms later, because the clock was behind. */
export function correctMeter(meter: Meter, by: number): void {
  if (meter.speed !== null) meter.speed.at += by;
  if (meter.odometer !== null) meter.odometer.at += by;
  if (meter.fix === null) return;
  meter.fix.at += by;
  meter.fix.seen += by;
}
