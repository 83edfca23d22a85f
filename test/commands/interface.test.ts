/**
 * Every operation of the interface with every published status, requested from a bench with a day of data. Each answer
 * is checked by a reader of the published interface that shares no code with the server, and by the project's document.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalGate } from '../../adapters/http/access/local.ts';
import { PageTokens } from '../../adapters/http/paging.ts';
import type { CarView } from '../../adapters/http/resources/car.ts';
import { handlers } from '../../adapters/http/resources/index.ts';
import { type RunningServer, startServer } from '../../adapters/http/server.ts';
import { VigieError } from '../../protocol/errors.ts';
import { bases, type Operation, type Side, sides } from '../../protocol/interface/operation.ts';
import { operations } from '../../protocol/interface/operations.ts';
import { Reference } from '../adapters/http/resources/reference.ts';
import { type Answered, type Asking, InterfaceBench, VIN } from '../rig/interface.ts';
import { addressOf, Belongings, rightBodies } from '../rig/interface-bodies.ts';
import { additions, GeneratedClient, type ModelSchema } from '../rig/interface-client.ts';
import { InterfaceDocument } from '../rig/interface-document.ts';
import { type Credentials, Gates } from '../rig/interface-gates.ts';
import { crawl, idsAt, type Visit } from '../rig/interface-links.ts';
import { MemoryLog } from '../rig/log.ts';

const starts = { fleet: '/fleets', user: '/user' } as const;
/** Maximum number of addresses visited per operation. */
const MOST = 60;

let bench: InterfaceBench;
let gates: Gates;
/** The same with access control, and with a limit of one request a day. */
let gated: InterfaceBench;
/** Operations of a car that throws on every access. */
let broken: RunningServer;
let away: RunningServer;
const said = new MemoryLog();
const belongings = {} as Record<Side, Belongings>;
const visits: Visit[] = [];
const document = new InterfaceDocument();
let credentials: Record<Side, Credentials>;
let stranger: Credentials;

beforeAll(async () => {
  bench = await InterfaceBench.start();
  const { json } = await bench.ask('GET', `${bases.user}/user/vehicles`);
  const vid = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
  belongings.fleet = new Belongings(bench, 'fleet', { fid: 'local', vid, vin: VIN });
  belongings.user = new Belongings(bench, 'user', { id: vid });
  for (const side of sides) {
    const own = belongings[side];
    await own.callback();
    await own.monitor();
    await own.remote();
    visits.push(...(await crawl(bench, side, starts[side], own.ids, MOST)));
  }
  gates = await Gates.make();
  gated = await InterfaceBench.start({ lived: false, http: { ...gates.http, perDay: 1, perSecond: 1_000 } });
  credentials = { fleet: gates.fleet, user: await gates.user() };
  stranger = await gates.user(['none:of:them']);
  for (const side of sides) {
    const first = await gated.ask(
      'GET',
      `${bases[side]}${starts[side]}${queryOf(credentials[side])}`,
      credentials[side],
    );
    if (first.status !== 200) throw new Error(first.text);
  }
  broken = await startBroken((name) => new TypeError(`the car has lost its ${name}`));
  away = await startBroken(() => new VigieError('database.away', 'connect ECONNREFUSED'));
}, 120_000);

afterAll(async () => {
  await broken.stop();
  await away.stop();
  await gated.close();
  await bench.close();
  gates.remove();
});

async function startBroken(faultOf: (name: string) => Error): Promise<RunningServer> {
  const records = bench.car.agent as unknown;
  const car = new Proxy({} as CarView, {
    get: (_, name) => {
      if (name === 'records') return records;
      throw faultOf(String(name));
    },
  });
  const gate = new LocalGate();
  return startServer({
    operations,
    handlers: handlers(car, new PageTokens(new Uint8Array(32))),
    gates: { fleet: gate, user: gate },
    host: '127.0.0.1',
    port: 0,
    perDay: 1e9,
    perSecond: 1e9,
    maxBodyBytes: 2 ** 20,
    clock: bench.clock,
    log: said,
  });
}

