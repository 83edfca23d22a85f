/** Contract of the registry of a hub, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MonitorStore } from '../../hub/core/monitors.ts';
import type { CommandStore, MessageStore, NumbersStore, VehicleReader } from '../../hub/core/ports.ts';
import type { Registry } from '../../hub/core/registry.ts';
import type { RetentionStore } from '../../hub/core/retention.ts';
import type { RolloutStore } from '../../hub/core/rollout-store.ts';
import { DAY } from '../../protocol/calendar.ts';
import { compileMonitor } from '../../protocol/schema/monitor.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import { NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';
import { rightBodies } from '../rig/interface-bodies.ts';

export interface HubRegistryUnderTest {
  readonly store: MessageStore;
  readonly reader: VehicleReader & NumbersStore;
  readonly commands: CommandStore;
  /** The registry as another process opens it, such as `vigie hub add`. */
  readonly registry: Registry;
  readonly rollouts: RolloutStore;
  readonly retention: RetentionStore;
  readonly monitors: Pick<MonitorStore, 'putMonitor'>;
  /** Number of rows in every table that has a column `vehicle`. */
  rows(): Promise<Readonly<Record<string, number>>>;
  /** Complete content of the database files. A running server has flushed them. */
  files(): Promise<Buffer>;
  close(): Promise<void>;
}

/** Text that appears unencrypted in messages of a car. */
const MARK = 'deadbea7ed-ca12';
const KEPT = 'feedfacecafe-ca12';

const FLEET = { kind: 'fleet', id: 'north' } as const;
const USER = { kind: 'user', id: 'ada' } as const;

