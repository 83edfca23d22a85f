/** Every operation of the user side with every relevant set of scopes, with real tokens. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bases, type Operation } from '../../protocol/interface/operation.ts';
import { operations, operationsOf } from '../../protocol/interface/operations.ts';
import { type Answered, InterfaceBench } from '../rig/interface.ts';
import { addressOf, Belongings, type Ids, rightBodies } from '../rig/interface-bodies.ts';
import { Gates } from '../rig/interface-gates.ts';

const [telemetry, position, trip, alert, collision] = [
  'data:telemetry',
  'data:position',
  'data:trip',
  'data:alert',
  'data:collision',
] as const;
const PLUG = 'data:vehicle:devices:pnc';
const data = [telemetry, position, trip, alert, collision];
const remotes = ['door', 'preconditioning', 'horn', 'charging', 'lights', 'wakeup', 'navigation'].map(
  (kind) => `remote:${kind}:write`,
);
const all = [...data, PLUG, ...remotes];

interface Table {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}
/** The order of scopes has no meaning. */
const of = (required: readonly string[], optional: readonly string[] = []): Table => ({
  required: required.toSorted(),
  optional: optional.toSorted(),
});

/** The tables "Scope Name | Mandatory State" of 4.17.2, by operation. */
const published: Readonly<Record<string, Table>> = {
  'user.user.get': of([]),
  'user.vehicles.list': of([], [PLUG]),
  'user.vehicles.get': of([], [PLUG]),
  'user.telemetry.list': of([], [telemetry, position]),
  'user.lastPosition.get': of([position]),
  'user.collisions.list': of([collision]),
  'user.collisions.get': of([collision]),
  'user.maintenance.get': of([telemetry]),
  'user.status.get': of([], [telemetry, position]),
  'user.alerts.list': of([alert], [position]),
  'user.alerts.get': of([alert], [position]),
  'user.alarms.list': of([telemetry]),
  'user.alarms.get': of([telemetry]),
  'user.trips.list': of([trip], [position]),
  'user.trips.get': of([trip], [position]),
  'user.tripAlerts.list': of([trip, alert], [position]),
  'user.tripAlerts.get': of([trip, alert], [position]),
  'user.tripCollisions.list': of([trip, collision]),
  'user.tripCollisions.get': of([trip, collision]),
  'user.tripWaypoints.list': of([trip, position]),
  'user.tripTelemetry.list': of([trip], [telemetry, position]),
  ...Object.fromEntries(
    ['list', 'create', 'get', 'replace', 'remove', 'setStatus'].flatMap((action) => [
      [`user.monitors.${action}`, of([], data)],
      [`user.callbacks.${action}`, of([], [...data, ...remotes])],
    ]),
  ),
  'user.remotes.list': of([], remotes),
  'user.remotes.get': of([], remotes),
  'user.remotes.create': of([], remotes),
};

let bench: InterfaceBench;
let gates: Gates;
let ids: Ids;

beforeAll(async () => {
  gates = await Gates.make();
  bench = await InterfaceBench.start({ http: gates.http });
  const { headers } = await gates.user();
  const { json } = await bench.ask('GET', '/connectedcar/v4/user/vehicles', { headers });
  const id = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
  ids = { id };
  for (const name of ['trips', 'alerts', 'collisions', 'alarms'] as const) {
    const first = await firstOf(`${bases.user}/user/vehicles/${id}/${name}`, headers);
    if (name === 'trips') ids['tid'] = first;
    if (name === 'collisions') ids['cid'] = first;
    if (name === 'alerts') ids['alert'] = first;
    if (name === 'alarms') ids['alarm'] = first;
  }
}, 120_000);
afterAll(async () => {
  await bench.close();
  gates.remove();
});

type Headers = Readonly<Record<string, string>>;
type Page = { readonly _embedded: Readonly<Record<string, readonly { readonly id: string }[]>> };

async function pageOf(address: string, headers: Headers): Promise<readonly { readonly id: string }[]> {
  const { json } = await bench.ask('GET', address, { headers });
  return Object.values((json as Page)._embedded)[0] ?? [];
}

async function firstOf(address: string, headers: Headers): Promise<string> {
  const [first] = await pageOf(address, headers);
  if (first === undefined) throw new Error(`${address} has nothing`);
  return first.id;
}

