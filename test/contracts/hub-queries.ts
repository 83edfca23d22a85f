/** Calls every database method of a hub, with arguments for every variant of its SQL. */

import type { HubPosition, HubRange, NewCommand } from '../../hub/core/ports.ts';
import type { Owner } from '../../hub/core/registry.ts';
import type { UnregisteredBounds } from '../../hub/core/unregistered.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { defined } from '../../protocol/defined.ts';
import type { RecordFilter } from '../../protocol/interface/record-filter.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import { compileMonitor } from '../../protocol/schema/monitor.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { slotAt } from '../../protocol/slots.ts';
import { NOON, ONE, OTHER, payloadOf, received, trip } from '../hub/messages.ts';
import { rightBodies } from '../rig/interface-bodies.ts';
import { plainSql } from '../rig/sql-sources.ts';

const NORTH: Owner = { kind: 'fleet', id: 'north' };
const LOCAL: Owner = { kind: 'fleet', id: 'local' };
const KEY = 'aa';
const STRANGER = 'VF3VGESTRANGER001';

/** A fault code that the control unit still reports. */
const fault = {
  id: 'f1',
  createdAt: NOON,
  active: true,
  code: 'P0143',
  unit: '7E8',
  group: 'Powertrain' as const,
  status: ['Stored' as const],
  firstSeenAt: NOON,
  lastSeenAt: NOON,
};

const filters: readonly (RecordFilter | undefined)[] = [
  undefined,
  { periods: [{ from: NOON - 10, to: NOON + 10 }] },
  {
    periods: [
      { from: NOON - 10, to: NOON },
      { from: NOON + 5, to: NOON + 10 },
    ],
  },
  { periods: [] },
  { trip: 'a1' },
  { distance: { min: 1 } },
  { duration: { min: 1, max: 60 } },
  { states: ['true', 'false'] },
];

/** Calls the methods in an order in which each finds data. */
export async function useEveryQuery(hub: HubDatabase): Promise<void> {
  await takeMessages(hub);
  await read(hub, undefined);
  await hub.locks.place();
  await shareKeys(hub);
  await runExit(hub);
  await followMonitors(hub, LOCAL, 10);
  await rollOut(hub, 'local', 'r1');
  await register(hub);
  await read(hub, [NORTH]);
  await followMonitors(hub, NORTH, 50);
  await hub.monitorStore.carMonitors(ONE);
  await rollOut(hub, 'north', 'r2');
  await hub.store.save([received('trip', trip('ff'), { vin: STRANGER })], []);
  await keepUnregistered(hub);
  await hub.verifyAudit();
  await hub.dueTimes.pullIn(0, { resends: -NOON, monitors: -NOON, rollouts: -NOON, deliveries: -NOON });
  await removeOld(hub);
  // The data directory of the car was wiped: a new life of the car begins.
  await hub.store.save([received('trip', trip('b0'), { seq: 0, boot: 9_000_000 })], []);
  await hub.registry.leave(ONE, [{ kind: 'user', id: 'ada' }], NOON);
  await hub.registry.remove(OTHER, NOON);
  await hub.registry.forget(ONE, NOON);
  await hub.store.save([received('trip', trip('fade'), { seq: 9_999 })], []);
  await hub.registry.erasures();
  await hub.registry.clearAgain(ONE);
  await hub.registry.cleared(ONE);
  await hub.monitorStore.removeMonitor(NORTH, 'ab');
  await hub.registry.end(NOON);
}

/** For the database that a caller of {@link useEveryQuery} opens: so small that messages are dropped. */
export const FEW: UnregisteredBounds = { carMessages: 5, carBytes: 2_000, messages: 8, bytes: 4_000, cars: 6 };

