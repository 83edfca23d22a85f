/**
 * The same car is the same car: everything that can be read of it answers the same at its own interface and at the hub,
 * except the differences in {@link allowed}.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bases, type Operation, type Side, sides } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { rightBodies } from '../../rig/interface-bodies.ts';
import { type Difference, InterfacePairs } from '../../rig/interface-pairs.ts';
import { SameCar } from '../same-car.ts';

interface AllowedDifference {
  readonly name: string;
  readonly reason: string;
  readonly includes: (one: Difference) => boolean;
}

/** The only differences. Both servers also name themselves, their pages, and the things that they make, differently. */
const allowed: readonly AllowedDifference[] = [
  {
    name: 'end of the open trip',
    reason: 'the hub has the open trip as of `updatedAt`, the time of the newest Status',
    includes: ({ operation, place, one, other }) =>
      /\.(fleetTrips|trips)\./.test(operation) &&
      (/(^|\.)(duration|kinetic\.avgSpeed)$/.test(place) || (place.endsWith('updatedAt') && isRecent(one, other))),
  },
  {
    name: 'links of callbacks',
    reason: 'a callback of a hub is for all cars of its owner, so its links to commands and monitors are templates',
    includes: ({ operation, place }) =>
      operation.includes('.callbacks.') && /_links\.(monitors|remotes)\.(href|templated)$/.test(place),
  },
];

/** Longest age of the open trip at the hub, ms: that of Status, and the time that this test lets pass. */
const MAX_TRIP_AGE_MS = 30_000;

function isRecent(car: unknown, hub: unknown): boolean {
  const age = Date.parse(String(car)) - Date.parse(String(hub));
  return age >= 0 && age <= MAX_TRIP_AGE_MS;
}

const starts = { fleet: '/fleets', user: '/user' } as const;
/** Addresses of an operation at most, in each scene. */
const MAX_ADDRESSES = 6;
/** Time in which a command ends, ms. */
const COMMAND_MS = 8_000;
/** Time in which the car reports its doors, ms. */
const UNLOCKED_MS = 2_000;

const same = new SameCar();
/** Ids of things that each server made itself, as [car, hub]. */
const ids: Record<Side, Record<string, readonly [string, string]>> = { fleet: { fid: ['local', 'local'] }, user: {} };
const statuses = new Map<string, Set<string>>();
const found = new Set<AllowedDifference>();

beforeAll(async () => {
  await same.start();
}, 60_000);
afterAll(() => same.close(), 60_000);

function queriesOf(operation: Operation): string[] {
  const valuesOf = (name: string): readonly string[] => {
    const parameter = operation.parameters.find((one) => one.in === 'query' && one.name === name);
    const schema = parameter?.schema as { readonly items?: { readonly enum?: readonly string[] } } | undefined;
    return schema === undefined ? [] : (schema.items?.enum ?? ['']);
  };
  const extensions = valuesOf('extension').join(',');
  return [
    ...(extensions === '' ? [] : [`?extension=${extensions}&locale=fr&country=BR`]),
    ...(valuesOf('pageSize').length === 0 ? [] : ['?pageSize=1']),
    ...(valuesOf('profile').length === 0 ? [] : ['?profile=endUser']),
  ];
}

/** Differences that are not allowed, at most ten. */
async function compared(): Promise<Difference[]> {
  return same.still(async () => {
    const wrong: Difference[] = [];
    const { car, hub } = same.urls;
    for (const side of sides) {
      const options = { servers: [car, hub], side, start: starts[side], ids: ids[side] } as const;
      const pairs = await new InterfacePairs({ ...options, queries: queriesOf, most: MAX_ADDRESSES }).walk();
      for (const [id, own] of pairs.statuses) {
        statuses.set(id, new Set([...(statuses.get(id) ?? []), ...own]));
      }
      for (const one of pairs.differences) {
        const rule = allowed.find(({ includes }) => includes(one));
        if (rule === undefined) wrong.push(one);
        else found.add(rule);
      }
    }
    return wrong.slice(0, 10);
  });
}