/** Ids for the operation: a trip with an alert or a collision, and resources created with all scopes. */
async function idsFor({ id: name, tag }: Operation): Promise<Ids> {
  const { headers } = await gates.user();
  const own = { ...ids, aid: (tag === 'Alerts' ? ids['alert'] : ids['alarm']) ?? '' };
  if (name.startsWith('user.trip') && ['Alerts', 'Collisions'].includes(tag)) {
    for (const { id: tid } of await pageOf(`${bases.user}/user/vehicles/${ids['id']}/trips`, headers)) {
      const [found] = await pageOf(
        `${bases.user}/user/vehicles/${ids['id']}/trips/${tid}/${tag.toLowerCase()}`,
        headers,
      );
      if (found !== undefined) return { ...own, tid, [tag === 'Alerts' ? 'aid' : 'cid']: found.id };
    }
  }
  if (!['Monitors', 'Callbacks', 'Remotes'].includes(tag)) return own;
  const mine = new Belongings(bench, 'user', own, headers);
  await mine.callback();
  if (tag === 'Monitors') await mine.monitor();
  if (tag === 'Remotes') await mine.remote();
  return mine.ids;
}

/** Requests the operation with exactly these scopes. */
async function ask(operation: Operation, granted: readonly string[], own?: Ids): Promise<Answered> {
  const { headers } = await gates.user(granted);
  const { method, bodyName } = operation;
  const body = bodyName === undefined ? {} : { body: rightBodies[bodyName] };
  return bench.ask(method, addressOf(operation, own ?? (await idsFor(operation))), { ...body, headers });
}

const done = (operation: Operation): number => Number(Object.keys(operation.answers)[0]);
const userOperations = operationsOf('user').map((operation) => ({
  name: operation.id,
  operation,
  table: published[operation.id] ?? of(['nothing is published']),
}));
const mandatory = userOperations.filter(({ table }) => table.required.length > 0);
const voluntary = userOperations.filter(({ table }) => table.required.length === 0 && table.optional.length > 0);

test('the operations have the published scopes, and the fleet side has none', () => {
  const ours = operations.map(({ id, side, scopes }) => [
    id,
    side === 'fleet' ? undefined : of(scopes.required, scopes.optional),
  ]);
  for (const [id, scopes] of ours) expect([id, scopes]).toMatchObject([id, published[id as string]]);
  for (const { side, scopes } of operations) {
    if (side === 'fleet') expect([...scopes.required, ...scopes.optional]).toEqual([]);
  }
});

describe('operations with mandatory scopes', () => {
  test.each(mandatory)('$name answers with exactly its mandatory scopes', async ({ operation, table }) => {
    const { status, text } = await ask(operation, table.required);
    expect(status, text).toBe(done(operation));
  });

  test.each(mandatory)('$name is refused without any one mandatory scope, whatever else is granted', async (one) => {
    for (const missing of one.table.required) {
      const answer = await ask(
        one.operation,
        all.filter((scope) => scope !== missing),
      );
      expect([missing, answer.status]).toEqual([missing, 403]);
      expect((answer.json as { message: string }).message).toContain(missing);
    }
  });

  test.each(mandatory)('$name is refused with only its optional scopes', async ({ operation, table }) => {
    expect((await ask(operation, table.optional)).status).toBe(403);
    expect((await ask(operation, [])).status).toBe(403);
  });
});

/** Additional scopes that the valid bodies need. */
const needs: Readonly<Record<string, string>> = {
  'user.monitors.create': telemetry,
  'user.monitors.replace': telemetry,
  'user.remotes.create': 'remote:lights:write',
};
/** Scope of the data behind each resource, without which the resource is not found. */
const isOf: Readonly<Record<string, string>> = {
  'user.monitors.get': telemetry,
  'user.monitors.remove': telemetry,
  'user.monitors.setStatus': telemetry,
  'user.monitors.replace': telemetry,
  'user.remotes.get': 'remote:lights:write',
};

describe('operations with optional scopes only', () => {
  test.each(voluntary)(
    '$name answers with any one optional scope, limited to its data',
    async ({ operation, table }) => {
      for (const scope of table.optional) {
        const { status, text } = await ask(operation, [scope]);
        const expected =
          (isOf[operation.id] ?? scope) !== scope
            ? 404
            : (needs[operation.id] ?? scope) !== scope
              ? 403
              : done(operation);
        expect([scope, status], text).toEqual([scope, expected]);
      }
    },
  );

  test.each(voluntary)('$name is refused without any scope', async ({ operation, table }) => {
    const rest = all.filter((scope) => !table.optional.includes(scope));
    // The list of vehicles is not data of the Plug and Charge scope.
    const answer = await ask(operation, rest);
    expect(answer.status, answer.text).toBe(operation.tag === 'Vehicles' ? 200 : 403);
    for (const granted of [[], ['openid', 'profile']]) expect((await ask(operation, granted)).status).toBe(403);
  });
});

test('any token can read the user, and any scope gives access to the vehicles', async () => {
  const operation = operationsOf('user').find(({ id }) => id === 'user.user.get') as Operation;
  const bare = await ask(operation, []);
  expect(bare.status).toBe(200);
  expect(bare.json).not.toHaveProperty('_embedded');
  const { status, json } = await ask(operation, [trip]);
  expect(status).toBe(200);
  expect(json).toMatchObject({ _embedded: { vehicles: [{ id: ids['id'] }] } });
});

