import { enumeration, flag, instant, list, optional, quantity, record, required, type Static } from './fields.ts';
import { identity, recordId } from './identity.ts';
import { energySubTypes, energyTypes } from './status/energy.ts';
import { positionSchema } from './status/position.ts';

const type = enumeration('Energy. Interface 3.19.2 EnergyType.', energyTypes);
const subType = enumeration('Kind of fuel or electricity. Interface 3.19.2 EnergySubType.', energySubTypes);

const km = (description: string, maximum = 10_000_000) => quantity('km', 0.01, [0, maximum], description);

const speed = (description: string) => quantity('km/h', 0.1, [0, 500], description);

const storedEnergySchema = record('LiteEnergy', 'How much of an energy was there. Interface 3.19.2 LiteEnergy.', {
  type: optional(1, type),
  subType: optional(2, subType),
  level: optional(3, quantity('%', 0.1, [0, 100], 'How full. Interface 3.19.2 LiteEnergy.level.')),
  autonomy: optional(4, quantity('km', 1, [0, 10_000], 'Range on it. Interface 3.19.2 LiteEnergy.autonomy.')),
});

const consumptionSchema = record(
  'EnergyConsumption',
  'Consumption of one energy in a trip. Interface 3.19.2 EnergyConsumption.',
  {
    consumption: required(
      1,
      quantity(
        'cL or Wh',
        0.1,
        [0, 100_000_000],
        'Used on the trip: cL of Fuel (cg of Hydrogen), Wh of Electric. Interface 3.19.2 Consumption.',
      ),
    ),
    avgConsumption: optional(
      2,
      quantity(
        'cL/100km or Wh/100km',
        0.1,
        [0, 100_000_000],
        'Used for 100 km at that rate. Interface 3.19.2 EnergyConsumption.avgConsumption.',
      ),
    ),
    type: required(3, type),
    subType: optional(4, subType),
  },
);

export const propulsions = ['Thermal', 'Electric', 'Hybrid'] as const;
export type Propulsion = (typeof propulsions)[number];

const segmentSchema = record(
  'TripSegment',
  'The part of a trip driven by one propulsion. Interface 3.19.2 TripSegment.',
  {
    propulsion: optional(
      1,
      enumeration('Propulsion of the car. Interface 3.19.2 TripSegment.propulsion.', propulsions),
    ),
    percent: optional(2, quantity('%', 0.1, [0, 100], 'Share of the distance. Interface 3.19.2 TripSegment.percent.')),
    distance: optional(3, km('Distance driven in this way. Interface 3.19.2 TripSegment.distance.')),
  },
);

export const tripFaults = ['Unstarted', 'DataLacking', 'Unfinished'] as const;
export type TripFault = (typeof tripFaults)[number];
export const tripFaultCauses = ['GeoPrivacy', 'FullPrivacy', 'Connection'] as const;
export type TripFaultCause = (typeof tripFaultCauses)[number];

const faultSchema = record('TripFault', 'Faults of a trip, and their causes. Interface 3.19.2 Trip.faults.', {
  fault: optional(
    1,
    enumeration('Begin missing, something missing, or end missing. Interface 3.19.2 Trip.faults.fault.', tripFaults),
  ),
  cause: optional(
    2,
    enumeration(
      'Privacy, or Connection: the agent or its sources were away. Interface 3.19.2 Trip.faults.cause.',
      tripFaultCauses,
    ),
  ),
});

/** Sources of a trip's distance, best first. */
export const distanceSources = ['Odometer', 'Speed', 'Positions'] as const;
export type DistanceSource = (typeof distanceSources)[number];

