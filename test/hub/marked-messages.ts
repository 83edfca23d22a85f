/** Messages of a car with values that a test can find in any text, each under the scope that reveals it. */
import { ownedId } from '../../adapters/http/resources/ids.ts';
import type { BodyKind } from '../../protocol/schema/message.ts';
import { type MessageOptions, NOON, trip } from './messages.ts';

/** Position of the car in all messages. */
export const [LONGITUDE, LATITUDE] = [2.294513, 48.858415];

/** Values by scope. No answer may contain a value without that scope. No time of day matches one. */
export const marks: Readonly<Record<string, RegExp>> = {
  'data:position': /48\.8584|2\.2945/,
  'data:telemetry': /57\.31(?!\d)|98765\.4|P0143/,
  'data:trip': /777\.77/,
  'data:alert': /AdBlueFault/,
  'data:collision': /-43\.2/,
};

export const position = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [LONGITUDE, LATITUDE] },
  properties: { createdAt: NOON, heading: 90, type: 'Acquire' },
} as const;

/** Id of the private monitor of the user `ada`. */
export const PRIVATE_MONITOR = ownedId('user:ada', '11111111-1111-4111-8111-111111111111');
/** Id of a monitor of the fleet `north`. */
export const FLEET_MONITOR = ownedId('fleet:north', '22222222-2222-4222-8222-222222222222');
/** Text in events of the private monitor. */
export const PRIVATE = 'adas-own-trigger';

export const monitorEvent = (id: string, monitorId: string, trigger: string): object => ({
  id,
  monitorId,
  at: NOON,
  refresh: false,
  triggers: [trigger],
  values: [{ data: 'vehicle.kinetic.speed', literal: '57.31' }],
  extensions: [{ type: 'vehicle.position', status: { lastPosition: position } }],
});

type Marked = readonly [kind: BodyKind, body: object, options: MessageOptions];

const contents = {
  kinetic: { createdAt: NOON, speed: 57.31 },
  odometer: { createdAt: NOON, mileage: 98765.4 },
  lastPosition: position,
  alarm: { trigger: { createdAt: NOON, type: 'HoodDoorBreakIn', startAt: NOON, position } },
};

const fault = {
  createdAt: NOON,
  active: true,
  code: 'P0143',
  unit: '7E8',
  group: 'Powertrain',
  status: ['Stored'],
  firstSeenAt: NOON,
  lastSeenAt: NOON,
};

/** In the order of sending. Numbers count separately within each message class. */
export const markedMessages: readonly Marked[] = [
  ['status', { full: true, status: contents }, { seq: 0 }],
  [
    'trip',
    trip('aa01', {
      done: true,
      stoppedAt: NOON,
      startPosition: position,
      stopPosition: position,
      distance: 777.77,
    } as object),
    { seq: 0 },
  ],
  [
    'alert',
    {
      id: 'aa02',
      createdAt: NOON,
      startedAt: NOON,
      type: 'AdBlueFault',
      active: true,
      startPosition: position,
      tid: 'aa01',
    },
    { seq: 0 },
  ],
  ['collision', { id: 'aa03', createdAt: NOON, position, longitudinalChange: -43.2 }, { seq: 1 }],
  [
    'alarm',
    { id: 'aa04', createdAt: NOON, trigger: { createdAt: NOON, type: 'HoodDoorBreakIn', startAt: NOON, position } },
    { seq: 2 },
  ],
  ['stolen', { id: 'aa05', createdAt: NOON, state: true, startedAt: NOON, startPosition: position }, { seq: 3 }],
  ['fault', { ...fault, id: 'aa06' }, { seq: 1 }],
  ['maintenance', { id: 'aa09', createdAt: NOON, daysBeforeMaintenance: 30 }, { seq: 2 }],
  ['event', monitorEvent('aa07', PRIVATE_MONITOR, PRIVATE), { seq: 0 }],
  ['event', monitorEvent('aa08', FLEET_MONITOR, 'north-trigger'), { seq: 1 }],
];
