import { enumeration } from './fields.ts';

/** Kinds of messages from the car. The order is that of the wire: append only. */
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
  'vehicle',
] as const;
export type Kind = (typeof kinds)[number];

/** Kinds whose bodies are records, with an id, changes and an end: each message contains the current record. */
export const recordKinds = ['trip', 'alert', 'collision', 'maintenance', 'alarm', 'stolen', 'fault'] as const;
export type RecordKind = (typeof recordKinds)[number];

export const kindSchema = enumeration('Kind of the message; the last level of its topic.', kinds);
