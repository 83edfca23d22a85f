/** Filters for lists of records: a car applies them to each record, a hub to database columns. */
import { defined } from '../defined.ts';
import type { AlarmRecord } from '../schema/alarm.ts';
import type { Alert } from '../schema/alert.ts';
import type { Collision } from '../schema/collision.ts';
import type { FaultRecord } from '../schema/fault.ts';
import type { Theft } from '../schema/theft.ts';
import { type Trip, tripBegin, tripState } from '../schema/trip.ts';
import { covers, type Period, type Range } from './parameters.ts';

/** Properties of a record that filters use. */
export interface RecordFacts {
  /** Time for `timestamps`, UTC ms. Never later than the creation of the record. */
  readonly began: number;
  /** Id of the trip during which it occurred. */
  readonly trip?: string;
  /** Only for a trip: distance in km, duration in s. */
  readonly distance?: number;
  readonly duration?: number;
  /**
   * State of a trip, once known; type of an alarm record (interface 3.19.2 AlarmTypeEnum); for a fault code, `true` if
   * it is still reported, otherwise `false`.
   */
  readonly state?: string;
}

/** Selects the records that match all fields. */
export interface RecordFilter {
  /** Ascending and disjoint. */
  readonly periods?: readonly Period[];
  readonly trip?: string;
  readonly distance?: Range;
  readonly duration?: Range;
  readonly states?: readonly string[];
}

/** Returns the properties of a record of a collection, which is named like its message kind. */
export function factsOf(collection: string, record: unknown): RecordFacts {
  const { createdAt: began } = record as { readonly createdAt: number };
  switch (collection) {
    case 'trip':
      return factsOfTrip(record as Trip);
    case 'alert': {
      const { startedAt, tid } = record as Alert;
      return { began: startedAt, ...defined({ trip: tid }) };
    }
    case 'collision': {
      const { tid } = record as Collision;
      return { began, ...defined({ trip: tid }) };
    }
    case 'alarm':
      return {
        began,
        state: (record as AlarmRecord).status === undefined ? 'vehicle.alarm.trigger' : 'vehicle.alarm.status',
      };
    case 'stolen':
      return { began: (record as Theft).startedAt };
    case 'fault':
      return { began, state: String((record as FaultRecord).active) };
    default:
      return { began };
  }
}

function factsOfTrip(trip: Trip): RecordFacts {
  const { done, faults = [], distance, duration } = trip;
  // The state Nominal is known at the end of a trip; a fault is known earlier.
  const isKnown = done === true || faults.length > 0;
  return {
    began: tripBegin(trip),
    ...defined({ distance, duration }),
    ...(isKnown ? { state: tripState(trip) } : {}),
  };
}

/** Returns true if a record matches the filter. */
export function matches(facts: RecordFacts, { periods, trip, distance, duration, states }: RecordFilter): boolean {
  return (
    (periods === undefined || covers(periods, facts.began)) &&
    (trip === undefined || facts.trip === trip) &&
    isWithin(facts.distance, distance) &&
    isWithin(facts.duration, duration) &&
    (states === undefined || (facts.state !== undefined && states.includes(facts.state)))
  );
}

/** Returns undefined if every value is in the range, including one that is not known yet. */
export function boundsOf(range: Range | undefined): Required<Range> | undefined {
  if (range === undefined || (range.min === 0 && range.max === undefined)) return undefined;
  return { min: range.min, max: range.max ?? Number.POSITIVE_INFINITY };
}

/** Both bounds are inclusive. */
function isWithin(value: number | undefined, range: Range | undefined): boolean {
  const bounds = boundsOf(range);
  return bounds === undefined || (value !== undefined && value >= bounds.min && value <= bounds.max);
}
