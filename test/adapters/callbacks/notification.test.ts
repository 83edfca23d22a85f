/** Notifications member by member as the interface publishes them (fleet 3.18.0, user 4.16.0). */
import { describe, expect, test } from 'vitest';
import { pushContent } from '../../../adapters/callbacks/push-content.ts';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import { CallbackRig, vehicle, webhook } from '../../agent/callbacks/rig.ts';

const at = Date.UTC(2026, 0, 1, 12);
const stamp = '2026-01-01T12:00:00.000Z';
const position = {
  type: 'Feature' as const,
  geometry: { type: 'Point' as const, coordinates: [2.35, 48.85] as [number, number] },
  properties: { createdAt: at - 1000, type: 'Acquire' as const, fixStatus: '3D' as const },
};
const shownPosition = { ...position, properties: { ...position.properties, createdAt: '2026-01-01T11:59:59.000Z' } };
const alert = { id: 'a-1', createdAt: at, active: true, type: 'LowFuelLevel', startedAt: at } as never;
const shownAlert = {
  id: 'a-1',
  createdAt: stamp,
  updatedAt: stamp,
  active: true,
  type: 'LowFuelLevel',
  startedAt: stamp,
};

const values: MonitorEvent['values'] = [
  { data: 'vehicle.odometer', literal: '12000.5', previous: '12000' },
  { data: 'vehicle.alert', alerts: [alert] },
  {
    data: 'vehicle.collision.side',
    collision: {
      id: 'c-1',
      createdAt: at,
      details: [{ side: 'Front', severity: 'Minor' }],
      pulse: { start: at, interval: 1, lateral: [1, 2] },
    },
  },
];
const shownCollision = { id: 'c-1', createdAt: stamp, details: [{ side: 'Front', severity: 'Minor' }] };

const extensions: MonitorEvent['extensions'] = [
  { type: 'vehicle.position', status: { lastPosition: position } },
  { type: 'vehicle.doorsState', status: { doorsState: { createdAt: at, lockedStates: ['Locked'] } } },
  { type: 'vehicle.status', status: { odometer: { createdAt: at, mileage: 7 } } },
  {
    type: 'vehicle.telemetry',
    section: 'vehicle',
    status: {
      kinetic: { createdAt: at, speed: 50 },
      privacy: { createdAt: at, state: 'None' },
      lastPosition: position,
    },
  },
  { type: 'vehicle.alerts', alerts: [alert] },
  { type: 'vehicle.trip', trip: { id: 't-1', createdAt: at, done: true } },
  { type: 'vehicle.maintenance' },
];

/** Returns the body of the only notification that `set` causes. */
async function told(set: (rig: CallbackRig) => void): Promise<{ rig: CallbackRig; body: unknown }> {
  const rig = new CallbackRig();
  set(rig);
  await rig.pass(0);
  expect(rig.sent).toHaveLength(1);
  return { rig, body: rig.bodies[0] };
}

const attributes = [
  { type: 'Header', key: 'Authorization', value: 'Bearer abc' },
  { type: 'Body', key: 'monitor', value: '$monitorID' },
  { type: 'Body', key: 'fleet', value: '$fleetID' },
  { type: 'Body', key: 'literal', value: '$unheard' },
  { type: 'Query', key: 'car', value: '$vid' },
];

