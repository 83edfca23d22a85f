/** Creates the record of a trip from its state. */
import type { Trip } from '../../../protocol/schema/trip.ts';
import type { StatusReader } from '../../model/status.ts';
import { sourceOf, way } from './distance.ts';
import { consumptionOf, type EnergyType, type Gauge, storedEnergy } from './energy.ts';
import { segmentsOf } from './segments.ts';
import { capacity, energies } from './slots.ts';
import type { OpenTrip, TripFacts, TripState } from './state.ts';

/** Smallest distance in km for a meaningful consumption per 100 km. */
const AVERAGED = 0.5;
/** Limits of the trip schema. */
const LIMIT = { distance: 10_000_000, speed: 500, duration: 100_000_000, consumption: 100_000_000 };

const types: readonly EnergyType[] = ['Fuel', 'Electric'];

/** Returns the content of a trip that ends now. */
export function factsOf(state: TripState, status: StatusReader): TripFacts {
  const facts: TripFacts = { away: state.away };
  const distanceSource = sourceOf(state.meter);
  const distance = way(state.meter);
  if (distanceSource !== undefined) {
    facts.distance = shownDistance(distance);
    facts.distanceSource = distanceSource;
    const segments = segmentsOf(state.shares, facts.distance);
    if (segments !== undefined) facts.segments = segments;
  }
  if (state.maxSpeed !== null) facts.maxSpeed = state.maxSpeed;
  if (state.position !== null) facts.stopPosition = state.position;
  const ends = stored(state, status, ({ level, autonomy }) => [level, autonomy]);
  if (ends !== undefined) facts.endEnergies = ends;
  const consumptions = consumptionsOf(state, status, distance);
  if (consumptions.length > 0) facts.energyConsumptions = consumptions;
  return facts;
}

/** Returns only the distance of {@link factsOf}. */
export function distanceOf({ meter }: TripState): number | undefined {
  return sourceOf(meter) === undefined ? undefined : shownDistance(way(meter));
}

function shownDistance(distance: number): number {
  return Math.min(LIMIT.distance, hundredths(distance));
}

/** Returns the record of the trip in its state at `at`. */
export function recordOf(
  open: OpenTrip,
  state: TripState,
  status: StatusReader,
  facts: TripFacts,
  at: number,
  stoppedAt: number | undefined,
): Trip {
  const { maxSpeed, away, stopPosition, endEnergies, ...measured } = facts;
  const startedAt = Math.round(open.startedAt);
  const end = Math.max(startedAt, Math.round(stoppedAt ?? at));
  const updatedAt = Math.max(Math.round(at), end);
  const createdAt = Math.round(open.createdAt);
  const duration = Math.min(LIMIT.duration, Math.round((end - startedAt) / 1000));
  const record: Trip = { createdAt, id: open.id, done: stoppedAt !== undefined, startedAt, duration, ...measured };
  if (updatedAt > createdAt) record.updatedAt = updatedAt;
  if (open.startPosition !== null) record.startPosition = open.startPosition;
  if (open.startMileage !== null) record.startMileage = open.startMileage;
  const starts = stored(state, status, ({ startLevel, startAutonomy }) => [startLevel, startAutonomy]);
  if (starts !== undefined) record.startEnergies = starts;
  const kinetic = kineticOf(facts, end - startedAt);
  if (kinetic !== undefined) record.kinetic = kinetic;
  if (open.faults.length > 0) record.faults = open.faults.map((fault) => ({ ...fault }));
  if (stoppedAt === undefined) return record;
  record.stoppedAt = end;
  if (stopPosition !== undefined) record.stopPosition = stopPosition;
  if (endEnergies !== undefined) record.endEnergies = endEnergies;
  return record;
}

function kineticOf({ distance, maxSpeed, away }: TripFacts, span: number): Trip['kinetic'] {
  const kinetic: NonNullable<Trip['kinetic']> = {};
  // Time without a measured distance would make the average speed too low.
  const hours = (span - away) / 3_600_000;
  if (distance !== undefined && hours > 0) kinetic.avgSpeed = tenths(Math.min(LIMIT.speed, distance / hours));
  if (maxSpeed !== undefined) kinetic.maxSpeed = tenths(Math.min(LIMIT.speed, maxSpeed));
  return Object.keys(kinetic).length === 0 ? undefined : kinetic;
}

function consumptionsOf(
  state: TripState,
  status: StatusReader,
  distance: number,
): NonNullable<Trip['energyConsumptions']> {
  const full = status.value(capacity);
  const found: NonNullable<Trip['energyConsumptions']> = [];
  for (const type of types) {
    const used = consumptionOf(type, state.gauges[type], typeof full === 'number' ? full : undefined);
    if (used === undefined) continue;
    const consumption = tenths(Math.min(LIMIT.consumption, used));
    const entry: (typeof found)[number] = { consumption, type };
    if (distance >= AVERAGED) entry.avgConsumption = tenths(Math.min(LIMIT.consumption, (used / distance) * 100));
    const subType = status.value(energies[type].subType);
    if (subType !== undefined) Object.assign(entry, { subType });
    found.push(entry);
  }
  return found;
}

function stored(
  state: TripState,
  status: StatusReader,
  pick: (gauge: Gauge) => readonly [level: number | null, autonomy: number | null],
): Trip['startEnergies'] {
  const found: NonNullable<Trip['startEnergies']> = [];
  for (const type of types) {
    const entry = storedEnergy(type, status.value(energies[type].subType), ...pick(state.gauges[type]));
    if (entry !== undefined) found.push(entry);
  }
  return found.length === 0 ? undefined : found;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