export function hubRegistryContract(name: string, create: () => Promise<HubRegistryUnderTest>): void {
  describe(`the registry of a hub on ${name}`, () => {
    let hub: HubRegistryUnderTest;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());
    const send = (vin: string, seq: number) => hub.store.save([received('trip', trip(`a${seq}`), { seq, vin })], []);

    test('every car may send while there is no fleet and no user', async () => {
      expect(await hub.registry.inUse()).toBe(false);
      expect([...(await send(ONE, 0)).strangers]).toEqual([]);
      expect(await hub.registry.cars()).toEqual([]);
    });

    test('a car can leave a fleet and stay registered, and an unregistered car cannot leave', async () => {
      await hub.registry.add(ONE, [FLEET, USER], NOON);
      const before = await hub.registry.version();
      await hub.registry.leave(ONE, [FLEET], NOON + 1);
      expect(await hub.registry.version()).not.toBe(before);
      expect(await hub.registry.car(ONE)).toEqual({ vin: ONE, added: NOON, fleets: [], users: ['ada'] });
      await expect(hub.registry.leave(OTHER, [FLEET], NOON)).rejects.toMatchObject({ code: 'request.unknown' });
    });

    test('returns the fleets and owners of each car', async () => {
      const before = await hub.registry.version();
      await hub.registry.add(ONE, [FLEET, USER], NOON);
      await hub.registry.add(OTHER, [FLEET], NOON + 1);
      await hub.registry.add(OTHER, [{ kind: 'fleet', id: 'south' }], NOON + 2);
      expect(await hub.registry.version()).not.toBe(before);
      expect(await hub.registry.cars()).toEqual([
        { vin: ONE, added: NOON, fleets: ['north'], users: ['ada'] },
        { vin: OTHER, added: NOON + 1, fleets: ['north', 'south'], users: [] },
      ]);
      expect(await hub.registry.car(OTHER)).toMatchObject({ vin: OTHER, fleets: ['north', 'south'] });
      expect(await hub.registry.owners('fleet')).toEqual([
        { kind: 'fleet', id: 'north', created: NOON },
        { kind: 'fleet', id: 'south', created: NOON + 2 },
      ]);
      expect(await hub.registry.owns(USER, ONE)).toBe(true);
      expect(await hub.registry.owns(USER, OTHER)).toBe(false);
      expect(await hub.registry.owns({ ...USER, kind: 'fleet' }, ONE)).toBe(false);
    });

    test('with a registry, messages of unregistered or removed cars are not stored', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      const own = received('trip', trip('a'), { seq: 0 });
      const foreign = received('trip', trip('b'), { seq: 0, vin: OTHER });
      const garbage = (vin: string) => ({
        topic: `vigie/1/${vin}/up/trip`,
        reason: 'no',
        payload: Uint8Array.of(1),
        received: NOON,
      });
      expect([...(await hub.store.save([own, foreign], [garbage(ONE), garbage(OTHER)])).strangers]).toEqual([OTHER]);
      expect((await hub.reader.vehicles()).map(({ vin }) => vin)).toEqual([ONE]);
      await hub.registry.remove(ONE, NOON + 5);
      expect(await hub.registry.car(ONE)).toMatchObject({ removed: NOON + 5 });
      expect([...(await send(ONE, 1)).removed]).toEqual([ONE]);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ arrived: [[0, 0]] }]);
      // A car that was removed by mistake and added again has its data.
      await hub.registry.add(ONE, [FLEET], NOON + 9);
      expect([...(await send(ONE, 1)).strangers]).toEqual([]);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ arrived: [[0, 1]] }]);
      await expect(hub.registry.remove(OTHER, NOON)).rejects.toMatchObject({ code: 'request.unknown' });
    });

    test('the database files contain nothing of a forgotten car, and all data of the others', async () => {
      await hub.registry.add(ONE, [FLEET, USER], NOON);
      await hub.registry.add(OTHER, [FLEET], NOON);
      const digest = 'd'.repeat(32);
      const configuration = { generation: 1, state: 'applied', detail: MARK, digest } as const;
      const hello = { version: MARK, protocol: 1, boot: 3, profile: MARK, startedAt: NOON, behind: 5, configuration };
      const keys = [{ id: '0011223344556677', kinds: ['Doors' as const] }];
      const speed = slotByPath.get('kinetic.speed') as Slot;
      const rollout = {
        id: 'r',
        fleet: 'north',
        name: 'f',
        digest,
        body: new Uint8Array(),
        caller: 'ops',
        created: NOON,
      };
      await hub.rollouts.begin({ ...rollout, first: 2, tolerated: 0 });
      const { parameter } = compileMonitor(rightBodies.fleetMonitor);
      const monitor = { createdAt: NOON, monitorId: 'a1', updatedAt: NOON, status: 'Running' as const };
      await hub.monitors.putMonitor({ owner: FLEET, monitor: { ...monitor, monitor: parameter } });
      const topic = `vigie/1/${ONE}/up/trip`;
      for (const vin of [ONE, OTHER]) {
        const mark = vin === ONE ? MARK : KEPT;
        const many = Array.from({ length: 300 }, (_, seq) =>
          received('trip', trip(`${mark}-${seq}`), { seq, vin, boot: 3, clock: 'none', received: NOON + seq }),
        );
        await hub.store.save(many, [{ topic, reason: MARK, payload: Buffer.from(MARK), received: NOON }]);
        await hub.store.save(
          [
            received('status', { full: true, status: { kinetic: { createdAt: NOON, speed: 9 } } } as never, { vin }),
            received('gap', { class: 2, count: 2, numbers: [[2, 3]] }, { vin }),
            received('waypoint', { points: [{ at: NOON, latitude: 48.85, longitude: 2.3, type: 'Acquire' }] }, { vin }),
            received('telemetry', telemetryFromReadings([{ slot: speed, at: NOON, value: 9 }]), { vin, seq: 9 }),
            received(
              'hello',
              { ...hello, version: mark, profile: mark, configuration: { ...configuration, detail: mark }, keys },
              { seq: 1, boot: 3, vin },
            ),
          ],
          [],
        );
        const order = { id: `${mark}-c`, vin, type: 'Doors' as const, body: { state: mark }, caller: mark };
        await hub.commands.add(
          { ...order, requested: NOON, expires: NOON + 1, key: 'aa' },
          () => new Uint8Array(Buffer.from(mark)),
        );
        const report = { remoteActionId: `${mark}-c`, type: 'Doors', status: 'Failed', detail: mark } as const;
        const event = { id: mark, monitorId: 'a1', at: NOON, refresh: false };
        await hub.store.save(
          [
            received('remote', report, { vin }),
            received('monitor', { version: 1, monitors: [] }, { seq: 1, vin }),
            received('event', event, { seq: 9, vin }),
          ],
          [],
        );
      }
      const before = await hub.rows();
      const all = await hub.files();
      for (const text of [ONE, MARK, OTHER, KEPT]) expect(all.includes(text)).toBe(true);
      // Every table must have rows of each car. A new table that the test does not fill fails here.
      expect(Object.entries(before).filter(([, count]) => count < 2)).toEqual([]);

      expect(await hub.rollouts.cars('r', '', 9)).toMatchObject([
        { vin: ONE, state: 'applied', detail: MARK },
        { vin: OTHER, state: 'applied', detail: KEPT },
      ]);
      expect(await hub.registry.forget(ONE, NOON)).toBe(true);
      await hub.registry.cleared(ONE);
      expect((await hub.rollouts.cars('r', '', 9)).map(({ vin }) => vin)).toEqual([OTHER]);

      const left = await hub.files();
      expect([ONE, MARK].filter((text) => left.includes(text))).toEqual([]);
      for (const text of [OTHER, KEPT]) expect(left.includes(text)).toBe(true);
      const after = await hub.rows();
      for (const [table, count] of Object.entries(before)) expect([table, after[table]]).toEqual([table, count / 2]);
      expect(await hub.reader.vehicle(ONE)).toBeUndefined();
      expect((await hub.registry.cars()).map(({ vin }) => vin)).toEqual([OTHER]);
      expect([...(await send(ONE, 900)).forgotten]).toEqual([ONE]);
      expect(await hub.registry.forget(ONE, NOON)).toBe(false);
    });

    test('data of a forgotten car that retention removed earlier is gone from the files too', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      const old = Array.from({ length: 100 }, (_, seq) => received('trip', trip(`${MARK}-${seq}`), { seq }));
      await hub.store.save([...old, received('trip', trip(KEPT), { seq: 200, at: NOON + 1 })], []);
      expect(await hub.retention.removeBefore('trip', NOON + 1)).toEqual({ removed: 100 });
      expect(await hub.rows()).toMatchObject({ messages: 1, records: 1 });
      await hub.registry.forget(ONE, NOON);
      await hub.registry.cleared(ONE);
      const left = await hub.files();
      expect([ONE, MARK, KEPT].filter((text) => left.includes(text))).toEqual([]);
    });

    test('a forgotten car that is added again starts without its earlier data', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      const kinetic = { createdAt: NOON, speed: 9 };
      await hub.store.save([received('status', { full: true, status: { kinetic } } as never)], []);
      await hub.registry.forget(ONE, NOON);
      await hub.registry.add(ONE, [FLEET], NOON);
      const odometer = { createdAt: NOON, mileage: 7 };
      await hub.store.save([received('status', { full: false, status: { odometer } } as never, { seq: 1 })], []);
      expect((await hub.reader.status(ONE))?.contents()).toEqual({ odometer });
    });

    test('without a registry, a forgotten car is refused until it is added again', async () => {
      await send(ONE, 0);
      await send(OTHER, 0);
      expect(await hub.registry.forget(ONE, NOON)).toBe(true);
      expect(await hub.registry.inUse()).toBe(false);
      const garbage = { topic: `vigie/1/${ONE}/up/trip`, reason: 'no', payload: Uint8Array.of(1), received: NOON };
      const saved = await hub.store.save(
        [received('trip', trip('a'), { seq: 1 }), received('trip', trip('b'), { seq: 1, vin: OTHER })],
        [garbage],
      );
      expect([[...saved.forgotten], [...saved.strangers]]).toEqual([[ONE], []]);
      expect(saved.fresh.map(({ vin }) => vin)).toEqual([OTHER]);
      expect((await hub.reader.vehicles()).map(({ vin }) => vin)).toEqual([OTHER]);
      expect([await hub.registry.isForgotten(ONE), await hub.registry.isForgotten(OTHER)]).toEqual([true, false]);
      await hub.registry.add(ONE, [FLEET], NOON);
      expect((await send(ONE, 2)).fresh).toHaveLength(1);
      expect(await hub.registry.isForgotten(ONE)).toBe(false);
      expect(await hub.registry.erasures()).toEqual([]);
    });

    test('retained messages of a forgotten car are pending until cleared; then no file has its VIN', async () => {
      const entries = [{ number: 1, name: 'Cabin.Humidity', kind: 'quantity' as const, unit: '%' }];
      const catalog = { catalog: new Uint8Array(8).fill(7), part: 0, parts: 1, entries };
      await hub.store.save([received('catalog', catalog, { seq: 4 })], []);
      const before = await hub.registry.version();
      await hub.registry.forget(ONE, NOON);
      // Hubs notice the pending work.
      expect(await hub.registry.version()).not.toBe(before);
      const topics = [`vigie/1/${ONE}/up/catalog-0707070707070707-0`];
      expect(await hub.registry.erasures()).toEqual([{ vin: ONE, topics }]);
      await hub.registry.cleared(ONE);
      expect(await hub.registry.erasures()).toEqual([]);
      expect((await hub.files()).includes(ONE)).toBe(false);
      expect([...(await send(ONE, 5)).forgotten]).toEqual([ONE]);
      // The car sent another message, which the broker may retain.
      await hub.registry.clearAgain(ONE);
      await hub.registry.clearAgain(OTHER);
      expect(await hub.registry.erasures()).toEqual([{ vin: ONE, topics: [] }]);
    });

    test('forgetting the last car keeps the registry in use: no unknown car may send', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      await hub.registry.forget(ONE, NOON);
      expect(await hub.registry.inUse()).toBe(true);
      expect([...(await send(ONE, 0)).forgotten]).toEqual([ONE]);
      expect([...(await send(OTHER, 0)).strangers]).toEqual([OTHER]);
    });

    test('a registry cannot be removed while a fleet has monitors, which would then apply to all cars', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      const { parameter } = compileMonitor(rightBodies.fleetMonitor);
      const monitor = {
        monitorId: 'ab',
        status: 'Running',
        createdAt: NOON,
        updatedAt: NOON,
        monitor: parameter,
      } as const;
      await hub.monitors.putMonitor({ owner: FLEET, monitor });
      await expect(hub.registry.end(NOON)).rejects.toThrow('monitors of fleet north would then be for all cars');
      expect(await hub.registry.inUse()).toBe(true);
    });

    test('removing the registry admits every car again and invalidates certificates and tokens', async () => {
      await hub.registry.add(ONE, [FLEET, USER], NOON);
      await hub.registry.certify({ serial: '01', vin: ONE, issued: NOON, expires: NOON + 10 });
      await hub.registry.addToken({ id: 't1', name: 'ops', scopes: [], issued: NOON, expires: NOON + 10 });
      await send(ONE, 0);
      const before = await hub.registry.version();
      await hub.registry.end(NOON + 1);
      expect(await hub.registry.version()).not.toBe(before);
      expect([await hub.registry.inUse(), await hub.registry.cars()]).toEqual([false, []]);
      expect(await hub.registry.revoked(NOON)).toMatchObject([{ serial: '01', revoked: NOON + 1 }]);
      expect([...(await hub.registry.issuedTokens())]).toEqual([]);
      expect([...(await send(OTHER, 0)).strangers]).toEqual([]);
      expect((await hub.reader.vehicles()).map(({ vin }) => vin).sort()).toEqual([ONE, OTHER].sort());
    });

    test('a one-time token is valid for one car and one key, until it expires or the car is removed', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      await hub.registry.add(OTHER, [FLEET], NOON);
      await hub.registry.setToken(ONE, 'aa', NOON + 10);
      const take = (more: object) => hub.registry.takeToken({ vin: ONE, token: 'aa', key: '01', at: NOON, ...more });
      expect(await take({ token: 'ab' })).toBe(false);
      expect(await take({ vin: OTHER })).toBe(false);
      expect(await take({ at: NOON + 10 })).toBe(false);
      expect(await take({})).toBe(true);
      // The answer was lost: the car asks again with the same key.
      expect(await take({})).toBe(true);
      expect(await take({ key: '02' })).toBe(false);
      await hub.registry.setToken(ONE, 'bb', NOON + 10);
      expect(await take({})).toBe(false);
      expect(await take({ token: 'bb', key: '02' })).toBe(true);
      await hub.registry.remove(ONE, NOON);
      expect(await take({ token: 'bb', key: '02' })).toBe(false);
    });

    test('issued tokens are listed with their withdrawal, and deleted a month after they expire', async () => {
      const token = { name: 'ops', scopes: ['data:trip'], issued: NOON, expires: NOON + 10 };
      await hub.registry.addToken({ ...token, id: 'a', fleets: ['north', 'south'] });
      await hub.registry.addToken({ ...token, id: 'b', issued: NOON + 1, expires: NOON + 40 * DAY });
      const before = await hub.registry.version();
      expect([...(await hub.registry.issuedTokens())].sort()).toEqual(['a', 'b']);
      expect(await hub.registry.withdrawToken('b', NOON + 2)).toBe(true);
      expect(await hub.registry.withdrawToken('b', NOON + 3)).toBe(false);
      expect(await hub.registry.withdrawToken('c', NOON)).toBe(false);
      // Hubs notice the change.
      expect(await hub.registry.version()).not.toBe(before);
      expect(await hub.registry.tokens()).toEqual([
        { ...token, id: 'a', fleets: ['north', 'south'] },
        { ...token, id: 'b', issued: NOON + 1, expires: NOON + 40 * DAY, withdrawn: NOON + 2 },
      ]);
      await hub.registry.addToken({ ...token, id: 'd', issued: NOON + 31 * DAY });
      expect((await hub.registry.tokens()).map(({ id }) => id)).toEqual(['b', 'd']);
      expect([...(await hub.registry.issuedTokens())]).toEqual(['d']);
    });

    test('a new enrolment, a removal and an erasure revoke certificates; an erasure keeps only their serial numbers', async () => {
      await hub.registry.add(ONE, [FLEET], NOON);
      const certify = (serial: string, kept?: string) =>
        hub.registry.certify({ serial, vin: ONE, issued: NOON, expires: NOON + 100 }, kept);
      const revoked = async (now = NOON) => (await hub.registry.revoked(now)).map(({ serial }) => serial);
      await certify('01');
      await certify('02', '01');
      expect(await revoked()).toEqual([]);
      await certify('03', '02');
      expect(await revoked()).toEqual(['01']);
      expect(await hub.registry.certificate('02')).toEqual({
        serial: '02',
        vin: ONE,
        issued: NOON,
        expires: NOON + 100,
      });
      await hub.registry.remove(ONE, NOON + 5);
      expect(await hub.registry.certificate('03')).toMatchObject({ revoked: NOON + 5 });
      await hub.registry.forget(ONE, NOON + 6);
      expect(await hub.registry.certificate('03')).toBeUndefined();
      expect(await revoked()).toEqual(['01', '02', '03']);
      expect(await revoked(NOON + 100)).toEqual([]);
    });

    test('a car that was never registered can be forgotten, as on a hub without a registry', async () => {
      await send(ONE, 0);
      expect(await hub.registry.forget(ONE, NOON)).toBe(true);
      await hub.registry.cleared(ONE);
      expect((await hub.files()).includes(ONE)).toBe(false);
      expect([...(await send(ONE, 0)).forgotten]).toEqual([ONE]);
    });
  });
}