describe('data of optional scopes', () => {
  const get = (id: string): Operation => operationsOf('user').find((one) => one.id === id) as Operation;
  const positions = /"(start|stop|end)Position"|"lastPosition":\{"type"|"coordinates"|"location"/;

  test.each([
    'user.trips.list',
    'user.trips.get',
    'user.alerts.list',
    'user.alerts.get',
    'user.tripAlerts.list',
    'user.tripAlerts.get',
  ])('without the position scope %s has no positions', async (id) => {
    const { required } = published[id] as Table;
    const own = await idsFor(get(id));
    const whole = await ask(get(id), [...required, position], own);
    const less = await ask(get(id), required, own);
    expect([whole.status, less.status]).toEqual([200, 200]);
    expect(whole.text).toMatch(positions);
    expect(less.text).not.toMatch(positions);
    // All other members are present.
    expect(Object.keys(less.json as object)).toEqual(
      Object.keys(whole.json as object).filter((name) => !name.endsWith('Position')),
    );
  });

  test('with only one of the scopes, Status has only positions, or everything except positions', async () => {
    const whole = (await ask(get('user.status.get'), [telemetry, position])).json as object;
    const placeless = (await ask(get('user.status.get'), [telemetry])).json as object;
    const place = (await ask(get('user.status.get'), [position])).json as object;
    expect(Object.keys(placeless)).toEqual(Object.keys(whole).filter((name) => name !== 'lastPosition'));
    expect(Object.keys(place).sort()).toEqual(['_links', 'createdAt', 'lastPosition', 'updatedAt']);
  });

  test.each(['user.telemetry.list', 'user.tripTelemetry.list'])(
    'with only one of the scopes, %s has only positions, or everything except positions',
    async (id) => {
      const { required } = published[id] as Table;
      const operation = get(id);
      const { headers } = await gates.user();
      const address = `${addressOf(operation, ids)}?extension=location&pageSize=2000`;
      const whole = await bench.ask('GET', address, { headers });
      expect(whole.text).toMatch(/"location"/);
      const tokenOf = async (granted: readonly string[]) => ({ headers: (await gates.user(granted)).headers });
      const placeless = await bench.ask('GET', address, await tokenOf([...required, telemetry]));
      expect(placeless.text).not.toMatch(positions);
      expect(placeless.text).toContain('"kinetic"');
      const place = await bench.ask('GET', address, await tokenOf([...required, position]));
      expect(place.text).not.toContain('"kinetic"');
      expect(place.text).toMatch(/"location"/);
      if (required.length === 0) return;
      const neither = await bench.ask('GET', address, await tokenOf(required));
      expect([neither.status, (neither.json as { total: number }).total]).toEqual([200, 0]);
    },
  );

  test('lists leave out monitors and commands beyond the granted scopes', async () => {
    const operation = get('user.monitors.list');
    const own = await idsFor(operation);
    const total = async (id: string, granted: readonly string[], at = own): Promise<number> =>
      ((await ask(get(id), granted, at)).json as { total: number }).total;
    expect(await total('user.monitors.list', [telemetry])).toBe(1);
    expect(await total('user.monitors.list', [trip, position])).toBe(0);
    const sent = await idsFor(get('user.remotes.list'));
    expect(await total('user.remotes.list', ['remote:lights:write'], sent)).toBe(1);
    expect(await total('user.remotes.list', ['remote:horn:write'], sent)).toBe(0);
  });
});

test('a token that may not read the data of a callback’s monitors cannot change its address', async () => {
  const own = await idsFor(operationsOf('user').find(({ id }) => id === 'user.monitors.get') as Operation);
  const replace = operationsOf('user').find(({ id }) => id === 'user.callbacks.replace') as Operation;
  const refused = await ask(replace, [trip, ...remotes], own);
  expect([refused.status, (refused.json as { message: string }).message]).toEqual([
    403,
    expect.stringContaining(telemetry),
  ]);
  expect((await ask(replace, [telemetry], own)).status).toBe(202);
});

test('links lead only to operations within the scopes', async () => {
  const operation = operationsOf('user').find(({ id }) => id === 'user.trips.get') as Operation;
  const linksOf = async (granted: readonly string[]): Promise<string[]> =>
    Object.keys(((await ask(operation, granted, ids)).json as { _links: object })._links).sort();
  expect(await linksOf([trip])).toEqual(['self', 'telemetry', 'vehicle']);
  expect(await linksOf([trip, alert])).toEqual(['alerts', 'self', 'telemetry', 'vehicle']);
  expect(await linksOf([trip, position, collision])).toEqual([
    'collisions',
    'self',
    'telemetry',
    'vehicle',
    'waypoints',
  ]);
});