test('a MonitorEvents notification of the fleet side has the published form', async () => {
  const { rig, body } = await told((rig) => {
    rig.monitor('ab', { subscribeParam: { callback: { webhook: { ...webhook, attributes } } } });
    rig.event('ab', { values, extensions, refresh: true });
  });
  const { vin } = vehicle;
  expect(body).toEqual({
    monitorId: 'ab',
    attributes: [
      { key: 'monitor', value: 'ab' },
      { key: 'fleet', value: 'fleet-1' },
      { key: 'literal', value: '$unheard' },
    ],
    events: [
      {
        fleetId: 'fleet-1',
        vin,
        eventDate: stamp,
        values: [
          { data: 'vehicle.odometer', value: { type: 'string', body: { literalValue: '12000.5' } } },
          { data: 'vehicle.alert', value: { type: 'obj.alert', body: { objectValues: [{ vin, ...shownAlert }] } } },
          {
            data: 'vehicle.collision.side',
            value: { type: 'obj.collision', body: { objectValues: [{ vin, ...shownCollision }] } },
          },
        ],
        extensions: [
          {
            type: 'vehicle.position',
            body: { position: { ...shownPosition, properties: { ...shownPosition.properties, vin } } },
          },
          { type: 'vehicle.doorsState', body: { doorState: { createdAt: stamp, lockedStates: ['Locked'] } } },
          {
            type: 'vehicle.status',
            body: {
              status: {
                vin,
                createdAt: stamp,
                updatedAt: stamp,
                odometer: { createdAt: stamp, mileage: 7 },
                vehicleOdometer: { createdAt: stamp, mileage: 7 },
              },
            },
          },
          {
            type: 'vehicle.telemetry',
            body: { telemetry: { createdAt: stamp, privacy: { state: 'None' }, vehicle: { kinetic: { speed: 50 } } } },
          },
          { type: 'vehicle.alerts', body: { alerts: [{ vin, ...shownAlert }] } },
          { type: 'vehicle.trip', body: { trip: { vin, id: 't-1', createdAt: stamp, done: true } } },
          { type: 'vehicle.maintenance', body: {} },
        ],
        refresh: true,
      },
    ],
  });
  expect(rig.webhooks[0]).toMatchObject({
    url: 'https://receiver.example/events?car=vid-1',
    headers: { authorization: 'Bearer abc' },
  });
});

test('a Message of the user side has the published form', async () => {
  const own = [
    { type: 'Header', key: 'X-Car', value: '$Vin' },
    { type: 'Header', key: 'X-Label', value: '$CallbackLabel' },
    { type: 'Body', key: 'who', value: 'callback' },
  ];
  const { rig, body } = await told((rig) => {
    const { callbackId } = rig.callbacks.add('user', {
      label: 'Téléphone',
      callback: { webhook: { ...webhook, attributes: own } },
    });
    rig.monitor('ab', {
      subscribeParam: { callbackId, callbackAttributes: { webhook: [{ type: 'Body', key: 'who', value: 'channel' }] } },
      attributes: [{ type: 'Body', key: 'label', value: '$MonitorLabel' }],
    });
    rig.event('ab', { values: values.slice(0, 1), extensions: extensions.slice(0, 1) });
  });
  const callbackId = rig.callbacks.list('user')[0]?.callbackId;
  expect(body).toEqual({
    callbackId,
    attributes: [
      { key: 'who', value: 'channel' },
      { key: 'label', value: 'It moves' },
    ],
    type: 'Monitor',
    date: stamp,
    monitorEvent: {
      monitorId: 'ab',
      values: [
        { data: 'vehicle.odometer', value: { type: 'string', body: { literalValue: '12000.5' } }, previous: '12000' },
      ],
      extensions: [{ type: 'vehicle.position', body: [{ position: shownPosition }] }],
      refresh: false,
    },
  });
  expect(rig.webhooks[0]?.headers).toEqual({ 'x-car': vehicle.vin, 'x-label': 'T%C3%A9l%C3%A9phone' });
});

test('a RemoteEvents notification of the fleet side has the published form', async () => {
  const remote = [{ type: 'Body', key: 'what', value: '$remoteType' }];
  const { rig, body } = await told((rig) => {
    const { callbackId } = rig.callbacks.add('fleet', {
      callback: { webhook: { ...webhook, attributes: remote } },
      remoteTypes: ['Horn'],
    });
    rig.callbacks.setOrigin('r-1', { callbackId });
    rig.callbacks.remote({ remoteActionId: 'r-1', type: 'Horn', status: 'SentToVehicle' });
  });
  expect(body).toEqual({
    callbackId: rig.callbacks.list()[0]?.callbackId,
    attributes: [{ key: 'what', value: 'Horn' }],
    events: [
      {
        remoteActionId: 'r-1',
        vin: vehicle.vin,
        eventDate: stamp,
        remoteType: 'Horn',
        eventStatus: { type: 'Pending', status: 'SentToVehicle' },
      },
    ],
  });
});

