/**
 * The interface of a hub on any database answers like the car's own interface: every operation that reads, with every
 * filter, page and link. The hub has received only the messages that the car sent during its day. Answers are compared
 * with those of the car and with the published interface.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { bases, type Operation, type Side, sides } from '../../protocol/interface/operation.ts';
import { operations } from '../../protocol/interface/operations.ts';
import { telemetryTypes } from '../../protocol/interface/parameters/query.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import { upTopic } from '../../protocol/topics.ts';
import { Reference } from '../adapters/http/resources/reference.ts';
import { payloadOf } from '../hub/messages.ts';
import { Observer } from '../rig/car.ts';
import { type Answered, EveningClock, InterfaceBench, VIN } from '../rig/interface.ts';
import { InterfaceDocument } from '../rig/interface-document.ts';
import { crawl, type Visit } from '../rig/interface-links.ts';
import { MemoryLog } from '../rig/log.ts';

const starts = { fleet: '/fleets', user: '/user' } as const;
/** Maximum number of addresses visited per operation, and of pages per walk. */
const MOST = 4;
const PAGES = 4;

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

/** Collections that the car creates itself. Those of a hub are tested in test/contracts/hub-monitors.ts. */
const ownOfCar = new Set(['Monitors', 'Callbacks', 'Remotes']);
const readers = operations.filter(({ method, tag }) => method === 'GET' && !ownOfCar.has(tag));
/** Fields that the car takes from its profile and does not send. */
const unsent: ReadonlySet<string> = new Set([
  'createdAt',
  'updatedAt',
  'brand',
  'label',
  'pictures',
  'motorization',
  'extension',
  'callCenterPhoneNumber',
]);

/** Queries by name of the parameter. The day is 10 March 2026. */
const queries: Readonly<Record<string, readonly string[]>> = {
  timestamps: [
    '2026-03-10T00:00:00Z/2026-03-10T12:00:00Z',
    '2026-03-10T08:00:00Z/PT30M',
    '2026-03-10T06:00:00Z/PT1H,2026-03-10T16:00:00Z/PT2H',
    '/2026-03-10T09:00:00Z',
    '2026-03-10T15:00:00Z/',
    '2027-01-01T00:00:00Z/P1D',
  ],
  pageSize: ['1', '2', '7'],
  indexRange: ['0-0', '1-', '2-3', '500000-'],
  distance: ['0-', '1-', '0.5-10', '900-'],
  duration: ['0-', '60-3600', '90000-'],
  states: ['Nominal', 'Nominal,Fault'],
  tolerance: ['0', '0.1'],
  vinPrefix: [VIN.slice(0, 5), VIN.slice(0, 5).toLowerCase(), 'ZZ'],
  locale: ['fr-FR'],
  profile: ['endUser'],
  pageToken: ['none.of-ours'],
};

function valuesOf({ side, tag }: Operation, name: string): readonly string[] {
  if (name === 'type') return tag === 'Alarms' ? ['vehicle.alarm.trigger'] : telemetryTypes[side].slice(0, 4);
  if (name === 'extension') return tag === 'Telemetry' ? ['location', 'location,maintenance'] : ['branding'];
  return queries[name] ?? [];
}