/** Messages of cars that are not registered, more than are kept. */
async function keepUnregistered({ unregistered, store, registry }: HubDatabase): Promise<void> {
  const payload = payloadOf('trip', trip('ff'));
  const sent = {
    topic: `vigie/1/${STRANGER}/up/trip`,
    kind: 'trip' as const,
    retained: false,
    received: NOON,
    payload,
  };
  const vins = Array.from({ length: 12 }, (_, number) => `VF3VGESTRANG0000${number % 8}`);
  await unregistered.keep([...vins, ...vins].map((vin) => ({ ...sent, vin })));
  await unregistered.keep(Array.from({ length: 7 }, () => ({ ...sent, vin: STRANGER })));
  await unregistered.totals();
  await unregistered.newest(1);
  await unregistered.admitted(1);
  await registry.add(STRANGER, [NORTH], NOON);
  await store.save([received('trip', trip('fe'), { vin: STRANGER, seq: 1 })], []);
  await store.takeIn(STRANGER, { limit: 9, now: NOON });
  await unregistered.removeBefore('trip', NOON + 1);
}

async function runExit({ exits }: HubDatabase): Promise<void> {
  await exits.open('e');
  await exits.read(0, 1);
  await exits.failed('e', 'away');
  await exits.save('e', 0, { next: 1, refused: 0 }, NOON);
  await exits.reports(['influx']);
}

async function shareKeys({ groupKeys }: HubDatabase): Promise<void> {
  await groupKeys.addProof({ salt: Uint8Array.of(1), proof: Uint8Array.of(2) });
  await groupKeys.proof();
  const key = { id: KEY, purpose: 'pages' as const, kinds: [], sealed: Uint8Array.of(3) };
  await groupKeys.add(key, { onlyFirst: true });
  await groupKeys.add(key);
  await groupKeys.renew({ ...key, id: 'bb', signsFrom: NOON }, NOON, NOON + 1);
  await groupKeys.end(KEY, NOON);
  await groupKeys.keys();
}

function order(id: string): NewCommand {
  const times = { requested: NOON, expires: NOON + 120_000 };
  return { id, vin: ONE, type: 'Doors', body: { state: 'Locked' }, caller: 'local', key: KEY, ...times };
}

const points = [{ at: NOON, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }];
const speed = telemetryFromReadings([{ slot: slotAt('kinetic.speed'), at: NOON, value: 9 }]);
const way = received('waypoint', { points }, { seq: 0, boot: 3, clock: 'none' });

async function takeMessages({ store, audit }: HubDatabase): Promise<void> {
  const many = Array.from({ length: 450 }, (_, seq) =>
    received('trip', trip(`a${seq}`, { createdAt: NOON + seq }), { seq }),
  );
  const hello = { version: '1', protocol: 1, boot: 3, profile: 'bench', startedAt: NOON, behind: 5, keys: [] };
  await store.save([...many, received('trip', trip('a'), { vin: OTHER })], []);
  const remote = { door: { state: 'Locked' } };
  const through = { owner: LOCAL, callbackId: 'c1', remote, contents: { label: 'lock' } };
  await audit.add({ ...order('a1'), through }, () => Uint8Array.of(1));
  await store.save(
    [
      received('status', { full: true, status: { kinetic: { createdAt: NOON, speed: 12 } } } as never, { seq: 0 }),
      received('gap', { class: 2, count: 2, numbers: [[2, 3]] }, { seq: 0 }),
      way,
      received('telemetry', speed, { boot: 3, clock: 'none' }),
      received('hello', hello, { seq: 1, boot: 3 }),
      received('fault', fault, { seq: 5000 }),
      received('remote', { remoteActionId: 'a1', type: 'Doors', status: 'Success' }, { seq: 0 }),
      received('monitor', { version: 1, monitors: [] } as never, { seq: 2 }),
    ],
    [{ topic: 't', reason: 'not a message', payload: Uint8Array.of(1), received: NOON }],
  );
  await store.save([received('trip', trip('a999', { createdAt: NOON + 999 }), { seq: 999 })], []);
  // A repeated message, which is first counted as heard and then discarded.
  await store.save([{ ...received('trip', trip('a0', { createdAt: NOON }), { seq: 0 }), received: NOON + 5_000 }], []);
}

