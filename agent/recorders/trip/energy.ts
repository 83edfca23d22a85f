/**
 * Consumption of one energy by a trip. Fuel: its counter of burnt fuel, which only rises. Electricity: the energy left
 * in the battery, or its level; both fall, rise while the car brakes (which reduces the consumption), and rise while it
 * is charged (which is not a negative consumption).
 */
import type { Trip } from '../../../protocol/schema/trip.ts';
import { members, nullable, type Shape } from './shape.ts';

export type EnergyType = 'Fuel' | 'Electric';
/** Quantities of an energy: level in %; range in km; fuel burnt in cL, or energy left in Wh. */
export const gaugeMembers = ['level', 'autonomy', 'measure'] as const;
export type GaugeMember = (typeof gaugeMembers)[number];

/** Decrease of one quantity of an energy. */
interface Fall {
  /** Decrease since the start of the trip. Negative if more was recovered than used; null if not measured. */
  used: number | null;
  /** Increase since the car has stopped: charging, or a gauge that settles. */
  rise: number;
}

/** One energy of the car. Values that were not read since the car was last silent are null. */
export interface Gauge {
  /** Time of the last reading, trip time in ms. */
  at: number | null;
  level: number | null;
  autonomy: number | null;
  measure: number | null;
  /** Values at the start of the trip. */
  startLevel: number | null;
  startAutonomy: number | null;
  byMeasure: Fall;
  byLevel: Fall;
}

const fallShape = members({ used: nullable('number'), rise: 'number' });
export const gaugeShape: Shape = members({
  at: nullable('number'),
  level: nullable('number'),
  autonomy: nullable('number'),
  measure: nullable('number'),
  startLevel: nullable('number'),
  startAutonomy: nullable('number'),
  byMeasure: fallShape,
  byLevel: fallShape,
});

/** Largest amount of fuel in cL burnt between two readings; a larger difference means another counter. */
const BURNT = 2_000;
/** Smallest rise of a standing car's battery, in Wh and %, that means charging. By a smaller rise it came to rest. */
const CHARGED = { measure: 500, level: 2 };

export function newGauge(): Gauge {
  return {
    at: null,
    level: null,
    autonomy: null,
    measure: null,
    startLevel: null,
    startAutonomy: null,
    byMeasure: { used: null, rise: 0 },
    byLevel: { used: null, rise: 0 },
  };
}

/** Starts a trip. */
export function beginGauge(gauge: Gauge): void {
  gauge.startLevel = gauge.level;
  gauge.startAutonomy = gauge.autonomy;
  gauge.byMeasure = { used: gauge.measure === null ? null : 0, rise: 0 };
  gauge.byLevel = { used: gauge.level === null ? null : 0, rise: 0 };
}

/** The circumstances of a reading. */
interface Circumstances {
  /** State of the car since the previous reading. */
  readonly standing: boolean;
  readonly charging: boolean;
  /** True if the trip has hardly started: a first reading counts as the value at its start. */
  readonly early: boolean;
}

/** Adds a reading. */
export function readGauge(
  type: EnergyType,
  gauge: Gauge,
  member: GaugeMember,
  value: number,
  { standing, charging, early }: Circumstances,
): void {
  const before = gauge[member];
  gauge[member] = value;
  if (member === 'autonomy') {
    if (early) gauge.startAutonomy ??= value;
    return;
  }
  if (member === 'level' && early) gauge.startLevel ??= value;
  const fall = member === 'level' ? gauge.byLevel : gauge.byMeasure;
  fall.used ??= 0;
  if (before === null) return;
  const fallen = before - value;
  if (type === 'Fuel') {
    if (member === 'measure' && fallen < 0 && -fallen <= BURNT) fall.used -= fallen;
  } else if (fallen > 0) {
    const settled = Math.min(fall.rise, fallen);
    fall.rise -= settled;
    fall.used += fallen - settled;
  } else if (!charging) {
    if (standing) fall.rise -= fallen;
    else fall.used += fallen;
  }
}

/** Call when the car drives on after a stop. */
export function departGauge(gauge: Gauge): void {
  for (const member of ['measure', 'level'] as const) {
    const fall = member === 'level' ? gauge.byLevel : gauge.byMeasure;
    if (fall.rise === 0) continue;
    if (fall.used !== null) fall.used -= settledRise(fall, member);
    fall.rise = 0;
  }
}

/** Discards the last reading as the base for the next one. */
export function forgetGauge(gauge: Gauge, member: GaugeMember): void {
  gauge[member] = null;
}

/** Returns the consumption in Wh or cL, or undefined if not measured. `capacity` is that of the full battery in Wh. */
export function consumptionOf(type: EnergyType, gauge: Gauge, capacity: number | undefined): number | undefined {
  const { byMeasure, byLevel } = gauge;
  if (byMeasure.used !== null) return Math.max(0, byMeasure.used - settledRise(byMeasure, 'measure'));
  if (type === 'Fuel' || capacity === undefined || byLevel.used === null) return undefined;
  return Math.max(0, ((byLevel.used - settledRise(byLevel, 'level')) * capacity) / 100);
}

function settledRise(fall: Fall, member: 'measure' | 'level'): number {
  return fall.rise < CHARGED[member] ? fall.rise : 0;
}

/** Returns level and range as the start or end of a trip contains them. */
export function storedEnergy(
  type: EnergyType,
  subType: unknown,
  level: number | null,
  autonomy: number | null,
): NonNullable<Trip['startEnergies']>[number] | undefined {
  if (level === null && autonomy === null) return undefined;
  const stored: Record<string, unknown> = { type };
  if (subType !== undefined) stored['subType'] = subType;
  if (level !== null) stored['level'] = level;
  if (autonomy !== null) stored['autonomy'] = autonomy;
  return stored;
}
