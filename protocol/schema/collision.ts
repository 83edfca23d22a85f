import { enumeration, flag, instant, list, optional, quantity, record, required, type Static } from './fields.ts';
import { identity, tripId } from './identity.ts';
import { positionSchema } from './status/position.ts';
import { telemetrySchema } from './telemetry.ts';

export const collisionSides = ['Front', 'Rear', 'Lateral'] as const;
export type CollisionSide = (typeof collisionSides)[number];

/**
 * Minimal: no safety system fired; Minor: the belts were tightened; Major: airbags fired too (interface 3.19.2
 * CollisionDetails.severity).
 */
export const collisionSeverities = ['Minimal', 'Minor', 'Major'] as const;
export type CollisionSeverity = (typeof collisionSeverities)[number];

const detailSchema = record(
  'CollisionDetails',
  {
    side: required(
      1,
      enumeration(collisionSides, { description: 'Where the car was hit. Interface 3.19.2 CollisionDetails.side.' }),
    ),
    severity: optional(
      2,
      enumeration(collisionSeverities, {
        description: 'How hard. Interface 3.19.2 CollisionDetails.severity.',
      }),
    ),
  },
  { description: 'One impact. Interface 3.19.2 CollisionDetails.' },
);

const speedChange = (description: string) =>
  quantity({ unit: 'km/h', resolution: 0.1, minimum: -1000, maximum: 1000, description });

const axis = (description: string) =>
  list(quantity({ unit: 'm/s²', resolution: 0.1, minimum: -5000, maximum: 5000, description }), {
    maxItems: 4096,
    description: 'One value for each sample.',
  });

/** Acceleration around the impact as it was measured, before any filter. */
const pulseSchema = record(
  'CollisionPulse',
  {
    start: required(1, instant({ description: 'Time of the first sample.' })),
    interval: required(
      2,
      quantity({ unit: 'ms', resolution: 0.001, minimum: 0, maximum: 1000, description: 'Time between samples.' }),
    ),
    longitudinal: optional(3, axis('Forward is positive. ISO 8855:2011 §2.11.')),
    lateral: optional(4, axis('Left is positive. ISO 8855:2011 §2.11.')),
    vertical: optional(5, axis('Up is positive, gravity included. ISO 8855:2011 §2.11.')),
  },
  { description: 'Acceleration around the impact.' },
);

/** One collision. Body of a `collision` message. */
export const collisionSchema = record(
  'Collision',
  {
    ...identity,
    details: optional(
      3,
      list(detailSchema, { maxItems: 3, description: 'One for each side hit. Interface 3.19.2 CollisionObj.details.' }),
    ),
    tippedOver: optional(4, flag({ description: 'The car lies over. Interface 3.19.2 Collision.tippedOver.' })),
    pedestrian: optional(5, flag({ description: 'A pedestrian was hit. Interface 3.19.2 Collision.pedestrian.' })),
    tid: optional(6, tripId),
    position: optional(7, positionSchema),
    longitudinalChange: optional(8, speedChange('Change of speed along the car (delta-v), gained is positive.')),
    lateralChange: optional(9, speedChange('Change of speed across the car, to the left is positive.')),
    pulse: optional(10, pulseSchema),
    readings: optional(11, telemetrySchema),
  },
  { description: 'A collision, with the readings around it. Interface 3.19.2 Collision; 7 to 11 are additions.' },
);
export type Collision = Static<typeof collisionSchema>;
