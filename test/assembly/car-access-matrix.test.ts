/** Requests every route of a running car as every kind of caller, and compares the answers with the access table. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CertificateAuthority, EstServer } from '../../adapters/certificates/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { type RunningServer, startServer } from '../../adapters/http/server.ts';
import { Snapshots } from '../../adapters/http/snapshots.ts';
import { idOf } from '../../assembly/view.ts';
import { type AccessRow, accessTable } from '../../protocol/interface/access.ts';
import { reservedScopes, scopeNames } from '../../protocol/interface/operations/scopes.ts';
import { addressOf, askAll, holds, rowKey } from '../rig/access-matrix.ts';
import { InterfaceBench, VIN } from '../rig/interface.ts';
import { type Credentials, Gates } from '../rig/interface-gates.ts';
import { MemoryLog } from '../rig/log.ts';

const ids = { fid: 'f1', vid: idOf(VIN), id: idOf(VIN), vin: VIN };
const rows = accessTable.filter(({ servers }) => servers.includes('car'));
const allScopes = [...scopeNames, ...reservedScopes, 'data:bus', 'exits:test', 'bench:write', 'hub:rollout:write'];
let gates: Gates;
let bench: InterfaceBench;

beforeAll(async () => {
  gates = await Gates.make();
  bench = await InterfaceBench.start({ http: gates.http });
});
afterAll(async () => {
  await bench.close();
  gates.remove();
});

const served = (): readonly AccessRow[] => {
  const keys = new Set(bench.car.interface?.routes.map(rowKey));
  return rows.filter((row) => keys.has(rowKey(row)));
};

const ask = (asked: readonly AccessRow[], who?: Credentials) =>
  askAll(asked, (row) => {
    const query = who === undefined ? '' : new URLSearchParams(who.query).toString();
    const signal = row.path.endsWith('/bus/signals') ? 'signal=body/0A8/Speed&' : '';
    return { url: `${bench.url}${addressOf(row, ids)}?${signal}${query}`, headers: who?.headers ?? {} };
  });
const closed = () => served().filter(({ principal }) => principal !== 'anyone');

test('every route of the car is in the access table, and other rows are for parts that this car lacks', () => {
  const routes = (bench.car.interface as RunningServer).routes.filter(({ path }) => !path.endsWith('/stolen/'));
  expect(routes.map(rowKey).sort()).toEqual(served().map(rowKey).sort());
  const absent = rows.filter((row) => !served().includes(row)).map(({ path }) => path);
  for (const path of absent) expect(path).toMatch(/^\/vigie\/v1\/(bench|captures|signals|live|faults|bus)/);
});

test('without credentials or with an expired token only documents are served', async () => {
  for (const who of [undefined, await gates.user(allScopes, new Date(0))]) {
    for (const { row, status } of await ask(closed(), who)) {
      expect([rowKey(row), [401, 429].includes(status)]).toEqual([rowKey(row), true]);
    }
  }
});

test('a fleet user without scopes in its account can use the whole fleet side and no user side', async () => {
  for (const { row, status } of await ask(closed(), gates.fleet)) {
    const isAdmitted = row.principal !== 'user';
    expect([rowKey(row), [401, 403, 429].includes(status)]).toEqual([rowKey(row), !isAdmitted]);
  }
  const other = closed().filter(({ path }) => path.includes('{fid}'));
  for (const { row, status } of await askAll(other, (one) => ({
    url: `${bench.url}${addressOf(one, { ...ids, fid: 'f2' })}?client_id=app-1`,
    headers: gates.fleet.headers,
  }))) {
    expect([rowKey(row), status]).toEqual([rowKey(row), 403]);
  }
});

test('a user token with one scope gets the access that the table allows, and positions only with data:position', async () => {
  for (const scope of allScopes) {
    // A user never has a reserved right, even if the issuer states it.
    const held = new Set((reservedScopes as readonly string[]).includes(scope) ? [] : [scope]);
    const answers = await ask(closed(), await gates.user([scope]));
    for (const { row, status } of answers) {
      const isAdmitted = row.principal !== 'fleet' && holds(row, held);
      expect([scope, rowKey(row), [401, 403, 429].includes(status)]).toEqual([scope, rowKey(row), !isAdmitted]);
    }
    expect([scope, answers.some(({ text }) => text.includes('"geometry"'))]).toEqual([
      scope,
      scope === 'data:position',
    ]);
  }
});

test('routes that this car lacks follow the same table on a server that has them', async () => {
  const nothing = { begin: () => undefined, end: () => undefined, events: {} };
  const server = await startServer({
    ...gates.http,
    gates: { user: { challenge: 'none', admit: () => ({ name: 'ada', scopes: new Set(['data:trip']) }) } },
    operations: [],
    handlers: {},
    clock: bench.clock,
    log: new MemoryLog(),
    own: {
      view: {
        car: () => expect.unreachable(),
        link: () => expect.unreachable(),
        outbox: () => expect.unreachable(),
        commands: { report: () => expect.unreachable(), history: () => [], submit: () => expect.unreachable() },
        bench: { report: () => expect.unreachable(), plug: () => expect.unreachable() },
        bus: async () => ({ frames: () => nothing, signals: () => nothing }),
      },
      snapshots: new Snapshots(bench.clock),
    },
    captures: { list: () => expect.unreachable(), log: () => expect.unreachable(), mdf4: () => expect.unreachable() },
    signals: {
      all: () => [],
      get: () => expect.unreachable(),
      history: () => [],
      follow: () => () => undefined,
    } as never,
    faults: { all: () => expect.unreachable() } as never,
  });
  const keys = new Set(server.routes.map(rowKey));
  const absent = rows.filter((row) => !served().includes(row));
  expect(absent.filter((row) => !keys.has(rowKey(row)))).toEqual([]);
  const answers = await askAll(absent, (row) => ({ url: `${server.url}${addressOf(row, ids)}`, headers: {} }));
  expect(answers.filter(({ status }) => status !== 403)).toEqual([]);
  await server.stop();
});

test('enrolment issues certificate and settings only to a car with its token or certificate', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-enrolment-'));
  const authority = await CertificateAuthority.open(folder);
  const server = new EstServer({
    authority,
    host: '127.0.0.1',
    port: 0,
    lasts: 60_000,
    clock: new SystemClock(),
    log: new MemoryLog(),
    tls: await authority.certifyHub(['127.0.0.1'], Date.now()),
    desk: {
      mayEnrol: async () => false,
      carOf: async () => undefined,
      keep: async () => expect.unreachable(),
      settings: async () => expect.unreachable(),
    },
  });
  const port = await server.start();
  const statusOf = (method: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, rejectUnauthorized: false };
      request(options, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
        .once('error', reject)
        .end();
    });
  for (const { method, path, principal } of accessTable.filter(({ servers }) => servers.includes('enrolment'))) {
    expect([path, await statusOf(method, path)]).toEqual([path, principal === 'anyone' ? 200 : 401]);
  }
  expect(await statusOf('GET', '/vigie/v1/vehicles')).toBe(404);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
