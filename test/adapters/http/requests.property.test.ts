/** Random requests generated from the table of operations: every answer must have a status from that table. */

import fc from 'fast-check';
import { Pool } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import type { Handlers } from '../../../adapters/http/call.ts';
import { PageTokens } from '../../../adapters/http/paging.ts';
import { handlers } from '../../../adapters/http/resources/index.ts';
import { MemoryRecords } from '../../../adapters/store/index.ts';
import { Status } from '../../../agent/model/status.ts';
import { MonitorDesk } from '../../../agent/monitors/desk.ts';
import { Monitors } from '../../../agent/monitors/monitors.ts';
import type { Publisher } from '../../../agent/ports.ts';
import { defined } from '../../../protocol/defined.ts';
import { bases, type Operation, type RequestName } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { MemoryLog } from '../../rig/log.ts';
import { runs } from '../../rig/runs.ts';
import { Callbacks, carOf, VIN } from './resources/rig.ts';
import { handlersOf, startRig } from './rig.ts';

/** Texts like those of faulty programs. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e309',
    'NaN',
    'null',
    'true',
    '[]',
    '{}',
    '../..',
    '%',
    '%00',
    '%zz',
    '\u0000',
    'ÿ',
    '💥',
  ),
  fc.integer().map(String),
  fc.integer({ min: 100, max: 6_000 }).map((length) => 'x'.repeat(length)),
);

/** A URL part, encoded properly or, if the protocol allows it, not at all. */
const written = fc.tuple(text, fc.boolean()).map(([value, encoded]) => {
  const safe = encodeURIComponent(value.replace(/\p{Surrogate}/gu, '?'));
  return encoded || !/^[\x21\x24-\x3e\x41-\x7e]*$/.test(value) ? safe : value;
});

function queryOf(operation: Operation): fc.Arbitrary<string> {
  const names = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const name = names.length === 0 ? written : fc.oneof({ arbitrary: fc.constantFrom(...names), weight: 5 }, written);
  const plausible = fc.constantFrom(
    '1',
    '60',
    '0-9',
    '2026-01-01T00:00:00Z/',
    'R5/2026-01-01T00:00:00Z/PT1H',
    'vehicle',
  );
  const pair = fc.tuple(name, fc.oneof(written, plausible)).map(([key, value]) => `${key}=${value}`);
  // May contain duplicates.
  return fc.oneof(fc.constant([]), fc.array(pair, { maxLength: 6 })).map((pairs) => pairs.join('&'));
}

/** Ids of existing objects. */
const ids: Readonly<Record<string, readonly string[]>> = {
  fid: ['f1'],
  vid: ['bench%20car%2F1'],
  id: ['bench%20car%2F1'],
  vin: [VIN],
  tid: ['t1'],
  cbid: ['ca', 'cb'],
};

function pathOf(operation: Operation): fc.Arbitrary<string> {
  const parts = operation.path.split('/').map((part) => {
    if (!part.startsWith('{')) return fc.constant(part);
    return fc.oneof(
      { arbitrary: fc.constantFrom(...(ids[part.slice(1, -1)] ?? ['ab12'])), weight: 12 },
      written.map((value) => (/^\.{0,2}$/.test(value) ? 'x' : value.replaceAll(/[/\\]/g, '_'))),
    );
  });
  return fc.tuple(...parts).map((made) => `${bases[operation.side]}${made.join('/')}`);
}

const members = [
  'label',
  'status',
  'door',
  'state',
  'wakeUp',
  'action',
  'triggerParam',
  'triggers',
  'name',
  'callback',
  'target',
];
const body = fc.oneof(
  fc.json(),
  fc
    .object({ key: fc.oneof(fc.constantFrom(...members), fc.string()), maxDepth: 5 })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('', '{', 'null', '[]', '"x"', '{"__proto__":{"x":1}}', '{"constructor":1}', `${'['.repeat(5_000)}`),
  fc.integer({ min: 1, max: 200 }).map((depth) => `${'{"a":['.repeat(depth)}${']}'.repeat(depth)}`),
  fc.string({ unit: 'binary' }),
);

const webhook = { target: 'https://receiver.example/', name: 'n' };
const triggerParam = {
  triggers: [{ name: 'cold', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } }],
  boolExp: 'cold',
};
/** Valid bodies by request. */
const right: Readonly<Record<RequestName, readonly object[]>> = {
  fleetMonitor: [{ label: 'l', subscribeParam: { refreshEvent: 60, callback: { webhook } }, triggerParam }],
  userMonitor: [{ label: 'l', triggerParam }],
  fleetCallback: [{ label: 'l', callback: { webhook }, remoteTypes: ['Doors'] }],
  userCallback: [{ label: 'l', type: ['Remote'], callback: { webhook } }],
  fleetRemote: [{ label: 'l', door: { state: 'Locked' } }, { immobilization: { activate: true } }],
  userRemote: [{ label: 'l', lights: { on: true } }, { wakeUp: { action: 'WakeUp' } }],
  statusSetter: [{ status: 'Running' }, { status: 'Paused' }],
};

