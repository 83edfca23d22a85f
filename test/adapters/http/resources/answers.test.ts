/**
 * Follows every link from the bench car after a day, and checks each answer against the published interface and our own
 * document.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../../../protocol/interface/operation.ts';
import { operations } from '../../../../protocol/interface/operations.ts';
import { AnyCar, happening } from '../../../rig/any-car.ts';
import { recordDay } from '../../../rig/day.ts';
import { runs } from '../../../rig/runs.ts';
import { Reference } from './reference.ts';
import { Asker, carOf, type Json, liveDay, type Reply } from './rig.ts';

const BASE = '/fleets/f1/vehicles/bench%20car%2F1';
const USER = '/user/vehicles/bench%20car%2F1';

const monitor = {
  label: 'cold',
  subscribeParam: { refreshEvent: 60, callback: { webhook: { target: 'https://a.example/', name: 'n' } } },
  triggerParam: {
    triggers: [{ name: 'a', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } }],
    boolExp: 'a',
  },
};
const webhook = {
  webhook: { target: 'https://a.example/', name: 'n', attributes: [{ type: 'Header', key: 'k', value: '$Vin' }] },
};

let asker: Asker;
const callbackIds: Record<string, string> = {};

beforeAll(async () => {
  const life = await liveDay(await recordDay());
  asker = new Asker(carOf({ status: life.agent.status, records: life.store.records, monitors: life.agent.monitors }));
  const fleet = await asker.ask('POST', '/fleets/f1/remote/callbacks', {
    body: {
      label: 'l',
      callback: { webhook: { target: 'https://a.example/', name: 'n' } },
      remoteTypes: ['Doors', 'Lights'],
    },
  });
  const user = await asker.ask('POST', '/user/callbacks', { body: { label: 'l', callback: webhook } });
  callbackIds['fleet'] = fleet.body.callbackId;
  callbackIds['user'] = user.body.callbackId;
  await asker.ask('POST', '/fleets/f1/monitors', { body: monitor });
  const { subscribeParam: _, ...own } = monitor;
  await asker.ask('POST', `${USER}/callbacks/${callbackIds['user']}/monitors`, { body: own });
  for (const base of [`${BASE}/callbacks/${callbackIds['fleet']}`, `${USER}/callbacks/${callbackIds['user']}`]) {
    await asker.ask('POST', `${base}/remotes`, { body: { label: 'l', door: { state: 'Locked' } } });
    await asker.ask('POST', `${base}/remotes`, { body: { lights: { on: true } } });
  }
}, 180_000);

/** Every link of an answer, with the existing ids in its templates. */
function linksIn(value: Json, side: string, callbackIds: Readonly<Record<string, string>>): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (typeof value.href === 'string') {
    if (value.templated !== true) return [value.href];
    if (callbackIds[side] === undefined) return [];
    // The callbacks of this test belong to the first fleet.
    return value.href.includes('/fleets/f2/') ? [] : [value.href.replace('{cbid}', callbackIds[side] ?? '')];
  }
  return Object.values(value).flatMap((member) => linksIn(member, side, callbackIds));
}

/** Follows all links from an address, at most `most` addresses per operation. */
async function crawl(
  start: string,
  most: number,
  asked = asker,
  ids: Readonly<Record<string, string>> = callbackIds,
): Promise<Map<string, Reply[]>> {
  const replies = new Map<string, Reply[]>();
  const seen = new Set<string>();
  const open = [start];
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    if (seen.has(address)) continue;
    seen.add(address);
    const reply = await asked.get(address);
    const others = replies.get(reply.operation.id) ?? [];
    replies.set(reply.operation.id, others);
    if (others.length >= most) continue;
    others.push(reply);
    expect(reply.status, address).toBe(200);
    open.push(...linksIn(reply.body, reply.operation.side, ids));
  }
  return replies;
}

const documented = new Map<Operation, ValidateFunction | undefined>();