/** Removes old messages of a kind with records, of a series, and of events. */
async function removeOld({ retention, store }: HubDatabase): Promise<void> {
  await retention.confirms(NOON, 1);
  for (const kind of ['fault', 'trip', 'waypoint', 'event'] as const) await retention.removeBefore(kind, NOON + 1);
  // Later than the newest partition of PostgreSQL.
  await retention.removeBefore('reading', Date.UTC(2200, 0));
  await retention.removeBefore('telemetry', Date.UTC(2200, 0));
  // The message arrives again after its row was removed.
  await store.save([way], []);
}

async function read({ reader, overviewReader, audit, tripClasses }: HubDatabase, owners: readonly Owner[] | undefined) {
  await tripClasses.setTripClass(ONE, 'a1', 'private');
  await tripClasses.tripClasses(ONE, '', 9);
  await reader.vehicles();
  await reader.vehicle(ONE);
  await reader.status(ONE);
  await reader.lives(ONE);
  await reader.numbers(ONE);
  await reader.missingNumbers();
  const [due] = await reader.dueNumbers(Number.MAX_SAFE_INTEGER, 10);
  if (due !== undefined) await reader.putOff(due, { due: 1, attempts: 1, requested: 1 });
  await reader.record(ONE, 'trip', 'a1');
  await reader.record(ONE, 'waypoint', '3-0');
  for (const collection of ['trip', 'waypoint']) {
    await reader.lastRecord(ONE, collection);
    for await (const _ of reader.records(ONE, collection, NOON));
  }
  for await (const _ of reader.captureParts(ONE));
  for (const content of ['readings', 'records', 'trips'] as const) {
    for (const after of [undefined, { class: 0, seq: 1, boot: 1 }]) {
      await reader.messages(ONE, { content, limit: 5, ...defined({ after }) });
    }
  }
  await reader.viewById('nobody');
  await reader.fleetRecord('trip', 'a1', owners);
  const place = { at: NOON, id: 'a0' };
  const ranges: readonly HubRange[] = [{}, { from: place, to: place }, { before: place }];
  const keysets = [
    reader.vehicleKeys('VF3', owners),
    reader.recordKeys(ONE, 'waypoint'),
    reader.fleetRecordKeys('trip', { owners, newest: true }),
    ...filters.flatMap((filter) => [
      reader.recordKeys(ONE, 'trip', filter),
      reader.fleetRecordKeys('trip', { owners, ...defined({ filter }) }),
    ]),
  ];
  for (const keys of keysets) {
    for (const range of ranges) {
      await keys.survey({ range, size: 1, cursor: place });
      for (const backwards of [false, true]) {
        const at: HubPosition | undefined = await keys.nth(range, 1, backwards);
        await keys.read(at === undefined ? range : { from: at }, 1, backwards);
        await keys.read(range, 1, backwards);
      }
    }
  }
  await overviewReader.countVehicles();
  await overviewReader.summaries(0, '', 10);
  for (const vin of [undefined, ONE]) {
    await overviewReader.arrived({ vin, owners, after: 0, before: Number.MAX_SAFE_INTEGER, limit: 5 });
  }
  await audit.pending(ONE, NOON);
  await audit.command(ONE, 'a1');
  await audit.answeredKey(ONE);
  await audit.trustedKeys(ONE);
  await audit.throughCallback(ONE, 'c1');
  await audit.throughCallback(ONE, 'c1', 'a1');
  await audit.commands(ONE);
  await audit.commands(ONE, 'a1');
}

