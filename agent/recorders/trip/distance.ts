/**
 * How far a trip was, of three measures at once: steps of the odometer where there are any; the integral of speed
 * before the first step and after the last; positions where nothing else was heard.
 *
 *     begin      first step                 last step     end
 *       ├─ speed ────┼──────── odometer ────────┼── speed ──┤
 *
 * An odometer that counts whole kilometres is exact at the moment of a step and nowhere else, so that this is exact
 * whatever its resolution is.
 */
import type { DistanceSource } from '../../../protocol/schema/trip.ts';
import { distance } from '../../model/position.ts';
import { list, members, nullable, type Shape } from './shape.ts';

/** Km and km/h; times are trip time in ms. */
export interface Meter {
  speed: { at: number; value: number } | null;
  odometer: { at: number; value: number } | null;
  /** The place from which the next leg counts: when the car came there, and when it was last found there. */
  fix: { latitude: number; longitude: number; at: number; seen: number } | null;
  /** Something of the present trip was measured. */
  known: boolean;
  /** By what the way up to the last step of the odometer was measured. */
  byOdometer: number;
  bySpeed: number;
  byPositions: number;
  /** The way since the last step of the odometer, or since the begin, by speed and by positions where speed was silent. */
  stretch: [speed: number, positions: number];
  /** The stretch was measured without a gap. */
  whole: boolean;
  /** The stretch begins at a step of the odometer. */
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

/** No road vehicle is faster, km/ms. */
const FASTEST = 70 / 1e6;
/** How far an odometer of whole miles or kilometres may be ahead of its last reading, km. */
const STEP = 2;
/** Below this a new fix of a standing car is drift of the receiver, m. */
export const DRIFT = 25;
/** A car that has not drifted further for this time stands, ms. */
const STANDS = 10_000;

export function newMeter(): Meter {
  return { speed: null, odometer: null, fix: null, ...nothing() };
}

function nothing() {
  const stretch: Meter['stretch'] = [0, 0];
  return { known: false, byOdometer: 0, bySpeed: 0, byPositions: 0, stretch, whole: true, stepped: false };
}

/** A trip begins; what was read last stays known. */
export function begin(meter: Meter): void {
  Object.assign(meter, nothing());
  meter.known = meter.speed !== null || meter.odometer !== null || meter.fix !== null;
}

/** Km so far. */
export function way(meter: Meter): number {
  return meter.byOdometer + meter.bySpeed + meter.byPositions + meter.stretch[0] + meter.stretch[1];
}

/** Measure of most of the distance. Undefined if nothing was measured. */
export function sourceOf(meter: Meter): DistanceSource | undefined {
  if (!meter.known) return undefined;
  const speed = meter.bySpeed + meter.stretch[0];
  const positions = meter.byPositions + meter.stretch[1];
  if (meter.byOdometer > 0 && meter.byOdometer >= Math.max(speed, positions)) return 'Odometer';
  if (speed > 0 && speed >= positions) return 'Speed';
  if (positions > 0) return 'Positions';
  return meter.speed !== null ? 'Speed' : meter.odometer !== null ? 'Odometer' : 'Positions';
}

/** A reading of the speed, km/h. Returns the distance since the previous reading, km; 0 if that is over `bound` ms ago. */
export function readSpeed(meter: Meter, value: number, at: number, bound: number): number {
  const before = meter.speed ?? { at, value };
  meter.speed = { at, value };
  meter.known = true;
  const span = at - before.at;
  if (span > bound) meter.whole = false;
  if (span <= 0 || span > bound) return 0;
  const gone = (((before.value + value) / 2) * span) / 3_600_000;
  meter.stretch[0] += gone;
  return gone;
}

/** The speed was still the same at `at`. Returns the distance since the previous reading, km. */
export function holdSpeed(meter: Meter, at: number, bound: number): number {
  const { speed } = meter;
  return speed === null || at <= speed.at ? 0 : readSpeed(meter, speed.value, at, bound);
}

/**
 * A reading of the odometer, km. Gives the way by which it stepped on: 0 for the first reading, a step back (a roll-over,
 * another instrument cluster) and a leap that no car can have made since; from such a value it counts anew. What was not
 * measured for over `bound` ms, it bridges.
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
  // Up to the first step the odometer has run through a part of its unit only; more than the unit it cannot have been.
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

/** The odometer still showed the same at `at`. */
export function holdOdometer(meter: Meter, at: number): void {
  if (meter.odometer !== null) meter.odometer.at = Math.max(meter.odometer.at, at);
}

export interface Leg {
  /** The car has left the place, and not by a leap. */
  readonly moved: boolean;
  /** It stands where it was found before. */
  readonly stayed: boolean;
  /** Way that no other measure has counted, km. */
  readonly gone: number;
}

/** A fix. */
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

/** The car was at the same place at `at`. Returns true if it has been there long enough to stand. */
export function holdFix({ fix }: Meter, at: number): boolean {
  if (fix === null) return false;
  fix.seen = Math.max(fix.seen, at);
  return fix.seen - fix.at >= STANDS;
}

/** The last reading of a measure is not a base for its next one. */
export function forget(meter: Meter, measure: 'speed' | 'odometer' | 'fix'): void {
  if (measure === 'odometer') settleStretch(meter);
  meter[measure] = null;
}

/** The odometer cannot say any more how far the stretch was. */
function settleStretch(meter: Meter): void {
  meter.bySpeed += meter.stretch[0];
  meter.byPositions += meter.stretch[1];
  meter.stretch = [0, 0];
  meter.whole = true;
  meter.stepped = false;
}

/** The clock was `by` ms behind. */
export function correctMeter(meter: Meter, by: number): void {
  if (meter.speed !== null) meter.speed.at += by;
  if (meter.odometer !== null) meter.odometer.at += by;
  if (meter.fix === null) return;
  meter.fix.at += by;
  meter.fix.seen += by;
}
