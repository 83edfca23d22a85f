/** State of the trip recorder. Times are trip time (timeline.ts), UTC ms; null means unknown. */
import { VigieError } from '../../../protocol/errors.ts';
import { energySubTypes, energyTypes } from '../../../protocol/schema/status/energy.ts';
import {
  distanceSources,
  propulsions,
  type Trip,
  type TripFaultCause,
  tripFaultCauses,
  tripFaults,
} from '../../../protocol/schema/trip.ts';
import type { Position } from '../../model/position.ts';
import { correctMeter, type Meter, meterShape, newMeter } from './distance.ts';
import { type EnergyType, type Gauge, gaugeShape, newGauge } from './energy.ts';
import { newShares, type Shares, sharesShape } from './segments.ts';
import { list, members, misfit, nullable, oneOf, type Shape } from './shape.ts';
import type { Timeline } from './timeline.ts';

/** Content of a trip, as if it had ended at this time. */
export type TripFacts = Pick<
  Trip,
  'distance' | 'distanceSource' | 'stopPosition' | 'endEnergies' | 'energyConsumptions' | 'segments'
> & {
  maxSpeed?: number;
  /** Part of its duration, in ms, for which no distance was or will be measured. */
  away: number;
};

/** The car is stopped and not on: the trip has ended here unless driving resumes within the grace time. */
export interface Pause {
  at: number;
  facts: TripFacts;
}

/** A period without data from the car: it is unknown whether it is driven. */
interface Gap {
  /** Last known time. */
  since: number;
  cause: TripFaultCause;
  /** True if the car was stopped and off before. */
  paused: boolean;
  facts: TripFacts;
}

export interface OpenTrip {
  id: string;
  createdAt: number;
  startedAt: number;
  startPosition: Position | null;
  startMileage: number | null;
  faults: NonNullable<Trip['faults']>;
  pause: Pause | null;
  gap: Gap | null;
}

export interface TripState {
  timeline: Timeline;
  /** Time of the last tick. */
  tickAt: number | null;
  /** Times of the last reading of any slot, and of a measure of the distance. */
  heardAt: number | null;
  wayAt: number | null;
  /** Time of the last movement, and time since which the car is not on. */
  movedAt: number | null;
  offAt: number | null;
  /** True if readings have stopped and the data of the parked car is no longer valid. */
  dark: boolean;
  /** Cause of `dark`. The next trip is Unstarted for this cause, unless the car is found at rest before. */
  blind: TripFaultCause;
  /** True if the parked car was at rest since its readings last stopped: the start of the next trip is observed. */
  rest: boolean;
  /** Time since which the parked car is on. */
  on: number | null;
  /** Time since which the parked car is rolling. */
  rolling: number | null;
  /** Present position; null under privacy or before the first position. */
  position: Position | null;
  /** Time of a fix that has not been processed yet. */
  fixAt: number | null;
  /** True if a fix arrived since the readings of the parked car last stopped. */
  fixed: boolean;
  startPosition: Position | null;
  startMileage: number | null;
  meter: Meter;
  gauges: Record<EnergyType, Gauge>;
  shares: Shares;
  /** km/h */
  maxSpeed: number | null;
  /** Part of the trip's duration, in ms, for which no distance was or will be measured. */
  away: number;
  open: OpenTrip | null;
}

export function newState(): TripState {
  return {
    timeline: { last: null, lead: 0, floor: null },
    tickAt: null,
    heardAt: null,
    wayAt: null,
    movedAt: null,
    offAt: null,
    dark: true,
    blind: 'Connection',
    rest: false,
    on: null,
    rolling: null,
    position: null,
    fixAt: null,
    fixed: false,
    startPosition: null,
    startMileage: null,
    meter: newMeter(),
    gauges: { Fuel: newGauge(), Electric: newGauge() },
    shares: newShares(),
    maxSpeed: null,
    away: 0,
    open: null,
  };
}

const position = members({
  type: oneOf(['Feature']),
  geometry: members({ type: oneOf(['Point']), coordinates: list('number') }),
  properties: members({ createdAt: 'number' }),
});

const stored = members({
  type: oneOf(energyTypes),
  subType: { optional: oneOf(energySubTypes) },
  level: { optional: 'number' },
  autonomy: { optional: 'number' },
});

