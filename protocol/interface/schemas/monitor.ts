import { dataNames } from '../../schema/monitor/data.ts';
import { extensionTypes } from '../../schema/monitor/extensions.ts';
import { monitorParameterSchema } from '../../schema/monitor/parameter.ts';
import type { Side } from '../operation.ts';
import { telemetryTypes } from '../parameters/query.ts';
import { callbackAttributes, fleetDelivery, userAttributes } from './delivery.ts';
import { derived } from './derive.ts';
import { collection, links, relations } from './hal.ts';
import { array, dateTime, extended, integer, type JsonSchema, object, string, without } from './json.ts';

/** Data of triggers that only the fleet side has. Interface 3.19.2 and 4.17.2 DataTrigger.data. */
const fleetData = [
  'vehicle.trip',
  'vehicle.maintenance.daysBeforeMaintenance',
  'vehicle.maintenance.mileageBeforeMaintenance',
  'vehicle.collision.side',
  'vehicle.collision.severity',
  'stolen.state',
];

function triggerData(side: Side): readonly string[] {
  return side === 'fleet' ? dataNames : dataNames.filter((name) => !fleetData.includes(name));
}

/** Extensions of events by side. Interface 3.19.2 and 4.17.2 MonitorParameter.extendedEventParam, TelemetryEnum. */
function eventExtensions(side: Side): readonly string[] {
  const telemetry = telemetryTypes[side].map((name) => `vehicle.telemetry.${name}`);
  const others = side === 'fleet' ? ['vehicle.alarm'] : ['vehicle.collisions', 'vehicle.stolen'];
  return [...extensionTypes.filter((name) => !others.includes(name)), ...telemetry];
}

const refreshEvent = integer('Time after which a monitor that is still true sends its event again. Unit: s.', {
  minimum: 60,
  maximum: 31_536_000,
});

/** Conditions and contents of a monitor: the body of a request, and `monitor` of the response. */
export function monitorParameter(side: Side): JsonSchema {
  const base = without(derived(monitorParameterSchema), 'delivery', 'subscribeParam', 'extendedEventParam');
  const { triggerParam = {} } = base.properties ?? {};
  const common = {
    triggerParam: withData(triggerParam, side),
    extendedEventParam: array(
      string('An extension, or one kind of telemetry.', { enum: eventExtensions(side) }),
      'Further data of an event.',
      { maxItems: 32 },
    ),
  };
  if (side === 'user') {
    const subscribeParam = object(
      'MonitorCallbackSubscribe',
      'Delivery of its events. Interface 4.17.2 MonitorCallbackSubscribe.',
      [],
      { refreshEvent, callbackAttributes },
    );
    return extended(base, 'MonitorParameter', { ...common, subscribeParam, attributes: userAttributes.monitor });
  }
  const subscribeParam = object(
    'MonitorCallbackSubscribe',
    'Delivery of its events. Interface 3.19.2 MonitorCallbackSubscribe.',
    ['callback'],
    { refreshEvent, ...fleetDelivery('monitor') },
  );
  const vid = string('Id of the vehicle that watches; may be a header instead.', { minLength: 1, maxLength: 256 });
  return extended(base, 'MonitorParameter', { ...common, subscribeParam, vid }, ['subscribeParam']);
}

function withData(triggerParam: JsonSchema, side: Side): JsonSchema {
  const { triggers = {} } = triggerParam.properties ?? {};
  const trigger = triggers.items ?? {};
  const { data = {} } = trigger.properties ?? {};
  const { data: names = {} } = data.properties ?? {};
  const all = side === 'fleet' ? without(data, 'signal', 'previous') : without(data, 'signal');
  const named = extended(all, 'DataTrigger', { data: dataName(names.description ?? '', triggerData(side)) });
  const items = extended(withDefaults(trigger), 'MonitorTrigger', { data: named });
  return extended(triggerParam, 'TriggerParam', { triggers: { ...triggers, items } });
}

/** Accepts a published name, or as an addition a custom signal of the car. */
export function dataName(description: string, names: readonly string[]): JsonSchema {
  const signal = string('A custom signal of the car (docs/signals.md). An addition.', { pattern: '^signal\\..' });
  return { description, anyOf: [string('A published name.', { enum: names }), signal] };
}

/** Makes `recurrence` and `timeZone` optional in requests. */
function withDefaults(trigger: JsonSchema): JsonSchema {
  const { time = {} } = trigger.properties ?? {};
  const { times = {}, timeZone = {} } = time.properties ?? {};
  const entry = times.items ?? {};
  const { recurrence = {}, occurence = {} } = entry.properties ?? {};
  const items: JsonSchema = {
    ...entry,
    required: ['start'],
    properties: {
      ...entry.properties,
      recurrence: { ...recurrence, default: 'Daily' },
      occurence: { ...occurence, title: 'TimeTriggerOccurence' },
    },
  };
  const properties = {
    ...time.properties,
    times: { ...times, items },
    timeZone: { ...timeZone, default: 'Europe/Paris' },
  };
  return { ...trigger, properties: { ...trigger.properties, time: { ...time, required: ['times'], properties } } };
}

const monitorId = string('Id of the monitor.');
const dates = { createdAt: dateTime('When it was given.'), updatedAt: dateTime('When it was last changed.') };
const status = string('Whether it watches; `Failed` is never answered.', { enum: ['Running', 'Paused', 'Failed'] });

export function monitor(side: Side): JsonSchema {
  const _links = links('MonitorLinks', side === 'fleet' ? ['fleet', 'vehicle'] : ['vehicle', 'callback']);
  return object(
    'Monitor',
    'A rule that the car watches. Interface 3.19.2 and 4.17.2 Monitor.',
    ['_links', 'monitorId', 'monitor', 'status', 'createdAt', 'updatedAt'],
    { _links, monitorId, monitor: monitorParameter(side), status, ...dates },
  );
}

export function monitors(side: Side): JsonSchema {
  return collection('Monitors', 'monitors', monitor(side), 'Monitors. Interface 3.19.2 Monitors.');
}

export function monitorRef(side: Side): JsonSchema {
  const _links = relations('MonitorRefLinks', side === 'fleet' ? ['fleet', 'monitor'] : ['monitor']);
  return object(
    'MonitorRef',
    'Where the monitor is. Interface 3.19.2 and 4.17.2 MonitorRef.',
    ['monitorId', 'status', 'createdAt', 'updatedAt'],
    { _links, monitorId, status, ...dates },
  );
}

/** Status that a client sets. Interface 3.19.2 MonitorStatusSetter, RemoteCallbacksStatusSetter. */
export const statusSetter = object('StatusSetter', 'Lets it run or pause.', ['status'], {
  status: string('Wanted state.', { enum: ['Running', 'Paused'] }),
});
