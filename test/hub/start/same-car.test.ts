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
  /** True for a fault of the hub that is to be mended. */
  readonly fault?: true;
  readonly includes: (one: Difference) => boolean;
}

/** The only differences. Both servers also name themselves, their pages, and the things that they make, differently. */
const allowed: readonly AllowedDifference[] = [
  {
    name: 'time of the vehicle',
    reason: 'the hub states when it heard from the car first, the car nothing',
    fault: true,
    includes: ({ place, one }) => /(^|[vV]ehicles\.\d+\.)createdAt$/.test(place) && one === undefined,
  },
  {
    name: 'capabilities',
    reason: 'the car does not tell its capabilities',
    fault: true,
    includes: ({ place }) => place.includes('extension.onboardCapabilities.'),
  },
  {
    name: 'open trip',
    reason: 'the hub has only the first message of a trip until it ends',
    fault: true,
    includes: ({ operation, place }) => /\.(fleetTrips|trips)\./.test(operation) && /^(?!header|status)/.test(place),
  },
  {
    name: 'links of callbacks',
    reason: 'a callback of a hub is for all cars of its owner, so its links to commands and monitors are templates',
    includes: ({ operation, place }) =>
      operation.includes('.callbacks.') && /_links\.(monitors|remotes)\.(href|templated)$/.test(place),
  },
];

const starts = { fleet: '/fleets', user: '/user' } as const;
/** Addresses of an operation at most, in each scene. */
const MAX_ADDRESSES = 6;
/** Time in which a command ends, ms. */
const COMMAND_MS = 8_000;
/** Time in which the car reports its doors, ms. */
const UNLOCKED_MS = 2_000;

const same = new SameCar();
/** Ids of things that each server made itself, as [car, hub]. */
const ids: Record<Side, Record<string, readonly [string, string]>> = { fleet: {}, user: {} };
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

/** Makes the same at both servers; `name` names its id in links. */
async function make(side: Side, path: string, body: object, member: string, name = member): Promise<void> {
  const made: string[] = [];
  for (const [server, url] of [same.urls.car, same.urls.hub].entries()) {
    const filled = path.replace(/\{(\w+)\}/g, (_, id: string) => ids[side][id]?.[server as 0 | 1] ?? '');
    const answer = await fetch(`${url}${bases[side]}${filled}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    const json = (await answer.json()) as Record<string, string>;
    if (answer.status >= 300) throw new Error(`${url} ${path}: ${answer.status} ${JSON.stringify(json)}`);
    made.push(json[member] ?? '');
    if (member === 'remoteActionId') await afterCommand();
  }
  ids[side][name] = [made[0] ?? '', made[1] ?? ''];
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
async function command(side: Side, body: object, name: string): Promise<void> {
  const vehicle = side === 'fleet' ? '/fleets/local/vehicles/{vid}' : '/user/vehicles/{vid}';
  await make(side, `${vehicle}/callbacks/{cbid}/remotes`, body, 'remoteActionId', name);
}

const scenes: readonly (readonly [name: string, act: () => Promise<unknown>])[] = [
  ['new', () => same.pass(1_500)],
  [
    'with monitors and callbacks',
    async () => {
      const { json } = await jsonOf('/user/vehicles');
      const vid = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
      for (const name of ['vid', 'id']) for (const side of sides) ids[side][name] = [vid, vid];
      await make('fleet', '/fleets/local/remote/callbacks', rightBodies.fleetCallback, 'callbackId', 'cbid');
      await make('fleet', '/fleets/local/monitors', rightBodies.fleetMonitor, 'monitorId', 'mid');
      await make('user', '/user/callbacks', rightBodies.userCallback, 'callbackId', 'cbid');
      const path = '/user/vehicles/{vid}/callbacks/{cbid}/monitors';
      await make('user', path, rightBodies.userMonitor, 'monitorId', 'mid');
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

  test('every operation that reads was compared, with an answer of both', () => {
    const readers = operations.filter(({ method }) => method === 'GET').map(({ id }) => id);
    const unread = readers.filter((id) => statuses.get(id)?.has('200 200') !== true);
    expect(unread).toEqual([]);
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

  test('every allowed difference is found, so that the list does not outlive it', () => {
    expect(allowed.filter((one) => !found.has(one)).map(({ name }) => name)).toEqual([]);
  });

  test('neither reports an error', () => {
    const errors = [...same.log.lines, ...same.hubLog.lines].filter(({ level }) => level === 'error');
    expect(errors).toEqual([]);
  });
});
