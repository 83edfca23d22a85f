import { alarmRecordSchema } from './alarm.ts';
import { alertSchema } from './alert.ts';
import { collisionSchema } from './collision.ts';
import { enumeration, flag, instant, list, optional, record, required, type Static, text } from './fields.ts';
import { recordId } from './identity.ts';
import { maintenanceSchema } from './maintenance.ts';
import { dataCodes } from './monitor/data.ts';
import { extensionTypes, telemetrySections } from './monitor/extensions.ts';
import { monitorId } from './monitor.ts';
import { statusContentsSchema } from './status.ts';
import { telemetrySchema } from './telemetry.ts';
import { theftSchema } from './theft.ts';
import { tripSchema } from './trip.ts';

const valueSchema = record(
  'EventValue',
  {
    data: required(
      1,
      enumeration(dataCodes, { description: 'Data of the triggers. Interface 3.18.0 MonitorEvent.values.' }),
    ),
    literal: optional(
      2,
      text({ maxLength: 1024, description: 'Its value. Interface 3.18.0 …value.body.literalValue.' }),
    ),
    alerts: optional(
      3,
      list(alertSchema, { maxItems: 128, description: 'Of vehicle.alert. Interface 3.18.0 …value.body.objectValues.' }),
    ),
    collision: optional(4, collisionSchema),
    previous: optional(
      5,
      text({ maxLength: 1024, description: 'Value before, of a trigger with `previous`. Interface 4.16.0.' }),
    ),
    signal: optional(6, text({ description: 'Name of the custom signal, where `data` is `signal`. An addition.' })),
  },
  { description: 'One value: exactly one of literal, alerts, collision. Interface 3.18.0 MonitorEvent.values.' },
);
export type EventValue = Static<typeof valueSchema>;

const extensionSchema = record(
  'EventExtension',
  {
    type: required(1, enumeration(extensionTypes, { description: 'Interface 3.18.0 MonitorEvent.extensions.type.' })),
    section: optional(
      2,
      enumeration(Object.keys(telemetrySections), {
        description: 'Requested part of telemetry. TelemetryEnum.',
      }),
    ),
    status: optional(3, statusContentsSchema),
    maintenance: optional(4, maintenanceSchema),
    alerts: optional(5, list(alertSchema, { maxItems: 128, description: 'Alerts that are active.' })),
    collision: optional(6, collisionSchema),
    trip: optional(7, tripSchema),
    stolen: optional(8, theftSchema),
    alarm: optional(9, alarmRecordSchema),
  },
  {
    description:
      'Requested data beside the values: `status` for doorsState, status, position and telemetry, otherwise the member of its name. Without content the car knows no value. Interface 3.18.0 MonitorEvent.extensions.',
  },
);
export type EventExtension = Static<typeof extensionSchema>;

/** Body of an `event` message: a monitor's expression has become true, or still is. */
export const eventSchema = record(
  'MonitorEvent',
  {
    id: required(1, recordId),
    monitorId: required(2, monitorId),
    at: required(3, instant({ description: 'When. Interface 3.18.0 MonitorEvent.eventDate.' })),
    refresh: required(
      4,
      flag({
        description:
          'The event was sent before and its condition is still true. Interface 3.18.0 MonitorEvent.refresh.',
      }),
    ),
    triggers: optional(
      5,
      list(text({ maxLength: 64, description: 'A name.' }), {
        maxItems: 5,
        description: 'Triggers that are true. An addition.',
      }),
    ),
    values: optional(
      6,
      list(valueSchema, { maxItems: 5, description: 'Values watched. Interface 3.18.0 MonitorEvent.values.' }),
    ),
    extensions: optional(
      7,
      list(extensionSchema, { maxItems: 32, description: 'Interface 3.18.0 MonitorEvent.extensions.' }),
    ),
    telemetry: optional(8, telemetrySchema),
    complement: optional(
      9,
      flag({
        description: 'Not an event of its own: `telemetry` has the readings after the event with this id. An addition.',
      }),
    ),
  },
  { description: 'Event of a monitor. Interface 3.18.0 MonitorEvent, 4.16.0 MonitorEvent.' },
);
export type MonitorEvent = Static<typeof eventSchema>;