/** Fields that change while a trip is open, by the same keys in {@link tripSchema} and {@link openTripSchema}. */
const progress = {
  distance: optional(9, km('Distance driven. Interface 3.19.2 Trip.distance.')),
  distanceSource: optional(10, enumeration('Where the distance is from; an addition.', distanceSources)),
  startMileage: optional(11, km('Odometer at the begin. Interface 3.19.2 Trip.startMileage.')),
  startEnergies: optional(
    12,
    list('At the begin. Interface 3.19.2 Trip.startEnergies.', storedEnergySchema, { maxItems: 2 }),
  ),
  energyConsumptions: optional(
    14,
    list('One for each energy used. Interface 3.19.2 Trip.energyConsumptions.', consumptionSchema, { maxItems: 2 }),
  ),
  kinetic: optional(
    15,
    record('TripKinetic', 'Speeds of the trip. Interface 3.19.2 Trip.kinetic.', {
      avgSpeed: optional(1, speed('Distance by duration. Interface 3.19.2 Trip.kinetic.avgSpeed.')),
      maxSpeed: optional(2, speed('Highest speed read. Interface 3.19.2 Trip.kinetic.maxSpeed.')),
    }),
  ),
  segments: optional(
    16,
    list('One for each propulsion used. Interface 3.19.2 Trip.segments.', segmentSchema, { maxItems: 3 }),
  ),
  faults: optional(17, list('Absent: a nominal trip. Interface 3.19.2 Trip.faults.', faultSchema, { maxItems: 9 })),
};

/** One trip. Body of a `trip` message: sent at its start and end, and when an open trip is restored. */
export const tripSchema = record('Trip', 'A trip of the car. Interface 3.19.2 Trip.', {
  ...identity,
  done: optional(3, flag('It has ended. Interface 3.19.2 Trip.done.')),
  startedAt: optional(4, instant('Begin. Interface 3.19.2 Trip.startedAt.')),
  stoppedAt: optional(5, instant('End. Interface 3.19.2 Trip.stoppedAt.')),
  startPosition: optional(6, positionSchema),
  stopPosition: optional(7, positionSchema),
  duration: optional(8, quantity('s', 1, [0, 100_000_000], 'From begin to end. Interface 3.19.2 Trip.duration.')),
  ...progress,
  endEnergies: optional(
    13,
    list('At the end. Interface 3.19.2 Trip.endEnergies.', storedEnergySchema, { maxItems: 2 }),
  ),
});
export type Trip = Static<typeof tripSchema>;

/**
 * The open trip in a `status` message. Its duration is the time from `startedAt` to `updatedAt`. A `trip` message with
 * `done` supersedes it.
 */
export const openTripSchema = record('TripReport', 'The open trip; absent: no trip is open.', {
  id: optional(1, { ...recordId, description: 'Its id; absent: that of the newest message with an id.' }),
  updatedAt: identity.updatedAt,
  ...progress,
});
export type TripReport = Static<typeof openTripSchema>;

export const progressMembers: readonly (keyof typeof progress)[] = Object.keys(progress) as (keyof typeof progress)[];

/** Returns the present state of a trip with `trip` as its newest message. */
export function presentTrip(trip: Trip, open: TripReport | undefined): Trip {
  if (open === undefined || trip.done === true || open.id !== trip.id) return trip;
  const { updatedAt, ...rest } = open;
  const { startedAt } = trip;
  if (updatedAt === undefined || startedAt === undefined) return { ...trip, ...rest, id: trip.id };
  return { ...trip, ...rest, id: trip.id, updatedAt, duration: Math.round((updatedAt - startedAt) / 1000) };
}

export const tripStates = ['Nominal', 'Unstarted', 'DataLacking', 'Unfinished'] as const;
type TripState = (typeof tripStates)[number];

/** Returns the state for filters and triggers: that of the first fault, or Nominal. Interface 3.19.2 TripStateEnum. */
export function tripState(trip: Trip): TripState {
  return trip.faults?.[0]?.fault ?? 'Nominal';
}

/** Returns the start of a trip, UTC ms. */
export function tripBegin({ startedAt, createdAt }: Trip): number {
  return startedAt ?? createdAt;
}
