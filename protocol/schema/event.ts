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
  'One value: exactly one of literal, alerts, collision. Interface 3.18.0 MonitorEvent.values.',
  {
    data: required(1, enumeration('Data of the triggers. Interface 3.18.0 MonitorEvent.values.', dataCodes)),
    literal: optional(2, text('Its value. Interface 3.18.0 …value.body.literalValue.', { maxLength: 1024 })),
    alerts: optional(
      3,
      list('Of vehicle.alert. Interface 3.18.0 …value.body.objectValues.', alertSchema, { maxItems: 128 }),
    ),
    collision: optional(4, collisionSchema),
    previous: optional(5, text('Value before, of a trigger with `previous`. Interface 4.16.0.', { maxLength: 1024 })),
    signal: optional(6, text('Name of the custom signal, where `data` is `signal`. An addition.')),
  },
);
export type EventValue = Static<typeof valueSchema>;

const extensionSchema = record(
  'EventExtension',
  'Requested data beside the values: `status` for doorsState, status, position and telemetry, otherwise the member of its name. Without content the car knows no value. Interface 3.18.0 MonitorEvent.extensions.',
  {
    type: required(1, enumeration('Interface 3.18.0 MonitorEvent.extensions.type.', extensionTypes)),
    section: optional(2, enumeration('Requested part of telemetry. TelemetryEnum.', Object.keys(telemetrySections))),
    status: optional(3, statusContentsSchema),
    maintenance: optional(4, maintenanceSchema),
    alerts: optional(5, list('Alerts that are active.', alertSchema, { maxItems: 128 })),
    collision: optional(6, collisionSchema),
    trip: optional(7, tripSchema),
    stolen: optional(8, theftSchema),
    alarm: optional(9, alarmRecordSchema),
  },
);
export type EventExtension = Static<typeof extensionSchema>;

/** Body of an `event` message: the expression of a monitor has become true, or still is. */
export const eventSchema = record(
  'MonitorEvent',
  'Event of a monitor. Interface 3.18.0 MonitorEvent, 4.16.0 MonitorEvent.',
  {
    id: required(1, recordId),
    monitorId: required(2, monitorId),
    at: required(3, instant('When. Interface 3.18.0 MonitorEvent.eventDate.')),
    refresh: required(
      4,
      flag('The event was sent before and its condition is still true. Interface 3.18.0 MonitorEvent.refresh.'),
    ),
    triggers: optional(
      5,
      list('Triggers that are true. An addition.', text('A name.', { maxLength: 64 }), { maxItems: 5 }),
    ),
    values: optional(6, list('Values watched. Interface 3.18.0 MonitorEvent.values.', valueSchema, { maxItems: 5 })),
    extensions: optional(7, list('Interface 3.18.0 MonitorEvent.extensions.', extensionSchema, { maxItems: 32 })),
    telemetry: optional(8, telemetrySchema),
    complement: optional(
      9,
      flag('Not an event of its own: `telemetry` has the readings after the event with this id. An addition.'),
    ),
  },
);
export type MonitorEvent = Static<typeof eventSchema>;