interface Sent {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Sends a request of an operation to both servers, `id` without its side; `after` follows each answer. */
async function send(
  side: Side,
  id: string,
  body?: object,
  after = async (): Promise<void> => undefined,
): Promise<Sent[]> {
  const operation = operations.find((one) => one.id === `${side}.${id}`);
  if (operation === undefined) throw new Error(`there is no operation ${side}.${id}`);
  const { method, path, bodyName } = operation;
  const sent: Sent[] = [];
  for (const [server, url] of [same.urls.car, same.urls.hub].entries()) {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[side][name]?.[server as 0 | 1] ?? '');
    const answer = await fetch(`${url}${bases[side]}${filled}`, {
      method,
      ...(bodyName === undefined ? {} : { body: JSON.stringify(body ?? rightBodies[bodyName]) }),
      headers: { 'content-type': 'application/json' },
    });
    const text = await answer.text();
    sent.push({ status: answer.status, json: text === '' ? {} : JSON.parse(text) });
    await after();
  }
  const both = sent.map(({ status }) => status).join(' ');
  statuses.set(operation.id, new Set([...(statuses.get(operation.id) ?? []), both]));
  return sent;
}

/** Makes the same at both servers. `member`: of the answer, with the id; `name`: that of the id in addresses. */
async function make(side: Side, id: string, member: string, name: string, body?: object): Promise<void> {
  const sent = await send(side, id, body, member === 'remoteActionId' ? afterCommand : undefined);
  const [car, hub] = sent.map(({ status, json }) => {
    if (status >= 300) throw new Error(`${side}.${id}: ${status} ${JSON.stringify(json)}`);
    return String(json[member]);
  });
  ids[side][name] = [car ?? '', hub ?? ''];
}

/** Lets a command end, and its effect, so that the command of the other server finds the same car. */
async function afterCommand(): Promise<void> {
  await same.pass(COMMAND_MS);
  await unlock();
}

/** Somebody unlocks the car with a key. */
async function unlock(): Promise<void> {
  same.inject({ locked: false });
  await same.pass(UNLOCKED_MS);
  same.inject({ locked: undefined });
}

/** Commands through the callback of the side. */
function command(side: Side, body: object, name: string): Promise<void> {
  return make(side, 'remotes.create', 'remoteActionId', name, body);
}

const scenes: readonly (readonly [name: string, act: () => Promise<unknown>])[] = [
  ['new', () => same.pass(1_500)],
  [
    'with monitors and callbacks',
    async () => {
      const { json } = await jsonOf('/user/vehicles');
      const vid = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
      for (const name of ['vid', 'id']) for (const side of sides) ids[side][name] = [vid, vid];
      for (const side of sides) {
        await make(side, 'callbacks.create', 'callbackId', 'cbid');
        await make(side, 'monitors.create', 'monitorId', 'mid');
      }
      await same.pass(10_000);
    },
  ],
  [
    'after commands',
    async () => {
      await unlock();
      await command('fleet', { label: 'lock', door: { state: 'Locked' } }, 'locked');
      await command('user', { label: 'lock', door: { state: 'Locked' } }, 'lockedByUser');
    },
  ],
  [
    'driving',
    async () => {
      same.play('drive');
      await same.pass(40_000);
    },
  ],
  [
    'driving, with a refused command and an alert',
    async () => {
      same.inject({ lamps: ['OilPressure', 'EngineFault'] });
      await command('fleet', { label: 'horn', horn: { state: 'Activated' } }, 'refused');
    },
  ],
  [
    'after a trip',
    async () => {
      same.release();
      same.play('park');
      await same.pass(60_000);
    },
  ],
  [
    'charging',
    async () => {
      same.play('charge');
      await same.pass(60_000);
    },
  ],
  [
    'with a siren',
    async () => {
      same.play('alarm');
      await same.pass(15_000);
    },
  ],
  [
    'stolen',
    async () => {
      same.play('theft');
      await same.pass(60_000);
    },
  ],
  [
    'crashed',
    async () => {
      same.play('crash');
      await same.pass(60_000);
    },
  ],
  [
    'private',
    async () => {
      same.play('private');
      await same.pass(60_000);
    },
  ],
  [
    'parked for long',
    async () => {
      same.play('park');
      await same.pass(120_000);
    },
  ],
];