function queryOf({ query }: Credentials): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

/** Ids for the parameters of an operation, from an address that a link contained. */
function idsFor(operation: Operation): Record<string, string> {
  const { side } = operation;
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const own = belongings[side].ids;
  const visited = visits.find((one) => one.operation.id === operation.id);
  const ids = visited === undefined ? own : idsAt(side, visited.address)?.ids;
  return Object.fromEntries(names.map((name) => [name, ids?.[name] ?? own[name] ?? '']));
}

/** A valid request. Resources that it deletes or changes were created for it. */
async function right(operation: Operation): Promise<{ path: string; asking: Asking }> {
  const own = belongings[operation.side];
  const mine = new Belongings(bench, operation.side, { ...own.ids });
  const changes = operation.method === 'PUT' || operation.method === 'DELETE';
  if (changes && operation.tag === 'Callbacks') await mine.callback();
  if (changes && operation.tag === 'Monitors') await mine.monitor();
  const ids = operation.method === 'GET' ? idsFor(operation) : mine.ids;
  const { bodyName } = operation;
  // A change that differs from the present state, because an unchanged one would not be written.
  const changed = operation.method === 'PUT' && bodyName !== 'statusSetter' ? { label: 'changed' } : {};
  const asking = bodyName === undefined ? {} : { body: { ...rightBodies[bodyName], ...changed } };
  return { path: addressOf(operation, ids), asking };
}

/** Values that are invalid for a parameter of the name, in addition to values invalid for all. */
const wrongValues: Readonly<Record<string, string>> = {
  pageToken: 'none.of-ours',
  vinPrefix: '!',
  indexRange: '9-1',
  timestamps: 'yesterday',
  distance: 'far-away',
  duration: 'long-ago',
};

/** Every way in which one parameter or the body can be wrong, and the text that the refusal must contain. */
async function wrongRequests(operation: Operation): Promise<{ path: string; asking: Asking; names: string }[]> {
  const { path, asking } = await right(operation);
  const parameters = operation.parameters
    .filter(({ in: place }) => place === 'query')
    .map(({ name }) => ({ path: `${path}?${name}=${wrongValues[name] ?? '%01'}`, asking, names: name }));
  const bodies = operation.bodyName === undefined ? [] : [{ path, asking: { body: '{' }, names: 'body' }];
  const [name] = operation.path.match(/(?<=\{)\w+(?=\})/) ?? [];
  const bytes = name === undefined ? '' : addressOf(operation, { [name]: '\u0000' }).replace('%00', '%ff');
  const addresses = name === undefined ? [] : [{ path: bytes.replace(/[{}]/g, ''), asking, names: 'path' }];
  const { bodyName } = operation;
  const member = bodyName === 'statusSetter' ? 'status' : 'label';
  const wrong = bodyName === undefined ? {} : { ...rightBodies[bodyName], [member]: 5 };
  const members = bodyName === undefined ? [] : [{ path, asking: { body: wrong }, names: member }];
  return [...parameters, ...bodies, ...members, ...addresses];
}

/** In a car. At a hub a token may also lack a right to an operation without fleet and scope. */
function mayLackARight({ side, path, scopes: { required, optional } }: Operation): boolean {
  return side === 'fleet' ? path.includes('{fid}') : required.length + optional.length > 0;
}