/** Uses monitors and callbacks of an owner, and the events that wait for their receivers. */
async function followMonitors({ monitorStore, deliveries, store }: HubDatabase, owner: Owner, seq: number) {
  const times = { createdAt: NOON, updatedAt: NOON };
  const webhook = { webhook: { target: 'https://receiver.example/', name: 'n' } };
  const subscribeParam = { retryPolicy: { policy: 'Always' }, callback: webhook, callbackId: 'cb' };
  const { parameter: monitor } = compileMonitor({ ...rightBodies.fleetMonitor, subscribeParam });
  const status = 'Running' as const;
  await monitorStore.putMonitor({ owner, monitor: { ...times, monitorId: 'ab', status, monitor } });
  const callback = {
    ...times,
    callbackId: 'cb',
    side: 'fleet',
    status,
    subscribe: { callback: webhook },
  } as unknown as Callback;
  await monitorStore.putCallback({ owner, callback });
  await monitorStore.monitorsOf(owner);
  await monitorStore.callbacksOf(owner);
  await monitorStore.carMonitors(ONE);
  const [due] = await monitorStore.dueCars(Number.MAX_SAFE_INTEGER, 10);
  if (due !== undefined) await monitorStore.putOffCar(due, { due: NOON, attempts: 1 });
  await monitorStore.carOnline(ONE, NOON);
  const events = Array.from({ length: 12 }, (_, index) =>
    received('event', { id: `e${index}`, monitorId: 'ab', at: NOON, refresh: false }, { seq: seq + index }),
  );
  await store.save(events, []);
  const claim = { now: Number.MAX_SAFE_INTEGER, lease: 'l', lasts: 600_000, proven: false, limit: 5 };
  const [{ key } = { key: '' }] = await deliveries.claim(claim);
  const waiting = await deliveries.waiting(key, 5);
  await deliveries.running(['cb']);
  await deliveries.totals();
  const change = { key, lease: 'l', held: 0, tries: 0, lasts: 600_000 };
  await deliveries.save([{ ...change, done: waiting.map(({ seq }) => seq) }]);
  await deliveries.save([{ ...change, done: [], released: { proven: true, now: NOON, seen: 20 } }]);
  await deliveries.removeReceiver(key, 'l');
  await deliveries.releaseAll();
  // Events that wait when a car leaves its fleet or is erased.
  const late = { id: `f${seq}`, monitorId: 'ab', at: NOON, refresh: false };
  await store.save([received('event', late, { seq: seq + 20 })], []);
  if (owner === NORTH) return;
  await monitorStore.removeMonitor(owner, 'ab');
  await monitorStore.removeCallback(owner, 'cb');
}

async function rollOut({ rollouts, store, dueTimes }: HubDatabase, fleet: string, id: string): Promise<void> {
  const body = Uint8Array.of(1);
  await rollouts.begin({ id, fleet, name: 'n', digest: id, body, caller: 'c', created: NOON, first: 1, tolerated: 0 });
  await rollouts.rollouts();
  await rollouts.rollouts({ underWay: true });
  await rollouts.rollout(id);
  await rollouts.body(id);
  await rollouts.cars(id, '', 10);
  await rollouts.cars(id, '', 10, 'waiting');
  await rollouts.enlist(id);
  const [car] = await rollouts.dueCars(id, Number.MAX_SAFE_INTEGER, { heard: 0, trialSince: 0 }, 10);
  if (car !== undefined) await rollouts.claim(id, car, { command: 'c1', at: NOON, due: NOON });
  await dueTimes.pullIn(0, { resends: NOON, monitors: NOON, rollouts: -NOON, deliveries: NOON });
  await rollouts.underWay(id, NOON, NOON);
  await rollouts.refuse(id, ONE, 'another', 'the car trusts no key', NOON);
  await rollouts.failure(id);
  const configuration = { generation: 1, state: 'applied' as const, digest: id };
  const hello = { version: '1', protocol: 1, boot: 5, profile: 'bench', startedAt: NOON, configuration };
  const seq = fleet === 'local' ? 100 : 101;
  await store.save([received('hello', hello, { seq, boot: 5 })], []);
  const report = { remoteActionId: 'c1', type: 'Configuration', status: 'Failed' } as never;
  await store.save([received('remote', report, { seq, boot: 5 })], []);
  await rollouts.configurations('', 10);
  await rollouts.setStage(id, 'first', 'stopped', { reason: 'enough' });
}

