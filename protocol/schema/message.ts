/** The envelope of every message from the car, and the table of bodies. */
import { alarmRecordSchema } from './alarm.ts';
import { alertSchema } from './alert.ts';
import { captureSchema } from './capture.ts';
import { catalogSchema } from './catalog.ts';
import { collisionSchema } from './collision.ts';
import { count } from './count.ts';
import { eventSchema } from './event.ts';
import { faultSchema } from './fault.ts';
import { enumeration, optional, quantity, record, required, type Static, type TSchema } from './fields.ts';
import { gapSchema } from './gap.ts';
import { helloSchema } from './hello.ts';
import { type Kind, kindSchema, kinds } from './kind.ts';
import { maintenanceSchema } from './maintenance.ts';
import { monitorListSchema } from './monitor.ts';
import { remoteReportSchema } from './remote.ts';
import { statusMessageSchema } from './status-message.ts';
import { telemetrySchema } from './telemetry.ts';
import { textSchema } from './text.ts';
import { theftSchema } from './theft.ts';
import { tripSchema } from './trip.ts';
import { vehicleSchema } from './vehicle.ts';
import { waypointMessageSchema, waypointWireSchema } from './waypoint.ts';

export { type Kind, kinds };

/** Changes if a receiver of the previous version could misread a message. New fields do not change it. */
export const PROTOCOL_VERSION = 1;

/** `boot` counts the agent's starts modulo this, from a random number that identifies the folder of its records. */
export const BOOTS = 2 ** 32;

/** From this value on, `boot` is random: the car could not store the count of its starts. */
export const UNCOUNTED_BOOT: number = BOOTS;

/** From this value on, `boot` is random and the start has no records: its separate message numbers begin at 0. */
export const UNRECORDED_BOOT: number = 2 * BOOTS;

/** Source of the car's wall clock. */
export const clockQualities = ['gnss', 'ntp', 'none'] as const;
export type ClockQuality = (typeof clockQualities)[number];

const envelope = {
  version: required(1, count('Protocol version.', { minimum: 1 })),
  kind: required(2, kindSchema),
  seq: required(3, count('Number of the message within its vehicle and priority class, counting up by one for ever.')),
  boot: required(
    4,
    count(
      'Number of the start of the agent, counted modulo 2^32 from a random number on that is the identity of the folder of records; ' +
        'from 2^32 on a random number, because the disk did not take the count; from 2^33 on a random number, because the disk ' +
        'did not return the records: then `seq` counts from 0 within this start alone.',
    ),
  ),
  // Not an instant: the instants of the body are relative to it.
  at: required(5, quantity('ms', 1, [], 'Time of the message, UTC since 1970.')),
  clock: required(6, enumeration('Source of the car’s time: satellites, a time server, or none yet.', clockQualities)),
  offset: optional(
    8,
    count(
      '`seq` less the first number that this start of the agent gave out in the class. What earlier starts sent under ' +
        'numbers from that first one on were other messages, which the car’s disk did not take.',
    ),
  ),
};

/** Fields of every message. The body has key 7. */
export const envelopeSchema = record('Envelope', 'Begin of every message.', envelope);
export type Envelope = Static<typeof envelopeSchema>;

/** Integer key of `body`, in addition to those of {@link envelopeSchema}. */
export const BODY_KEY = 7;

/** Bodies by kind. */
export const bodies = {
  status: statusMessageSchema,
  telemetry: telemetrySchema,
  waypoint: waypointMessageSchema,
  trip: tripSchema,
  alert: alertSchema,
  collision: collisionSchema,
  maintenance: maintenanceSchema,
  alarm: alarmRecordSchema,
  stolen: theftSchema,
  event: eventSchema,
  remote: remoteReportSchema,
  monitor: monitorListSchema,
  gap: gapSchema,
  hello: helloSchema,
  catalog: catalogSchema,
  fault: faultSchema,
  capture: captureSchema,
  text: textSchema,
  vehicle: vehicleSchema,
} as const satisfies Record<Kind, TSchema>;

export type BodyKind = Kind;
export type Body<K extends BodyKind = BodyKind> = { [B in K]: Static<(typeof bodies)[B]> }[K];

export type Message<K extends BodyKind = BodyKind> = { [B in K]: Envelope & { kind: B; body: Body<B> } }[K];

/** Returns the schema of whole messages of one kind. */
export function messageSchema(kind: BodyKind): TSchema {
  return envelopeWith(kind, bodies[kind]);
}

/** Returns the schema of messages of one kind on the wire, before a message is packed as a whole. */
export function wireSchema(kind: BodyKind): TSchema {
  return envelopeWith(kind, kind === 'waypoint' ? waypointWireSchema : bodies[kind]);
}

function envelopeWith(kind: BodyKind, body: TSchema): TSchema {
  return record(`${kind[0]?.toUpperCase()}${kind.slice(1)}Envelope`, `A message of kind ${kind}.`, {
    ...envelope,
    body: required(BODY_KEY, body),
  });
}