/** A valid body, often with one member replaced. */
function nearly(name: RequestName): fc.Arbitrary<string> {
  const places = (value: unknown, way: readonly string[]): string[][] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, member]) => [[...way, key], ...places(member, [...way, key])]);
  return fc
    .constantFrom(...right[name])
    .chain((whole) =>
      fc
        .tuple(fc.boolean(), fc.constantFrom(...places(whole, [])), fc.oneof(fc.jsonValue(), fc.constant(undefined)))
        .map(([keep, way, other]) => JSON.stringify(keep ? whole : replaced(whole, way, other))),
    );
}

function replaced(value: unknown, [key, ...way]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as object) };
  Object.assign(copy, { [key]: replaced((value as Record<string, unknown>)[key], way, other) });
  return copy;
}

const header = fc.string({ unit: fc.constantFrom(...'abz09 ,;=*/+.-_"q'), maxLength: 30 });

interface Asked {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const asked: fc.Arbitrary<Asked> = fc.constantFrom(...operations).chain((operation) =>
  fc.record({
    operation: fc.constant(operation),
    method: fc.oneof(
      { arbitrary: fc.constant<string>(operation.method), weight: 9 },
      fc.constantFrom('HEAD', 'OPTIONS', 'PATCH', 'TRACE'),
    ),
    path: pathOf(operation),
    query: queryOf(operation),
    headers: fc.record(
      {
        accept: fc.oneof(
          header,
          { arbitrary: fc.constantFrom('*/*', 'application/json'), weight: 4 },
          fc.constant('text/html'),
        ),
        'content-type': fc.oneof({ arbitrary: fc.constant('application/json'), weight: 4 }, header),
        'idempotency-key': fc.oneof(fc.uuid(), header),
        authorization: header,
        vid: header,
        'x-request-id': header,
      },
      { requiredKeys: [] },
    ),
    body:
      operation.bodyName === undefined
        ? fc.constant(undefined)
        : fc.option(fc.oneof(body, { arbitrary: nearly(operation.bodyName), weight: 8 }), { nil: undefined }),
  }),
);

/** The allowed statuses of the answer. */
function expected({ operation, method }: Asked): readonly number[] {
  const { side, path } = operation;
  const get = method === 'HEAD' ? 'GET' : method;
  const served = operations.find((one) => one.side === side && one.path === path && one.method === get);
  // A request that is too long is refused before its method is checked.
  if (served === undefined) return [400, 405];
  return [...Object.keys(served.answers).map(Number), ...served.errors].filter((status) => status < 500);
}

const RUNS = runs(300, 2_000);

/** Some callbacks cannot be removed, so that remotes and monitors always have one. */
class LastingCallbacks extends Callbacks {
  override remove(id: string): boolean {
    return ids['cbid']?.includes(id) === true || super.remove(id);
  }
}

/** The handlers of all resources, with some data. */
function resources(): Handlers {
  const log = new MemoryLog();
  const clock = new SystemClock();
  const status = new Status();
  const speed = slotByPath.get('kinetic.speed');
  if (speed !== undefined) status.write(speed, 50, clock.now());
  const records = new MemoryRecords();
  for (const n of [1, 2, 3]) {
    const at = clock.now() - n * 3_600_000;
    const trip = { id: `t${n}`, createdAt: at, startedAt: at, done: true, distance: n };
    records.put('trip', { id: trip.id, at, record: trip });
  }
  const publisher: Publisher = { put: () => undefined, secure: async () => undefined };
  const watch = new Monitors({ status, trips: { present: () => undefined }, emit: () => undefined, log });
  const callbacks = new LastingCallbacks();
  callbacks.put('fleet', 'ca', right.fleetCallback[0]);
  callbacks.put('user', 'cb', right.userCallback[0]);
  const monitors = new MonitorDesk(watch, { publisher, clock, log });
  return handlers(carOf({ status, records, monitors, callbacks }), new PageTokens(new Uint8Array(32)));
}

test.each([
  ['small handlers', () => handlersOf(operations)],
  ['the handlers of all resources', resources],
])(
  `${RUNS} requests to %s get only answers of the operation table`,
  async (_, make) => {
    const rig = await startRig({ handlers: make() });
    const pool = new Pool(rig.url, { connections: 8 });
    onTestFinished(() => pool.close());
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(asked, async (one) => {
        const { method, path, query, headers } = one;
        const answer = await pool.request({
          method: method as 'GET',
          path: query === '' ? path : `${path}?${query}`,
          headers,
          ...defined({ body: one.body }),
        });
        const answered = await answer.body.text();
        statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
        expect(expected(one), `${answered} for ${method} ${path}`).toContain(answer.statusCode);
        if (answer.statusCode < 400 || method === 'HEAD') return;
        const refusal: unknown = JSON.parse(answered);
        const side = one.operation.side === 'fleet' ? { uuid: expect.any(String) } : { debug: expect.any(String) };
        expect(refusal).toMatchObject({ message: expect.any(String), ...side });
        expect(Math.floor((refusal as { code: number }).code / 100)).toBe(answer.statusCode);
        expect(answered).not.toMatch(/\.ts:\d|node:/);
      }),
      { numRuns: RUNS },
    );
    // The mixture must include accepted requests and several kinds of refusals.
    for (const status of [200, 202, 400, 405, 406, 415]) expect([status, statuses.has(status)]).toEqual([status, true]);
    expect(rig.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  },
  300_000,
);
