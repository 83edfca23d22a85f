import { enumeration, flag, instant, list, optional, quantity, record, required, type Static } from './fields.ts';
import { identity, tripId } from './identity.ts';
import { positionSchema } from './status/position.ts';
import { telemetrySchema } from './telemetry.ts';

export const collisionSides = ['Front', 'Rear', 'Lateral'] as const;
export type CollisionSide = (typeof collisionSides)[number];

/**
 * Minimal: no safety system was triggered; Minor: the belts were tightened; Major: airbags fired too (interface 3.19.2
 * CollisionDetails.severity).
 */
export const collisionSeverities = ['Minimal', 'Minor', 'Major'] as const;
export type CollisionSeverity = (typeof collisionSeverities)[number];

const detailSchema = record('CollisionDetails', 'One impact. Interface 3.19.2 CollisionDetails.', {
  side: required(1, enumeration('Where the car was hit. Interface 3.19.2 CollisionDetails.side.', collisionSides)),
  severity: optional(2, enumeration('How hard. Interface 3.19.2 CollisionDetails.severity.', collisionSeverities)),
});

const speedChange = (description: string) => quantity('km/h', 0.1, [-1000, 1000], description);

const axis = (description: string) =>
  list('One value for each sample.', quantity('m/s²', 0.1, [-5000, 5000], description), { maxItems: 4096 });

/** Measured acceleration around the impact, before any filter. */
const pulseSchema = record('CollisionPulse', 'Acceleration around the impact.', {
  start: required(1, instant('Time of the first sample.')),
  interval: required(2, quantity('ms', 0.001, [0, 1000], 'Time between samples.')),
  longitudinal: optional(3, axis('Forward is positive. ISO 8855:2011 §2.11.')),
  lateral: optional(4, axis('Left is positive. ISO 8855:2011 §2.11.')),
  vertical: optional(5, axis('Up is positive, gravity included. ISO 8855:2011 §2.11.')),
});

/** One collision. Body of a `collision` message. */
export const collisionSchema = record(
  'Collision',
  'A collision, with the readings around it. Interface 3.19.2 Collision; 7 to 11 are additions.',
  {
    ...identity,
    details: optional(
      3,
      list('One for each side hit. Interface 3.19.2 CollisionObj.details.', detailSchema, { maxItems: 3 }),
    ),
    tippedOver: optional(4, flag('The car lies over. Interface 3.19.2 Collision.tippedOver.')),
    pedestrian: optional(5, flag('A pedestrian was hit. Interface 3.19.2 Collision.pedestrian.')),
    tid: optional(6, tripId),
    position: optional(7, positionSchema),
    longitudinalChange: optional(8, speedChange('Change of speed along the car (delta-v), gained is positive.')),
    lateralChange: optional(9, speedChange('Change of speed across the car, to the left is positive.')),
    pulse: optional(10, pulseSchema),
    readings: optional(11, telemetrySchema),
  },
);
export type Collision = Static<typeof collisionSchema>;
