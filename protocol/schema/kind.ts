import { enumeration } from './fields.ts';

/** What a message from the car can be; the order is the wire's, so the list only grows at its end. */
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

/** Kinds whose bodies are records, which have an id, change, and end: each message has the record as it is then. */
export const recordKinds = ['trip', 'alert', 'collision', 'maintenance', 'alarm', 'stolen', 'fault'] as const;
export type RecordKind = (typeof recordKinds)[number];

export const kindSchema = enumeration('Kind of the message; the last level of its topic.', kinds);
