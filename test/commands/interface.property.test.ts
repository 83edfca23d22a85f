/**
 * Random requests from the OpenAPI document to a bench with a day of data: each answer is one that the document has,
 * and never an internal error.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defined } from '../../protocol/defined.ts';
import { bases, sides } from '../../protocol/interface/operation.ts';
import { operations } from '../../protocol/interface/operations.ts';
import { InterfaceBench, VIN } from '../rig/interface.ts';
import { Belongings, rightBodies } from '../rig/interface-bodies.ts';
import { InterfaceDocument } from '../rig/interface-document.ts';
import { crawl, idsAt } from '../rig/interface-links.ts';
import { type DocumentedRequest, documentedRequests, type Known } from '../rig/interface-requests.ts';
import { runs } from '../rig/runs.ts';

const REQUESTS = runs(1_500, 20_000);
/** Maximum number of concurrent requests. */
const AT_ONCE = 8;
/** Number of requests after which deletable resources are created again. */
const REFILLED = 15;
/** Number of addresses of an operation from which ids are collected. */
const MOST = 3;

let bench: InterfaceBench;
const document = new InterfaceDocument();
/** Ids by path and parameter. */
const ids = new Map<string, readonly string[]>();
const belongings: Belongings[] = [];

beforeAll(async () => {
  bench = await InterfaceBench.start();
  const { json } = await bench.ask('GET', `${bases.user}/user/vehicles`);
  const vid = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
  for (const side of sides) {
    const own = new Belongings(bench, side, { fid: 'local', vid, vin: VIN, id: vid });
    belongings.push(own);
    await make(own);
    const start = side === 'fleet' ? '/fleets' : '/user';
    for (const { operation, address } of await crawl(bench, side, start, own.ids, MOST)) {
      learn(`${bases[side]}${operation.path}`, idsAt(side, address)?.ids ?? {});
    }
  }
}, 120_000);

afterAll(() => bench.close());

/** Creates resources, so that requests still find some after deletions. */
async function make(own: Belongings): Promise<void> {
  await own.callback();
  await own.monitor();
  await own.remote();
  for (const { side, path } of operations) if (side === own.side) learn(`${bases[side]}${path}`, own.ids);
}

/** Deletes resources that requests created, so that the car has only a few of each. */
async function tidy(): Promise<void> {
  for (const { side } of belongings) {
    const lists = side === 'fleet' ? ['/fleets/local/monitors', '/fleets/local/remote/callbacks'] : ['/user/callbacks'];
    for (const path of lists) {
      const { json } = await bench.ask('GET', `${bases[side]}${path}`);
      const entries = Object.values((json as { _embedded: Record<string, Listed[]> })._embedded).flat();
      const own = entries.map(({ _links }) => _links.self.href);
      for (const href of own.slice(0, -MOST)) await bench.ask('DELETE', href);
    }
  }
}

interface Listed {
  readonly _links: { readonly self: { readonly href: string } };
}

/** Collects the ids of the newest few resources of each kind. */
function learn(path: string, known: Readonly<Record<string, string>>): void {
  for (const [name, id] of Object.entries(known)) {
    const at = `${path} ${name}`;
    ids.set(at, [...(ids.get(at) ?? []).filter((other) => other !== id), id].slice(-MOST));
  }
}

const known: Known = {
  ids: (path, name) => ids.get(`${path} ${name}`) ?? [],
  members: {
    // A port without a listener (RFC 863). No name has to be resolved.
    target: ['http://127.0.0.1:9/', 'ws://127.0.0.1:9/', 'https://[::1]:9/'],
    timestamps: [
      '2026-03-10T00:00:00Z/',
      '/2026-03-11T00:00:00Z',
      'R5/2026-03-10T06:00:00Z/PT1H',
      '2026-03-10T06:00:00Z/P1D',
    ],
    indexRange: ['0-', '0-9', '5-5', '99999-'],
    distance: ['0-', '1.5-20', '-3'],
    duration: ['0-', '60-3600'],
    vinPrefix: ['VF3', VIN],
    locale: ['fr-FR', 'en', 'pt-BR'],
  },
  bodies: (path, method) => {
    const one = operations.find(
      (operation) => `${bases[operation.side]}${operation.path}` === path && operation.method === method,
    );
    return one?.bodyName === undefined ? [] : [rightBodies[one.bodyName]];
  },
};

/** Sends a request, checks the answer, and returns its status. */
async function ask({ path, method, address, headers, body }: DocumentedRequest): Promise<number> {
  const answer = await bench.ask(method, address, { headers, ...defined({ body }) });
  const { status, text } = answer;
  const told = `${status} ${text.slice(0, 300)} for ${method} ${address}`;
  expect(status, told).toBeLessThan(500);
  const own = operations.filter((one) => `${bases[one.side]}${one.path}` === path);
  const taken = own.map((one): string => one.method);
  const get = own.find((one) => one.method === 'GET');
  if (method === 'HEAD' && get !== undefined) {
    expect(text, told).toBe('');
    expect([...Object.keys(get.answers).map(Number), ...get.errors], told).toContain(status);
  } else if (taken.includes(method)) {
    expect(document.faults(path, method, answer), told).toEqual([]);
  } else {
    // An unreadable address is refused before the method is checked.
    expect([400, 405], told).toContain(status);
  }
  if (status >= 400) expect(text, told).not.toMatch(/\.ts:\d|node:/);
  return status;
}

test(`${REQUESTS} random requests from the document get only documented answers`, async () => {
  const requests = fc.array(documentedRequests(document, known), { minLength: AT_ONCE, maxLength: AT_ONCE });
  const statuses = new Map<number, number>();
  const done = new Set<string>();
  let batches = 0;
  await fc.assert(
    fc.asyncProperty(requests, async (some) => {
      const answered = await Promise.all(some.map(ask));
      for (const [index, status] of answered.entries()) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status < 300) done.add(some[index]?.operation.operationId ?? '');
      }
      if (++batches % REFILLED !== 0) return;
      await tidy();
      for (const own of belongings) await make(own);
    }),
    { numRuns: Math.ceil(REQUESTS / AT_ONCE) },
  );
  // The mix is meaningful: requests succeed, and are refused with every status that a careless request can get.
  for (const status of [200, 202, 204, 400, 404, 405, 406, 413, 415]) {
    expect([status, statuses.has(status)]).toEqual([status, true]);
  }
  if (REQUESTS >= 20_000) expect([...done].sort()).toEqual(operations.map(({ id }) => camel(id)).sort());
  expect(bench.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
}, 600_000);

/** Converts `fleet.status.get` to the document's `fleetStatusGet`. */
function camel(id: string): string {
  return id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}