/** Deviations of an answer from our own document. */
function undocumented({ operation, status, body }: Reply): string[] {
  if (!documented.has(operation)) {
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': true, uri: true } });
    const { schema } = operation.answers[status] ?? {};
    documented.set(operation, schema && ajv.compile(schema));
  }
  const validate = documented.get(operation);
  if (validate === undefined || validate(body)) return [];
  return (validate.errors ?? []).map((error) => `${operation.id}${error.instancePath} ${error.message}`);
}

test('the handlers and the operations correspond one to one', () => {
  expect([...asker.ids].sort()).toEqual(operations.map(({ id }) => id).sort());
});

test('every link leads to an answer as documented', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 40 }), async (happenings) => {
      const car = new AnyCar();
      for (const one of happenings) await car.happen(one);
      await car.happen({ passes: 120_000 });
      const { status, monitors } = car.agent;
      const anybody = new Asker(carOf({ status, records: car.records, monitors }));
      for (const start of ['/fleets', '/user']) {
        const replies = [...(await crawl(start, 8, anybody, {})).values()].flat();
        expect(replies.length).toBeGreaterThan(1);
        expect([...new Set(replies.flatMap(undocumented))]).toEqual([]);
      }
    }),
    { numRuns: runs(8, 30) },
  );
}, 120_000);

describe('the published interface', () => {
  test.each([
    ['fleet', '/fleets'],
    ['user', '/user'],
  ] as const)(
    '%s: links from %s lead to every reading operation, and every answer is as published',
    async (side, start) => {
      const reference = new Reference(side);
      const replies = await crawl(start, 60);
      const reading = operations.filter((one) => one.side === side && one.method === 'GET').map(({ id }) => id);
      expect([...replies.keys()].sort()).toEqual(reading.sort());
      const faults = [...replies.values()].flat().flatMap(({ operation: { method, path }, body }) => {
        return reference.faults(`${method} ${path}`, body).map((fault) => `${path}: ${fault}`);
      });
      expect([...new Set(faults)]).toEqual([]);
      const others = [...replies.values()].flat().flatMap(undocumented);
      expect([...new Set(others)]).toEqual([]);
    },
    120_000,
  );

  test('every extension of a vehicle is as published', async () => {
    for (const [side, address] of [
      ['fleet', `${BASE}?extension=onboardCapabilities,branding,pictures&locale=fr-CA`],
      ['fleet', `/vehicles/VF3VGEBENCH000001?extension=onboardCapabilities,branding,pictures`],
      ['fleet', '/fleets/f1/vehicles?extension=branding,pictures'],
      ['user', `${USER}?extension=onboardCapabilities,branding,pictures&country=BR`],
      ['user', '/user/vehicles?extension=onboardCapabilities&extension=pictures'],
    ] as const) {
      const reply = await asker.get(address);
      expect(new Reference(side).faults(`GET ${reply.operation.path}`, reply.body), address).toEqual([]);
      expect(undocumented(reply), address).toEqual([]);
      const { extension } = (reply.body._embedded.vehicles?.[0] ?? reply.body)._embedded;
      expect(Object.keys(extension).length, address).toBeGreaterThan(1);
    }
  });

  test('every page of telemetry with its extensions is as published', async () => {
    for (const [side, base] of [
      ['fleet', BASE],
      ['user', USER],
    ] as const) {
      const reference = new Reference(side);
      let address: string | undefined = `${base}/telemetry?pageSize=2000&extension=location,maintenance`;
      let entries = 0;
      while (address !== undefined) {
        const reply: Reply = await asker.get(address);
        expect(reference.faults(`GET ${reply.operation.path}`, reply.body)).toEqual([]);
        entries += reply.body._embedded.telemetries.length;
        address = reply.body._links.next?.href;
        if (address === undefined) expect(entries).toBe(reply.body.total);
      }
      expect(entries).toBeGreaterThan(3_000);
    }
  }, 120_000);
});