/** Sends requests that lead to the status in every possible way. Undefined if there is none. */
async function provoke(operation: Operation, status: number): Promise<Answered[] | undefined> {
  const { method, side } = operation;
  const { path, asking } = await right(operation);
  const ask = async (on: InterfaceBench, more: Asking = {}, query = ''): Promise<Answered[]> => [
    await on.ask(method, `${path}${query}`, { ...asking, ...more, headers: { ...asking.headers, ...more.headers } }),
  ];
  switch (status) {
    case 304:
      // Status changes with time, so its tag hardly ever repeats.
      return ask(bench, { headers: { 'if-none-match': '*' } });
    case 400:
      return Promise.all((await wrongRequests(operation)).map((one) => bench.ask(method, one.path, one.asking)));
    case 401:
      return ask(gated);
    case 403: {
      // Another fleet, or a token without the scope.
      const own = side === 'fleet' ? credentials.fleet : stranger;
      return ask(gated, own, queryOf(own));
    }
    case 404: {
      const ids = idsFor(operation);
      const unknown = Object.keys(ids).map((name) => addressOf(operation, { ...ids, [name]: 'ab-0' }));
      return Promise.all(unknown.map((one) => bench.ask(method, one, asking)));
    }
    case 406:
      return ask(bench, { headers: { accept: 'text/html' } });
    case 413:
      return ask(bench, { body: JSON.stringify({ label: 'x'.repeat(2 ** 20) }) });
    case 415:
      return ask(bench, { headers: { 'content-type': 'text/plain' } });
    case 421:
      return ask(bench, { headers: { host: 'page.example' } });
    case 429: {
      const { headers } = credentials[side];
      const own = queryOf(credentials[side]);
      return [await gated.ask(method, `${path.replace('/local', '/f1')}${own}`, { ...asking, headers })];
    }
    case 500:
      return [await bench.ask(method, `${broken.url}${path}`, asking)];
    case 503:
      return [await bench.ask(method, `${away.url}${path}`, asking)];
    case 507: {
      // Before it accepts a command, the interface writes the next counter of its key.
      const last = join(bench.data, 'interface-key', `interface.counter.${Number.MAX_SAFE_INTEGER}`);
      if (operation.tag === 'Remotes') writeFileSync(last, '');
      bench.disk.full = true;
      try {
        return await ask(bench);
      } finally {
        bench.disk.full = false;
        rmSync(last, { force: true });
      }
    }
    default:
      return ask(bench);
  }
}

const references = {} as Record<Side, Reference>;

