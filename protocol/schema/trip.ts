import { enumeration, flag, instant, list, optional, quantity, record, required, type Static } from './fields.ts';
import { identity } from './identity.ts';
import { energySubTypes, energyTypes } from './status/energy.ts';
import { positionSchema } from './status/position.ts';

const type = enumeration(energyTypes, { description: 'Energy. Interface 3.19.2 EnergyType.' });
const subType = enumeration(energySubTypes, {
  description: 'Kind of fuel or electricity. Interface 3.19.2 EnergySubType.',
});

const km = (description: string, maximum = 10_000_000) =>
  quantity({ unit: 'km', resolution: 0.01, minimum: 0, maximum, description });

const speed = (description: string) =>
  quantity({ unit: 'km/h', resolution: 0.1, minimum: 0, maximum: 500, description });

const storedEnergySchema = record(
  'LiteEnergy',
  {
    type: optional(1, type),
    subType: optional(2, subType),
    level: optional(
      3,
      quantity({
        unit: '%',
        resolution: 0.1,
        minimum: 0,
        maximum: 100,
        description: 'How full. Interface 3.19.2 LiteEnergy.level.',
      }),
    ),
    autonomy: optional(
      4,
      quantity({
        unit: 'km',
        resolution: 1,
        minimum: 0,
        maximum: 10_000,
        description: 'Range on it. Interface 3.19.2 LiteEnergy.autonomy.',
      }),
    ),
  },
  { description: 'How much of an energy was there. Interface 3.19.2 LiteEnergy.' },
);

const consumptionSchema = record(
  'EnergyConsumption',
  {
    consumption: required(
      1,
      quantity({
        unit: 'cL or Wh',
        resolution: 0.1,
        minimum: 0,
        maximum: 100_000_000,
        description: 'Used on the trip: cL of Fuel (cg of Hydrogen), Wh of Electric. Interface 3.19.2 Consumption.',
      }),
    ),
    avgConsumption: optional(
      2,
      quantity({
        unit: 'cL/100km or Wh/100km',
        resolution: 0.1,
        minimum: 0,
        maximum: 100_000_000,
        description: 'Used for 100 km at that rate. Interface 3.19.2 EnergyConsumption.avgConsumption.',
      }),
    ),
    type: required(3, type),
    subType: optional(4, subType),
  },
  { description: 'Consumption of one energy in a trip. Interface 3.19.2 EnergyConsumption.' },
);

export const propulsions = ['Thermal', 'Electric', 'Hybrid'] as const;
export type Propulsion = (typeof propulsions)[number];

const segmentSchema = record(
  'TripSegment',
  {
    propulsion: optional(
      1,
      enumeration(propulsions, { description: 'Propulsion of the car. Interface 3.19.2 TripSegment.propulsion.' }),
    ),
    percent: optional(
      2,
      quantity({
        unit: '%',
        resolution: 0.1,
        minimum: 0,
        maximum: 100,
        description: 'Share of the distance. Interface 3.19.2 TripSegment.percent.',
      }),
    ),
    distance: optional(3, km('Distance driven in this way. Interface 3.19.2 TripSegment.distance.')),
  },
  { description: 'The part of a trip driven by one propulsion. Interface 3.19.2 TripSegment.' },
);

export const tripFaults = ['Unstarted', 'DataLacking', 'Unfinished'] as const;
export type TripFault = (typeof tripFaults)[number];
export const tripFaultCauses = ['GeoPrivacy', 'FullPrivacy', 'Connection'] as const;
export type TripFaultCause = (typeof tripFaultCauses)[number];

const faultSchema = record(
  'TripFault',
  {
    fault: optional(
      1,
      enumeration(tripFaults, {
        description: 'Begin missing, something missing, or end missing. Interface 3.19.2 Trip.faults.fault.',
      }),
    ),
    cause: optional(
      2,
      enumeration(tripFaultCauses, {
        description: 'Privacy, or Connection: the agent or its sources were away. Interface 3.19.2 Trip.faults.cause.',
      }),
    ),
  },
  { description: 'Faults of a trip, and their causes. Interface 3.19.2 Trip.faults.' },
);

/** Where the distance of a trip is from, the best first. */
export const distanceSources = ['Odometer', 'Speed', 'Positions'] as const;
export type DistanceSource = (typeof distanceSources)[number];

/** One trip. Body of a `trip` message: sent at its start and end, and when an open one is taken up again. */
export const tripSchema = record(
  'Trip',
  {
    ...identity,
    done: optional(3, flag({ description: 'It has ended. Interface 3.19.2 Trip.done.' })),
    startedAt: optional(4, instant({ description: 'Begin. Interface 3.19.2 Trip.startedAt.' })),
    stoppedAt: optional(5, instant({ description: 'End. Interface 3.19.2 Trip.stoppedAt.' })),
    startPosition: optional(6, positionSchema),
    stopPosition: optional(7, positionSchema),
    duration: optional(
      8,
      quantity({
        unit: 's',
        resolution: 1,
        minimum: 0,
        maximum: 100_000_000,
        description: 'From begin to end. Interface 3.19.2 Trip.duration.',
      }),
    ),
    distance: optional(9, km('Distance driven. Interface 3.19.2 Trip.distance.')),
    distanceSource: optional(
      10,
      enumeration(distanceSources, { description: 'Where the distance is from; an addition.' }),
    ),
    startMileage: optional(11, km('Odometer at the begin. Interface 3.19.2 Trip.startMileage.')),
    startEnergies: optional(
      12,
      list(storedEnergySchema, { maxItems: 2, description: 'At the begin. Interface 3.19.2 Trip.startEnergies.' }),
    ),
    endEnergies: optional(
      13,
      list(storedEnergySchema, { maxItems: 2, description: 'At the end. Interface 3.19.2 Trip.endEnergies.' }),
    ),
    energyConsumptions: optional(
      14,
      list(consumptionSchema, {
        maxItems: 2,
        description: 'One for each energy used. Interface 3.19.2 Trip.energyConsumptions.',
      }),
    ),
    kinetic: optional(
      15,
      record(
        'TripKinetic',
        {
          avgSpeed: optional(1, speed('Distance by duration. Interface 3.19.2 Trip.kinetic.avgSpeed.')),
          maxSpeed: optional(2, speed('Highest speed read. Interface 3.19.2 Trip.kinetic.maxSpeed.')),
        },
        { description: 'Speeds of the trip. Interface 3.19.2 Trip.kinetic.' },
      ),
    ),
    segments: optional(
      16,
      list(segmentSchema, {
        maxItems: 3,
        description: 'One for each propulsion used. Interface 3.19.2 Trip.segments.',
      }),
    ),
    faults: optional(
      17,
      list(faultSchema, { maxItems: 9, description: 'Absent: a nominal trip. Interface 3.19.2 Trip.faults.' }),
    ),
  },
  { description: 'A trip of the car. Interface 3.19.2 Trip.' },
);
export type Trip = Static<typeof tripSchema>;

export const tripStates = ['Nominal', 'Unstarted', 'DataLacking', 'Unfinished'] as const;
type TripState = (typeof tripStates)[number];

/** The state that filters and triggers know: that of its first fault, Nominal without. Interface 3.19.2 TripStateEnum. */
export function tripState(trip: Trip): TripState {
  return trip.faults?.[0]?.fault ?? 'Nominal';
}

/** When a trip began, UTC ms. */
export function tripBegin({ startedAt, createdAt }: Trip): number {
  return startedAt ?? createdAt;
}
