/** Data that tokens with single scopes can read, under `/vigie/v1` and on the published fleet interface. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataScopes, scopeNames } from '../../../protocol/interface/operations/scopes.ts';
import { EventClient } from '../../rig/event-stream.ts';
import { FLEET_MONITOR, markedMessages, marks, monitorEvent, PRIVATE, PRIVATE_MONITOR } from '../marked-messages.ts';
import { NORTH, RegisteredHub } from '../registered-hub.ts';

const rig = new RegisteredHub();
const car = `/vigie/v1/vehicles/${NORTH}`;
const navigate = { navigation: { positions: [{ coordinates: [2.294513, 48.858415] }] } };

beforeAll(async () => {
  await rig.start();
  await rig.publish(NORTH, ...markedMessages);
  const all = await rig.bearer({ fleets: ['north'], scopes: scopeNames });
  expect((await rig.ask(`${car}/remotes`, all, navigate)).status).toBe(202);
});
afterAll(() => rig.remove());

const kinds = (body: { events: { kind: string }[] }): string[] =>
  [...new Set(body.events.map(({ kind }) => kind))].sort();

test('a token without the scope of the data reads no positions, values, faults or numbers under /vigie/v1', async () => {
  for (const grant of [{ name: 'ada' }, { fleets: ['north'] }]) {
    const trips = await rig.bearer({ ...grant, scopes: ['data:trip'] });
    for (const path of [
      '/vigie/v1/positions',
      `${car}/values`,
      `${car}/numbers`,
      `${car}/remotes`,
      '/vigie/v1/faults',
    ]) {
      expect([path, (await rig.ask(path, trips)).status]).toEqual([path, 403]);
    }
    const [own] = (await rig.ask('/vigie/v1/vehicles', trips)).body.vehicles;
    expect(Object.keys(own).sort()).toEqual(['heard', 'missing', 'vin']);
  }
});

test('answers contain data only with its scope, on every route', async () => {
  const paths = [
    '/vigie/v1/vehicles?sort=-speed',
    '/vigie/v1/positions',
    '/vigie/v1/events',
    '/vigie/v1/faults',
    ...['values', 'remotes', 'faults', 'monitors', 'numbers', 'car'].map((rest) => `${car}/${rest}`),
    ...['vehicles', 'status', 'trips', 'alerts', 'collisions', 'maintenances'].map((rest) => `/fleets/north/${rest}`),
  ];
  for (const grant of [{ name: 'ada' }, { fleets: ['north'] }]) {
    for (const held of [...dataScopes, ...scopeNames.filter((one) => one.startsWith('remote:'))]) {
      const token = await rig.bearer({ ...grant, scopes: [held] });
      const texts = await Promise.all(paths.map(async (path) => JSON.stringify((await rig.ask(path, token)).body)));
      for (const [scope, mark] of Object.entries(marks)) {
        const shown = paths.filter((_, index) => mark.test(texts[index] ?? ''));
        if (scope !== held) expect([grant, held, scope, shown]).toEqual([grant, held, scope, []]);
        else if (scope !== 'data:position' || 'fleets' in grant) expect([held, shown]).not.toEqual([held, []]);
      }
    }
  }
});

test('events need the scope of their data, and coordinates need data:position', async () => {
  const read = async (scopes: readonly string[]) =>
    (await rig.ask('/vigie/v1/events', await rig.bearer({ fleets: ['north'], scopes }))).body;
  expect(kinds(await read(['data:trip']))).toEqual(['trip']);
  expect(kinds(await read(['data:alert']))).toEqual(['alert']);
  expect(kinds(await read(['data:telemetry']))).toEqual(['alarm', 'fault', 'maintenance', 'stolen']);
  const all = await read(dataScopes);
  expect(kinds(all)).toEqual(['alarm', 'alert', 'collision', 'event', 'fault', 'maintenance', 'stolen', 'trip']);
  expect(JSON.stringify(all)).toMatch(marks['data:position'] as RegExp);
});

test('destinations in the audit trail need data:position', async () => {
  const read = async (scopes: readonly string[]) =>
    (await rig.ask(`${car}/remotes`, await rig.bearer({ fleets: ['north'], scopes }))).body.remotes;
  expect(await read(['data:telemetry', 'data:position'])).toMatchObject([
    { type: 'Navigation', body: navigate.navigation },
  ]);
  const [{ type, body, remoteActionId }] = await read(['data:telemetry']);
  expect([type, body]).toEqual(['Navigation', {}]);
  const one = await rig.ask(
    `${car}/remotes/${remoteActionId}`,
    await rig.bearer({ fleets: ['north'], scopes: ['data:telemetry'] }),
  );
  expect([one.status, one.body.body]).toEqual([200, {}]);
});

test('live streams send only data within the scopes of the token', async () => {
  const token = await rig.bearer({ fleets: ['north'], scopes: ['data:telemetry'] });
  const all = await rig.bearer({ fleets: ['north'], scopes: dataScopes });
  const open = (path: string, authorization: string) =>
    EventClient.open(`${rig.hub.interface.url}${path}`, { authorization, 'last-event-id': '1' });
  const clients = [
    await open('/vigie/v1/live', token),
    await open(`${car}/live`, token),
    await open('/vigie/v1/live', all),
    await open(`${car}/live`, all),
  ];
  const [end] = [['fault', { ...(markedMessages[6]?.[1] as object), id: 'bb01' }, { seq: 5 }]] as const;
  await rig.publish(NORTH, end);
  for (const client of clients) await client.until(({ name, data }) => name === 'event' && data.body.id === 'bb01');
  await clients[1]?.until(({ name, data }) => name === 'change' && data.path === 'odometer.mileage');
  await clients[3]?.until(({ name, data }) => name === 'change' && data.path === 'lastPosition.latitude');
  for (const [index, { events }] of clients.entries()) {
    const text = JSON.stringify(events);
    expect([index, text.includes(PRIVATE)]).toEqual([index, false]);
    for (const scope of ['data:position', 'data:trip', 'data:alert']) {
      const mark = marks[scope] as RegExp;
      expect([index, scope, mark.test(text)]).toEqual([index, scope, index >= 2]);
    }
  }
  await Promise.all(clients.map((client) => client.close()));
});

test('events of a private monitor are visible to its user and to no fleet, whatever its rights', async () => {
  const monitors = async (grant: object) => {
    const { body } = await rig.ask('/vigie/v1/events', await rig.bearer({ scopes: scopeNames, ...grant }));
    return body.events.flatMap((one: { kind: string; body: { monitorId: string } }) =>
      one.kind === 'event' ? [one.body.monitorId] : [],
    );
  };
  expect(await monitors({ fleets: ['north'] })).toEqual([FLEET_MONITOR]);
  expect(await monitors({ name: 'ada' })).toEqual([PRIVATE_MONITOR]);
  const stream = await EventClient.open(`${rig.hub.interface.url}/vigie/v1/live`, {
    authorization: await rig.bearer({ fleets: ['north'], scopes: scopeNames }),
  });
  await rig.publish(
    NORTH,
    ['event', monitorEvent('bb02', PRIVATE_MONITOR, PRIVATE), { seq: 2 }],
    ['event', monitorEvent('bb03', FLEET_MONITOR, 'north-trigger'), { seq: 3 }],
  );
  await stream.until(({ data }) => data.body?.id === 'bb03');
  expect(stream.events.map(({ data }) => data.body.id)).toEqual(['bb03']);
  await stream.close();
});

test('requesting missing messages and changing monitors or callbacks of a fleet need their own rights', async () => {
  const reader = await rig.bearer({ fleets: ['north'], scopes: scopeNames });
  expect((await rig.ask(`${car}/resend`, reader, undefined, 'POST')).status).toBe(403);
  expect((await rig.ask('/fleets/north/monitors', reader, {})).status).toBe(403);
  expect((await rig.ask('/fleets/north/remote/callbacks', reader, {})).status).toBe(403);
  const sender = await rig.bearer({ fleets: ['north'], scopes: ['hub:resend:write'] });
  expect((await rig.ask(`${car}/resend`, sender, undefined, 'POST')).status).toBe(202);
});

test('a restricted fleet token neither creates nor sees monitors of positions', async () => {
  const position = {
    label: 'home',
    subscribeParam: { callback: { webhook: { target: 'https://hooks.example/', name: 'hooks' } } },
    triggerParam: {
      triggers: [{ name: 't', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } }],
      boolExp: 't',
    },
    extendedEventParam: ['vehicle.position'],
  };
  const restricted = await rig.bearer({ fleets: ['north'], scopes: ['data:telemetry', 'hub:monitor:write'] });
  const whole = await rig.bearer({ fleets: ['north'], scopes: [...dataScopes, 'hub:monitor:write'] });
  const made = await rig.ask('/fleets/north/monitors', whole, position);
  expect(made.status).toBe(202);
  const refused = await rig.ask('/fleets/north/monitors', restricted, position);
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('data:position')]);
  expect((await rig.ask('/fleets/north/monitors', restricted)).body.total).toBe(0);
  expect((await rig.ask('/fleets/north/monitors', whole)).body.total).toBe(1);
  const { monitorId } = made.body;
  expect((await rig.ask(`/fleets/north/monitors/${monitorId}`, restricted, undefined, 'DELETE')).status).toBe(404);
  expect(
    (await rig.ask(`${car}/monitors`, restricted)).body.monitors.filter(
      (one: { label?: string }) => one.label !== undefined,
    ),
  ).toEqual([]);
  expect((await rig.ask(`${car}/monitors`, whole)).body.monitors).toMatchObject([{ label: 'home' }]);
  expect((await rig.ask(`/fleets/north/monitors/${monitorId}`, whole, undefined, 'DELETE')).status).toBe(204);
});