describe('every operation', () => {
  beforeAll(() => {
    for (const side of sides) references[side] = new Reference(side);
  });

  const asked = operations.flatMap((operation) =>
    [
      ...Object.keys(operation.answers).map(Number),
      ...(operation.method === 'GET' ? [304] : []),
      ...operation.errors.filter((status) => status !== 403 || mayLackARight(operation)),
    ].map((status) => ({ name: `${operation.id} ${status}`, operation, status })),
  );

  const ours = new GeneratedClient((name) => document.resolve(name));
  const published = {} as Record<Side, GeneratedClient>;

  /** Lets both generated clients read an answer. */
  function deserialise(operation: Operation, { status, json }: Answered): void {
    const { side, method, path } = operation;
    const schema = document.schemaOf(operation, status);
    if (schema === undefined) return;
    ours.read(schema as ModelSchema, json, operation.id);
    const { definitions } = references[side];
    published[side] ??= new GeneratedClient(
      (name) => definitions[name.slice(name.lastIndexOf('/') + 1)] as ModelSchema,
    );
    const model = status >= 400 ? 'xError' : references[side].answerOf(`${method} ${path}`);
    published[side].read({ $ref: `#/$defs/${model}` }, json, operation.id);
  }

  /** Answers such as `GET /path 200` that came as documented. */
  const reached = new Set<string>();

  test.each(asked)('$name is answered as documented', async ({ operation, status }) => {
    const answers = await provoke(operation, status);
    expect(answers?.length).toBeGreaterThan(0);
    const reference = references[operation.side];
    for (const answer of answers ?? []) {
      expect(answer.status, answer.text).toBe(status);
      expect(document.faultsOf(operation, answer)).toEqual([]);
      deserialise(operation, answer);
      if (status === 204 || status === 304) expect(answer.text).toBe('');
      else if (status < 400) {
        expect(reference.faults(`${operation.method} ${operation.path}`, answer.json)).toEqual([]);
      } else {
        const validate = reference.validator('xError');
        expect(validate(answer.json), JSON.stringify(validate.errors)).toBe(true);
        expect(Math.floor((answer.json as { code: number }).code / 100)).toBe(status);
      }
      // Status 421 is for requests to another server, which the document does not describe.
      if (status !== 421)
        expect(answer.headers['deprecation'] !== undefined, 'Deprecation').toBe(operation.deprecated === true);
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
    reached.add(`${operation.method} ${bases[operation.side]}${operation.path} ${status}`);
  });

  test('the document has no answer that was not reached', () => {
    const pairs = [...document.operations()].flatMap(({ path, method, operation }) =>
      Object.keys(operation.responses).map((status) => `${method} ${path} ${status}`),
    );
    const ofHubs = operations
      .filter((operation) => !mayLackARight(operation))
      .map(({ side, method, path }) => `${method} ${bases[side]}${path} 403`);
    expect(pairs.filter((pair) => !reached.has(pair))).toEqual(pairs.filter((pair) => ofHubs.includes(pair)));
    expect(reached.size).toBe(pairs.length - ofHubs.length);
  });

  test.each(operations)('$id refuses all other methods at its address with 405', async (operation) => {
    const { side, path } = operation;
    const own = operations.filter((one) => one.side === side && one.path === path).map(({ method }) => method);
    const taken = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const address = addressOf(operation, idsFor(operation));
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      if (taken.includes(method as 'GET')) continue;
      const { status, headers, json } = await bench.ask(method, address);
      expect([method, status]).toEqual([method, 405]);
      expect(String(headers['allow']).split(', ').sort()).toEqual(taken.sort());
      if (method === 'HEAD') continue;
      expect(references[side].validator('xError')(json)).toBe(true);
      expect((json as { code: number }).code).toBe(40500);
    }
  });

  test.each(operations)('$id names the fault in a wrong request', async (operation) => {
    for (const { path, asking, names } of await wrongRequests(operation)) {
      const { json } = await bench.ask(operation.method, path, asking);
      expect((json as { message: string }).message).toContain(names);
    }
  });

  test.each(sides)('%s: links lead to every operation that reads, and every answer is as published', (side) => {
    const own = visits.filter(({ operation }) => operation.side === side);
    const reading = operations.filter((one) => one.side === side && one.method === 'GET').map(({ id }) => id);
    expect([...new Set(own.map(({ operation }) => operation.id))].sort()).toEqual(reading.sort());
    const faults = own.flatMap(({ address, operation, answer }) => [
      ...(answer.status === 200 ? [] : [`${address}: ${answer.status} ${answer.text}`]),
      ...references[side].faults(`GET ${operation.path}`, answer.json),
      ...document.faultsOf(operation, answer),
    ]);
    expect([...new Set(faults)]).toEqual([]);
    for (const { operation, answer } of own) deserialise(operation, answer);
  });

  test('clients generated from the project’s document can read every answer completely', () => {
    expect([[...new Set(ours.faults)], [...ours.unknown]]).toEqual([[], []]);
  });

  test.each(sides)('clients generated from the published %s document can read every answer', (side) => {
    const { faults, unknown } = published[side];
    const unexplained = [...unknown].filter((member) => additions[member] === undefined);
    expect([[...new Set(faults)], unexplained.sort()]).toEqual([[], []]);
  });
});

describe('log of the bench', () => {
  test('the bench logs only errors that the tests provoked', () => {
    const { lines } = bench.log;
    const failed = lines.filter(
      ({ level, fields }) =>
        level === 'error' && !/no space left on device|counter is used up/.test(String(fields?.['error'])),
    );
    expect(failed).toEqual([]);
  });
});
