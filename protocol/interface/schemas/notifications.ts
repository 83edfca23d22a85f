/** Bodies of notifications. Their content equals the HTTP interface's response for the same object, without links. */

import { failureCauses } from '../../errors.ts';
import { dataNames } from '../../schema/monitor/data.ts';
import { type ExtensionType, extensionTypes } from '../../schema/monitor/extensions.ts';
import { remoteStatuses } from '../../schema/remote.ts';
import { mapParts, partsOf } from '../../schema/walk.ts';
import type { Side } from '../operation.ts';
import { remoteTypesOf } from './delivery.ts';
import { array, boolean, dateTime, type JsonSchema, object, string, without } from './json.ts';
import { dataName } from './monitor.ts';
import { position } from './position.ts';
import { alarmDetails, alert, collision, maintenance, theft, vin } from './records.ts';
import { status } from './status.ts';
import { telemetry } from './telemetry.ts';
import { trip } from './trip.ts';

/** Kinds of notifications. Interface 3.18.0 MonitorEvents, RemoteEvents; 4.16.0 Message. */
export const notificationKinds = ['fleetMonitor', 'fleetRemote', 'userMonitor', 'userRemote'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

const attributes = array(
  object('NotificationAttribute', 'An attribute whose type is Body.', ['key', 'value'], {
    key: string('Key of the attribute.'),
    value: string('The text, or the value of the variable.'),
  }),
  'Attributes of the callback, the monitor and the command whose type is Body.',
);
const monitorId = string('Id of the monitor.');
const callbackId = string('Id of the callback.');
const remoteActionId = string('Id of the command.');
const eventDate = dateTime('Moment of the event.');

const eventStatus = object(
  'RemoteEventStatus',
  'State of a command. Interface 3.18.0 RemoteEventStatus.',
  ['type', 'status'],
  {
    type: string('Whether the command has ended.', { enum: ['Pending', 'Done'] }),
    status: string('State that the command has reached.', { enum: remoteStatuses }),
    failureCause: string('Cause of the failure, with status Failed.', { enum: failureCauses }),
  },
);
const remoteType = (side: Side): JsonSchema => string('Kind of the command.', { enum: remoteTypesOf(side) });

/** Body of one notification of the fleet side, or one message of the user side. */
export const notificationSchemas: Readonly<Record<NotificationKind, () => JsonSchema>> = {
  fleetMonitor: () => {
    const content = { fleetId: string('Id of the fleet.'), vin, eventDate, ...monitorContent('fleet') };
    const event = object(
      'MonitorEvent',
      'The expression of the monitor is true. Interface 3.18.0 MonitorEvent.',
      ['fleetId', 'vin', 'eventDate', 'values', 'refresh'],
      content,
    );
    return object(
      'MonitorEvents',
      'Events of one monitor. Interface 3.18.0 MonitorEvents.',
      ['monitorId', 'attributes', 'events'],
      { monitorId, attributes, events: array(event, 'Events in order of time.', { minItems: 1 }) },
    );
  },
  fleetRemote: () => {
    const content = { remoteActionId, vin, eventDate, remoteType: remoteType('fleet'), eventStatus };
    const event = object(
      'RemoteEvent',
      'A command has reached a state. Interface 3.18.0 RemoteEvent.',
      Object.keys(content),
      content,
    );
    return object(
      'RemoteEvents',
      'States of commands of one callback. Interface 3.18.0 RemoteEvents.',
      ['callbackId', 'attributes', 'events'],
      { callbackId, attributes, events: array(event, 'Events in order of time.', { minItems: 1 }) },
    );
  },
  userMonitor: () => {
    const event = object(
      'MonitorEvent',
      'The expression of the monitor is true. Interface 4.16.0 MonitorEvent.',
      ['monitorId', 'values', 'refresh'],
      { monitorId, ...monitorContent('user') },
    );
    return message('MonitorMessage', 'Monitor', { monitorEvent: event });
  },
  userRemote: () => {
    const content = { remoteActionId, remoteType: remoteType('user'), eventStatus };
    const event = object(
      'RemoteEvent',
      'A command has reached a state. Interface 4.16.0 RemoteEvent.',
      Object.keys(content),
      content,
    );
    return message('RemoteMessage', 'Remote', { remoteEvent: event });
  },
};

function message(title: string, type: string, event: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return object(
    title,
    'One message of the user side. Interface 4.16.0 Message.',
    ['callbackId', 'attributes', 'type', 'date', ...Object.keys(event)],
    { callbackId, attributes, type: string('Kind of the message.', { enum: [type] }), date: eventDate, ...event },
  );
}

function monitorContent(side: Side): Readonly<Record<string, JsonSchema>> {
  const previous = string('Value before the change, for a trigger with `previous`.');
  const value = {
    type: 'object',
    properties: {
      data: dataName('Data that a trigger watches.', dataNames),
      value: { description: 'Its value at the moment of the event.', anyOf: values(side) },
      ...(side === 'user' ? { previous } : {}),
    },
    required: ['data', 'value'],
  };
  return {
    values: array(value, 'Values of the data that the triggers watch.'),
    extensions: array({ anyOf: extensions(side) }, 'The requested extensions of the monitor; absent without any.'),
    refresh: boolean('Whether an earlier event reported the same and the expression is still true.'),
  };
}

function values(side: Side): JsonSchema[] {
  const literal = string('The value as text.');
  return [
    typed('string', part({ literalValue: literal }, ['literalValue'])),
    typed('obj.alert', part({ objectValues: array(unlinked(alert(side)), 'Alerts.') }, ['objectValues'])),
    typed('obj.collision', part({ objectValues: array(unlinked(collision(side)), 'Collisions.') }, ['objectValues'])),
  ];
}

/** Field and schema of each extension. */
const contents: Readonly<Record<ExtensionType, (side: Side) => Readonly<Record<string, JsonSchema>>>> = {
  'vehicle.doorsState': (side) => ({ doorState: status(side).properties?.['doorsState'] ?? {} }),
  'vehicle.status': (side) => ({ status: status(side) }),
  'vehicle.maintenance': (side) => ({ maintenance: maintenance(side) }),
  'vehicle.position': (side) => ({ position: position(side) }),
  'vehicle.telemetry': (side) => ({ telemetry: telemetry(side) }),
  'vehicle.alerts': (side) => ({ alerts: array(alert(side), 'Active alerts.') }),
  'vehicle.collisions': (side) => ({ collisions: collision(side) }),
  'vehicle.trip': (side) => ({ trip: trip(side) }),
  'vehicle.stolen': (side) => ({ stolen: theft(side) }),
  'vehicle.alarm': (side) => ({ alarm: alarmDetails(side) }),
};

/** The body of an extension is an object on the fleet side, an array on the user side; empty if nothing is known. */
function extensions(side: Side): JsonSchema[] {
  return extensionTypes.map((type) => {
    const body = unlinked(part(contents[type](side)));
    return typed(type, side === 'fleet' ? body : array(body, 'The content.', { maxItems: 1 }));
  });
}

const part = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});

const typed = (type: string, body: JsonSchema): JsonSchema =>
  part({ type: string('Kind of the content.', { enum: [type] }), body }, ['type', 'body']);

/** Returns the schema of a response without links and embedded resources, with another title if that changes it. */
function unlinked(schema: JsonSchema): JsonSchema {
  const bare = schema.properties === undefined ? schema : without(schema, '_links', '_embedded');
  const changed = mapParts(bare, unlinked);
  const [before, after] = [partsOf(schema), partsOf(changed)];
  if (before.length === after.length && before.every((part, index) => part === after[index])) return schema;
  return { ...changed, ...(schema.title === undefined ? {} : { title: `Notified${schema.title}` }) };
}