const facts: Shape = members({
  distance: { optional: 'number' },
  distanceSource: { optional: oneOf(distanceSources) },
  stopPosition: { optional: position },
  endEnergies: { optional: list(stored) },
  energyConsumptions: {
    optional: list(
      members({
        type: oneOf(energyTypes),
        subType: { optional: oneOf(energySubTypes) },
        consumption: 'number',
        avgConsumption: { optional: 'number' },
      }),
    ),
  },
  segments: { optional: list(members({ propulsion: oneOf(propulsions), percent: 'number', distance: 'number' })) },
  maxSpeed: { optional: 'number' },
  away: 'number',
});

const cause = oneOf(tripFaultCauses);

const open: Shape = members({
  id: 'text',
  createdAt: 'number',
  startedAt: 'number',
  startPosition: nullable(position),
  startMileage: nullable('number'),
  faults: list(members({ fault: oneOf(tripFaults), cause })),
  pause: nullable(members({ at: 'number', facts })),
  gap: nullable(members({ since: 'number', cause, paused: 'flag', facts })),
});

const time = nullable('number');
const shape: Shape = members({
  timeline: members({ last: time, lead: 'number', floor: time }),
  tickAt: time,
  heardAt: time,
  wayAt: time,
  movedAt: time,
  offAt: time,
  dark: 'flag',
  blind: cause,
  rest: 'flag',
  on: time,
  rolling: time,
  position: nullable(position),
  fixAt: time,
  fixed: 'flag',
  startPosition: nullable(position),
  startMileage: nullable('number'),
  meter: meterShape,
  gauges: members({ Fuel: gaugeShape, Electric: gaugeShape }),
  shares: sharesShape,
  maxSpeed: nullable('number'),
  away: 'number',
  open: nullable(open),
});

interface Kept {
  readonly trip: TripState;
  readonly hearing: {
    readonly since: number | null;
    readonly changed: readonly string[];
    readonly repeated: readonly string[];
  };
}

const keptShape = members({
  trip: shape,
  hearing: members({ since: time, changed: list('text'), repeated: list('text') }),
});

/** Returns the persisted state of an earlier run. Throws `input.malformed` if the value has another form. */
export function keptState(value: unknown): Kept {
  const wrong = misfit(value, keptShape);
  if (wrong === undefined) return value as Kept;
  throw new VigieError('input.malformed', `the open trip is not as it was written: ${wrong}; trips begin anew`);
}

/**
 * Shifts every known time, because the clock was `by` ms behind. Positions may be from an earlier run with a correct
 * clock: only those up to `latest`, the last time of the wrong clock, are shifted; if the clock steps back, only those
 * from the start of the open trip on.
 */
export function correctState(state: TripState, by: number, latest = Number.NEGATIVE_INFINITY): void {
  const moved = (at: number | null): number | null => (at === null ? null : at + by);
  for (const name of ['tickAt', 'heardAt', 'wayAt', 'movedAt', 'offAt', 'on', 'rolling', 'fixAt'] as const) {
    state[name] = moved(state[name]);
  }
  const { meter, open } = state;
  const earliest = by < 0 ? (open?.startedAt ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  const place = <T extends Position | null | undefined>(position: T): T => {
    const at = position?.properties.createdAt;
    return at !== undefined && (at <= latest || at >= earliest)
      ? (movedPosition(position as Position, by) as T)
      : position;
  };
  correctMeter(meter, by);
  for (const gauge of Object.values(state.gauges)) gauge.at = moved(gauge.at);
  state.position = place(state.position);
  state.startPosition = place(state.startPosition);
  if (open === null) return;
  open.startPosition = place(open.startPosition);
  open.createdAt += by;
  open.startedAt += by;
  if (open.pause !== null) open.pause.at += by;
  if (open.gap !== null) open.gap.since += by;
  for (const noted of [open.pause, open.gap]) {
    const stop = place(noted?.facts.stopPosition);
    if (noted !== null && stop !== undefined) noted.facts.stopPosition = stop;
  }
}

function movedPosition(position: Position, by: number): Position {
  const createdAt = Math.round(position.properties.createdAt + by);
  return { ...position, properties: { ...position.properties, createdAt } };
}
