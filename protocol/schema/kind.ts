import { enumeration } from './fields.ts';

/** Kinds of messages from the car. The order is that of the wire, so new kinds go to the end. */
export const kinds = [
  'status',
  'telemetry',
  'waypoint',
  'trip',
  'alert',
  'collision',
  'maintenance',
  'alarm',
  'stolen',
  'event',
  'remote',
  'monitor',
  'gap',
  'hello',
  'catalog',
  'fault',
  'capture',
  'text',
] as const;
export type Kind = (typeof kinds)[number];

/** Kinds with records as bodies, which have an id, change, and end: each message contains the present record. */
export const recordKinds = ['trip', 'alert', 'collision', 'maintenance', 'alarm', 'stolen', 'fault'] as const;
export type RecordKind = (typeof recordKinds)[number];

export const kindSchema = enumeration('Kind of the message; the last level of its topic.', kinds);