test('a remoteEvent of the user side has the published form', async () => {
  const { body } = await told((rig) => {
    const { callbackId } = rig.callbacks.add('user', { callback: { webhook } });
    rig.callbacks.setOrigin('r-1', {
      callbackId,
      label: 'close it',
      attributes: [{ type: 'Body', key: 'label', value: '$RemoteLabel' }],
    });
    rig.callbacks.remote({ remoteActionId: 'r-1', type: 'Doors', status: 'Success' });
  });
  expect(body).toMatchObject({
    attributes: [{ key: 'label', value: 'close it' }],
    type: 'Remote',
    date: stamp,
    remoteEvent: { remoteActionId: 'r-1', remoteType: 'Doors', eventStatus: { type: 'Done', status: 'Success' } },
  });
});

test('messages with different headers are posted separately, in their order', async () => {
  const rig = new CallbackRig();
  const { callbackId } = rig.callbacks.add('user', { callback: { webhook } });
  const header = (value: string) => [{ type: 'Header', key: 'x-of', value }];
  rig.monitor('aa', { subscribeParam: { callbackId }, attributes: header('a') });
  rig.monitor('bb', { subscribeParam: { callbackId }, attributes: header('b') });
  const told = ['aa', 'aa', 'bb', 'aa'].map((id) => rig.event(id));
  await rig.pass(0);
  expect(rig.webhooks.map(({ ids, headers }) => [ids, headers['x-of']])).toEqual([
    [told.slice(0, 2), 'a'],
    [told.slice(2, 3), 'b'],
    [told.slice(3), 'a'],
  ]);
});

describe('push', () => {
  const message = { callbackId: 'c', attributes: [], type: 'Monitor', date: stamp, monitorEvent: { monitorId: 'm' } };

  test('a push has a title and text for display', () => {
    const { payload, urgency, ttl } = pushContent(
      'e',
      message,
      { title: 'Hello', body: 'World', deliverypriority: 'high', silent: 'true', ttl: '60' },
      'label',
    );
    expect(JSON.parse(payload)).toEqual({
      id: 'e',
      notification: { title: 'Hello', body: 'World', silent: true },
      message,
    });
    expect([urgency, ttl]).toEqual(['high', 60]);
  });

  test.each(['disablenotificationpayload', 'contentavailable'])('%s: a push displays nothing', (keyword) => {
    const { payload, urgency, ttl } = pushContent('e', message, { [keyword]: 'true', title: 'Hello' }, 'label');
    expect(JSON.parse(payload)).toEqual({ id: 'e', message });
    expect([urgency, ttl]).toEqual(['normal', 259_200]);
  });

  test('a push that is too large drops extensions first, then values', () => {
    const large = 'é'.repeat(1500);
    const event = (extensions: unknown, values: unknown) => ({
      ...message,
      monitorEvent: { monitorId: 'm', values, extensions, refresh: false },
    });
    const whole = event('x', 'y');
    expect(JSON.parse(pushContent('e', whole, {}, 'l').payload)).toMatchObject({ message: whole });
    const lean = JSON.parse(pushContent('e', event([large, large], 'y'), {}, 'l').payload);
    expect(lean).toMatchObject({ shortened: true, message: { monitorEvent: { values: 'y', refresh: false } } });
    expect(lean.message.monitorEvent.extensions).toBeUndefined();
    const bare = JSON.parse(pushContent('e', event([large, large], [large, large]), {}, 'l').payload);
    expect(bare.message.monitorEvent).toEqual({ monitorId: 'm', refresh: false });
    const least = pushContent('e', { ...message, attributes: [large] }, { body: large }, 'l').payload;
    expect(Buffer.byteLength(least)).toBeLessThanOrEqual(3993);
    expect(JSON.parse(least)).toMatchObject({ id: 'e', shortened: true, message: { callbackId: 'c' } });
  });
});