async function jsonOf(path: string, side: Side = 'user', url = same.urls.car): Promise<{ readonly json: unknown }> {
  return { json: await (await fetch(`${url}${bases[side]}${path}`)).json() };
}

describe('a car at its own interface and at the hub', () => {
  test.each(scenes)(
    'is the same car when %s',
    async (_, act) => {
      await act();
      expect(await compared()).toEqual([]);
    },
    120_000,
  );

  test('both refuse a monitor of a signal that the car does not have, for the same reason', async () => {
    const trigger = { name: 'none', data: { data: 'signal.Nope', op: 'greaterThan', value: ['1'] } };
    const body = { ...rightBodies.fleetMonitor, triggerParam: { triggers: [trigger], boolExp: 'none' } };
    const all = [
      ...(await send('fleet', 'monitors.create', body)),
      ...(await send('fleet', 'monitors.create', { ...body, vid: ids.fleet['vid']?.[0] })),
    ];
    const refusals = all.map(({ status, json: { code, message } }) => ({ status, code, message }));
    expect(refusals[0]).toMatchObject({ status: 400, message: expect.stringContaining('Nope') });
    expect(new Set(refusals.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  test('commands succeeded, and one was refused, at both', async () => {
    const statusOf = async (server: 0 | 1, side: Side, name: string): Promise<unknown> => {
      const vehicle = side === 'fleet' ? '/fleets/local/vehicles' : '/user/vehicles';
      const [vid, cbid, rid] = ['vid', 'cbid', name].map((id) => ids[side][id]?.[server]);
      const url = server === 0 ? same.urls.car : same.urls.hub;
      const { json } = await jsonOf(`${vehicle}/${vid}/callbacks/${cbid}/remotes/${rid}`, side, url);
      const { status, failureCause } = json as Record<string, unknown>;
      return failureCause ?? status;
    };
    for (const server of [0, 1] as const) {
      expect(await statusOf(server, 'fleet', 'locked')).toBe('Success');
      expect(await statusOf(server, 'user', 'lockedByUser')).toBe('Success');
      expect(await statusOf(server, 'fleet', 'refused')).toBe('VehicleInUse');
    }
  });

  test('both change and remove monitors and callbacks alike', async () => {
    for (const side of sides) {
      for (const id of ['monitors.setStatus', 'monitors.replace', 'callbacks.setStatus', 'callbacks.replace']) {
        await send(side, id);
      }
      expect(await compared()).toEqual([]);
    }
    for (const side of sides) for (const id of ['monitors.remove', 'callbacks.remove']) await send(side, id);
    expect(await compared()).toEqual([]);
  }, 60_000);

  test('both answer all published operations with success', () => {
    const isGood = (id: string): boolean => [...(statuses.get(id) ?? [])].some((both) => /^(2\d\d) \1$/.test(both));
    expect(operations.map(({ id }) => id).filter((id) => !isGood(id))).toEqual([]);
  });

  test('every allowed difference is found, so that the list does not outlive it', () => {
    expect(allowed.filter((one) => !found.has(one)).map(({ name }) => name)).toEqual([]);
  });

  test('neither reports an error', () => {
    const errors = [...same.log.lines, ...same.hubLog.lines].filter(({ level }) => level === 'error');
    expect(errors).toEqual([]);
  });
});