async function register({ registry }: HubDatabase): Promise<void> {
  await registry.add(ONE, [NORTH, { kind: 'user', id: 'ada' }], NOON);
  await registry.add(OTHER, [NORTH, { kind: 'fleet', id: 'south' }], NOON);
  await registry.leave(OTHER, [{ kind: 'fleet', id: 'south' }], NOON);
  await registry.setPassword(ONE, 'digest');
  await registry.password(ONE);
  await registry.setToken(ONE, 'token', NOON + 10);
  await registry.takeToken({ vin: ONE, token: 'token', key: 'key', at: NOON });
  await registry.certify({ serial: '01', vin: ONE, issued: NOON, expires: NOON + 10 });
  await registry.certificate('01');
  await registry.revoked(NOON);
  await registry.inUse();
  await registry.cars();
  await registry.car(ONE);
  await registry.owners('fleet');
  await registry.owns(NORTH, ONE);
  await registry.addToken({ id: 't1', name: 'ops', fleets: ['north'], scopes: [], issued: NOON, expires: NOON + 10 });
  await registry.tokens();
  await registry.withdrawToken('t1', NOON);
  await registry.issuedTokens();
  await registry.version();
}

/** Tables that do not grow with the cars and their messages, and row sets that a statement creates itself. */
const SHORT =
  /^(owners|tokens|unregistered_cars|group_secret|group_keys|rollouts|registry_version|refused|hub_format|sqlite_schema|exits|messages_id_seq|page|chosen|newest|given|absent|fleet_cars|(\d+ )?CONSTANT|\d+-ROW)\b/;

/** Statements that may read a whole table or index, by their first words, with the reason. */
export const wholeReads: readonly (readonly [sql: string, reason: string])[] = [
  ['SELECT class, CAST(sum(missing) AS bigint)', 'its index contains only the classes with missing numbers'],
  ['SELECT count(*) AS total FROM vehicles', 'counts the entries of one index without reading rows'],
  ['SELECT rollout, state, count(*) AS cars FROM rollout_cars GROUP BY', 'only when a person lists all roll-outs'],
  ['SELECT * FROM monitors WHERE vin IS NULL OR vin = ?', 'only without a registry'],
  ['UPDATE car_monitors SET due = 0, attempts = 0 WHERE NOT EXISTS', 'only without a registry'],
  ['SELECT cars.vin FROM owned_cars JOIN cars', 'the cars of a whole fleet; all vehicles only without a registry'],
  ['SELECT fleet_cars.vin FROM (SELECT cars.vin', 'as above'],
  ['INSERT INTO rollout_cars (rollout, vin, is_first)', 'as above'],
  ['SELECT coalesce(sum(waiting), 0) AS waiting', 'receivers, whose number depends only on what people configured'],
  ['UPDATE receivers SET lease = NULL', 'receivers, only when a hub on SQLite starts'],
  ['DELETE FROM receivers WHERE waiting = 0 AND monitor', 'receivers, only when a car is erased'],
  ['SELECT DISTINCT monitors.kind', 'only when the registry is removed'],
  ['UPDATE certificates SET revoked = coalesce(revoked', 'as above'],
  ['DELETE FROM cars WHERE vin NOT IN', 'as above'],
  ['DELETE FROM counters WHERE vehicle =', 'only when a car is erased'],
  [
    'SELECT commands.*, vin FROM commands JOIN vehicles ON vehicles.id = commands.vehicle WHERE commands.id NOT IN',
    'only when the audit trail gets its chain',
  ],
  ['SELECT id FROM commands WHERE NOT EXISTS', 'only when a person checks the audit trail'],
];

/** Statements that scan a growing table without an allowed reason. `whole` finds the tables that a statement scans. */
export async function withoutReason(
  asked: Iterable<string>,
  whole: (sql: string) => Promise<readonly string[]>,
): Promise<{ readonly unexpected: readonly string[]; readonly used: ReadonlySet<string> }> {
  const unexpected: string[] = [];
  const used = new Set<string>();
  for (const sql of asked) {
    const tables = (await whole(sql)).filter((table) => !SHORT.test(table));
    if (tables.length === 0) continue;
    const [known] = wholeReads.find(([begin]) => plainSql(sql).startsWith(begin)) ?? [];
    if (known === undefined) unexpected.push(`${tables.join(', ')}: ${plainSql(sql)}`);
    else used.add(known);
  }
  return { unexpected, used };
}
