/** Priority classes: which messages are sent first, and dropped last when the outbox is full. */
import { VigieError } from './errors.ts';
import type { Kind } from './schema/kind.ts';

interface PriorityClass {
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** Time in s for which the broker keeps a message for an absent receiver (MQTT 5 message expiry interval). */
  readonly expiry: number;
}

const DAY = 86_400;

/** Classes by number, the highest priority first. Sequence numbers belong to a class: its meaning never changes. */
export const classes: readonly PriorityClass[] = [
  // The interface allows three days for delivering a notification.
  { name: 'results and events', kinds: ['remote', 'event'], expiry: 3 * DAY },
  // Records are stored for two months: a receiver that is absent for longer cannot read them from the store either.
  { name: 'emergencies', kinds: ['alert', 'collision', 'stolen', 'alarm'], expiry: 60 * DAY },
  { name: 'records', kinds: ['trip', 'maintenance', 'fault'], expiry: 60 * DAY },
  { name: 'state', kinds: ['status', 'hello', 'monitor', 'gap', 'catalog', 'text', 'vehicle'], expiry: 60 * DAY },
  { name: 'way', kinds: ['waypoint'], expiry: 60 * DAY },
  { name: 'telemetry', kinds: ['telemetry'], expiry: 60 * DAY },
  { name: 'captures', kinds: ['capture'], expiry: 60 * DAY },
];

const classByKind: ReadonlyMap<Kind, number> = new Map(
  classes.flatMap(({ kinds }, index) => kinds.map((kind) => [kind, index] as const)),
);

/** Returns the number of the class, 0 for the first. */
export function classOf(kind: Kind): number {
  const found = classByKind.get(kind);
  if (found === undefined) throw new VigieError('input.unknown', `the message kind ${kind} has no priority class`);
  return found;
}

/** Returns the time in s after which the broker may drop a message of the class. */
export function expiryOf(priorityClass: number): number {
  const found = classes[priorityClass];
  if (found === undefined) throw new VigieError('input.unknown', `there is no priority class ${priorityClass}`);
  return found.expiry;
}