/** `database` returns the options that choose the database. */
export function hubAnswersContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`the answers of a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-answers-'));
    const log = new MemoryLog();
    const document = new InterfaceDocument();
    const references = {} as Record<Side, Reference>;
    const visits: Visit[] = [];
    let hub: Hub;
    let bench: InterfaceBench;

    beforeAll(async () => {
      const clock = new EveningClock();
      hub = await startHub({ data, ...(await database()), port: 0, http: 0, clock, log });
      bench = await InterfaceBench.start({ broker: hub.broker, still: true });
      const observer = await Observer.connect(hub.broker, 4);
      const sent = bench.sentThatDay();
      for (let begin = 0; begin < sent.length; begin += 500) {
        const some = sent.slice(begin, begin + 500);
        await Promise.all(some.map(({ topic, payload }) => observer.send(topic, Buffer.from(payload))));
      }
      await observer.close();
      const path = `/vigie/v1/vehicles/${VIN}/numbers`;
      for (;;) {
        const { classes } = (await (await fetch(`${hub.interface.url}${path}`)).json()) as Json;
        if (bench.car.agent.waiting === 0 && classes.every(({ missing }: Json) => missing.length === 0)) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      for (const side of sides) {
        references[side] = new Reference(side);
        visits.push(...(await crawl(bench, side, starts[side], { fid: 'local', vin: VIN }, MOST)));
      }
    }, 120_000);

    afterAll(async () => {
      await bench.close();
      await hub.stop();
      rmSync(data, { recursive: true, force: true });
    });

    /**
     * Removes the differences that cannot be avoided: server address, page names, and data that the car does not send.
     */
    function comparable(value: Json, key = ''): Json {
      if (Array.isArray(value)) return value.map((one) => comparable(one, key));
      if (typeof value === 'string') {
        return value
          .replaceAll(bench.url, '')
          .replaceAll(hub.interface.url, '')
          .replace(/pageToken=[^&]*/, 'pageToken');
      }
      if (typeof value !== 'object' || value === null) return value;
      // The user's Status has the time of the request.
      const isAnswer = key === '' && value.kinetic !== undefined;
      const kept = Object.entries(value).filter(
        ([member]) => !(isVehicle(value) && unsent.has(member)) && !(isAnswer && member === 'createdAt'),
      );
      return Object.fromEntries(kept.map(([member, one]) => [member, comparable(one, member)]));
    }

    /** Both answers to a path. */
    async function both(path: string): Promise<{ car: Answered; hub: Answered }> {
      const [car, other] = await Promise.all([bench.ask('GET', path), bench.ask('GET', `${hub.interface.url}${path}`)]);
      return { car, hub: other };
    }

    /** Compares all pages from a path on, and follows the links of each. */
    async function compare(operation: Operation, start: string): Promise<void> {
      let paths: { car: string; hub: string } | undefined = { car: start, hub: start };
      for (let pages = 0; paths !== undefined && pages < PAGES; pages++) {
        const car = await bench.ask('GET', paths.car);
        const own = await bench.ask('GET', paths.hub.startsWith('/') ? `${hub.interface.url}${paths.hub}` : paths.hub);
        if (car.status !== 200) {
          expect([start, own.status, refusalIn(own)]).toEqual([start, car.status, refusalIn(car)]);
          return;
        }
        expect([start, own.status, comparable(own.json)]).toEqual([start, 200, comparable(car.json)]);
        expect(references[operation.side].faults(`GET ${operation.path}`, own.json)).toEqual([]);
        expect(document.faultsOf(operation, own)).toEqual([]);
        const [next, nextOwn] = [car, own].map(({ json }) => (json as Json)._links?.next?.href as string | undefined);
        paths = next === undefined || nextOwn === undefined ? undefined : { car: next, hub: nextOwn };
      }
    }

    const pathsOf = (operation: Operation): string[] => {
      const found = visits.filter((one) => one.operation.id === operation.id).map(({ address }) => new URL(address));
      const named = found.filter(({ searchParams }) => !searchParams.has('pageToken'));
      return named.map(({ pathname, search }) => `${pathname}${search}`);
    };

    test.each(readers)('$id answers like the car on every page, for every link that leads to it', async (operation) => {
      const paths = pathsOf(operation);
      expect(paths.length).toBeGreaterThan(0);
      for (const path of paths) await compare(operation, path);
    });

    const filtered = readers.flatMap((operation) =>
      operation.parameters.flatMap((parameter) =>
        parameter.in === 'query' ? [{ operation, parameter, name: `${operation.id} by ${parameter.name}` }] : [],
      ),
    );

    test.each(filtered)('$name answers like the car', async ({ operation, parameter }) => {
      const [path = ''] = pathsOf(operation);
      const plain = path.split('?', 1)[0];
      for (const value of [...valuesOf(operation, parameter.name), '%01']) {
        const question = `${plain}?${parameter.name}=${value}`;
        await compare(operation, question);
        if (parameter.name === 'timestamps') await compare(operation, `${question}&pageSize=2`);
      }
    });

    test.each(readers)('$id of an unknown resource answers like the car', async (operation) => {
      const [path = ''] = pathsOf(operation);
      const parts = path.split('?', 1)[0]?.split('/') ?? [];
      const names = `${bases[operation.side]}${operation.path}`.split('/');
      for (const [index, part] of names.entries()) {
        if (!part.startsWith('{')) continue;
        const asked = await both(parts.with(index, 'ab-0').join('/'));
        expect([asked.hub.status, (asked.hub.json as Json).message]).toEqual([404, (asked.car.json as Json).message]);
      }
    });

    test('walking through pages continues in both directions while records arrive', async () => {
      const start = `${hub.interface.url}${bases.fleet}/fleets/local/vehicles`;
      const [vehicle] = ((await bench.ask('GET', start)).json as Json)._embedded.vehicles;
      const page = async (href: string): Promise<Json> => (await bench.ask('GET', href)).json as Json;
      const idsIn = (one: Json): string[] => one._embedded.trips.map(({ id }: Json) => id);
      const whole = idsIn(await page(vehicle._links.trips.href));
      expect(whole.length).toBeGreaterThan(3);
      const first = await page(`${vehicle._links.trips.href}?pageSize=2`);
      const observer = await Observer.connect(hub.broker, 4);
      const late = { id: 'ffff-0', createdAt: Date.UTC(2026, 2, 10, 1), startedAt: Date.UTC(2026, 2, 10, 1) } as Trip;
      const more = { id: 'ffff-1', createdAt: bench.clock.now(), startedAt: bench.clock.now() } as Trip;
      for (const [index, one] of [late, more].entries()) {
        const payload = payloadOf('trip', one, { seq: 500_000 + index, at: bench.clock.now() });
        await observer.send(upTopic(VIN, 'trip'), Buffer.from(payload));
      }
      await observer.close();
      const walked = [first];
      for (let one = first; one._links.next !== undefined; ) {
        one = await page(one._links.next.href);
        walked.push(one);
      }
      expect(walked.flatMap(idsIn)).toEqual(whole);
      expect(walked.map(({ total, currentPage, totalPage }) => [total, currentPage, totalPage])).toEqual(
        walked.map((_, index) => [whole.length, index + 1, walked.length]),
      );
      const back: Json[] = [];
      for (let one = walked.at(-1); one._links.prev !== undefined; ) {
        one = await page(one._links.prev.href);
        back.unshift(...idsIn(one));
      }
      expect(back).toEqual(whole.slice(0, back.length));
      expect(idsIn(await page(first._links.last.href))).toEqual(idsIn(walked.at(-1)));
      expect(idsIn(await page(vehicle._links.trips.href)).length).toBe(whole.length + 2);
    });

    test('the log of the hub has no errors', () => {
      expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    });
  });
}

/** The refusal without the id of the request. */
function refusalIn({ json }: Answered): Json {
  const { code, message } = json as Json;
  return { code, message };
}

function isVehicle(value: Json): boolean {
  return typeof value.vin === 'string';
}
