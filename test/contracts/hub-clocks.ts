/** Handling of starts without a number, and of wrong clocks, by hubs on one database. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { DAY } from '../../protocol/calendar.ts';
import { encodeBody } from '../../protocol/command.ts';
import { UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';
import { DeliveryRig } from '../hub/delivery-rig.ts';
import { NOON, ONE, received, trip } from '../hub/messages.ts';
import { MemoryLog } from '../rig/log.ts';

/** A clock that is a day fast. Its monotonic time is right. */
class FastClock extends SystemClock {
  override now(): number {
    return super.now() + DAY;
  }
}

export interface ClocksUnderTest {
  /** Options with the database of a hub, or with the directory that contains it. */
  readonly options: Pick<HubOptions, 'data' | 'database'>;
  open(): Promise<HubDatabase>;
}

export function hubClocksContract(name: string, create: () => Promise<ClocksUnderTest>): void {
  describe(`starts and clocks that are wrong, on ${name}`, () => {
    let hub: HubDatabase;
    let options: ClocksUnderTest['options'];
    const rig = new DeliveryRig();
    afterAll(() => rig.remove());
    beforeEach(async () => {
      const under = await create();
      ({ options } = under);
      hub = await under.open();
      await hub.store.save([received('trip', trip('a'))], []);
    });
    afterEach(async () => {
      await rig.close();
      await hub.close();
    });

    /** Positions in a start without a number, and in the start after it. */
    const [before, after] = [
      { seq: 7, boot: UNCOUNTED_BOOT + 5 },
      { seq: 9, boot: 5 },
    ];

    test('a car with an uncounted start reports its configuration and roll-out state again', async () => {
      const { rollouts, store } = hub;
      const rollout = { id: 'r1', fleet: 'local', name: 'n', digest: 'd', caller: 'c', created: NOON };
      await rollouts.begin({ ...rollout, body: Uint8Array.of(1), first: 1, tolerated: 0 });
      const hello = (generation: number, state: 'trial' | 'applied', place: typeof before) => {
        const configuration = { generation, state, digest: 'd' };
        const { boot } = place;
        return received(
          'hello',
          { version: '1', protocol: 1, boot, profile: 'bench', startedAt: NOON, configuration },
          place,
        );
      };
      const shown = async () => ({
        reported: await rollouts.configurations('', 9),
        cars: (await rollouts.cars('r1', '', 9)).map(({ state }) => state),
      });
      await store.save([hello(3, 'trial', before)], []);
      expect(await shown()).toMatchObject({ reported: [{ generation: 3, state: 'trial' }], cars: ['trial'] });
      await store.save([hello(4, 'applied', after)], []);
      const applied = { reported: [{ generation: 4, state: 'applied' }], cars: ['applied'] };
      expect(await shown()).toMatchObject(applied);
      // A late hello of the uncounted start changes nothing.
      await store.save([hello(2, 'trial', { ...before, seq: 8 })], []);
      expect(await shown()).toMatchObject(applied);
    });

    test('a car that accepted a configuration and then reports its own gets it again, after the time of a trial', async () => {
      const { rollouts, store } = hub;
      const rollout = { id: 'r1', fleet: 'local', name: 'n', digest: 'd', caller: 'c', created: NOON };
      await rollouts.begin({ ...rollout, body: Uint8Array.of(1), first: 1, tolerated: 0 });
      const due = (trialSince: number) => rollouts.dueCars('r1', NOON + 100, { heard: 0, trialSince }, 9);
      const [car] = await due(0);
      if (car === undefined) throw new Error('no car is due');
      await rollouts.claim('r1', car, { command: 'c1', at: NOON, due: NOON + 10 });
      const report = { remoteActionId: 'c1', type: 'Configuration', status: 'Success' } as never;
      await store.save([received('remote', report, { seq: 0, boot: 3, received: NOON + 20 })], []);
      // It has reported nothing since.
      expect(await due(NOON + 21)).toEqual([]);
      const configuration = { generation: 0, state: 'local' as const };
      const hello = { version: '1', protocol: 1, boot: 5, profile: 'bench', startedAt: NOON, configuration };
      await store.save([received('hello', hello, { seq: 3, boot: 5, received: NOON + 30 })], []);
      expect(await due(NOON + 20)).toEqual([]);
      const [again] = await due(NOON + 21);
      expect(again).toEqual({ vin: ONE, attempts: 1, due: NOON + 10 });
      expect(await rollouts.claim('r1', again ?? car, { command: 'c2', at: NOON + 100, due: NOON + 200 })).toBe(true);
      expect(await rollouts.cars('r1', '', 9)).toMatchObject([{ state: 'sent' }]);
    });

    test('command states from an uncounted start stand in the order in which the car made them', async () => {
      const times = { requested: NOON, expires: NOON + 120_000 };
      const order = {
        id: 'c1',
        vin: ONE,
        type: 'Doors' as const,
        body: { state: 'Locked' },
        caller: 'local',
        key: 'aa',
        ...times,
      };
      await hub.audit.add(order, () => Uint8Array.of(1));
      const report = (status: string, place: typeof before) =>
        received('remote', { remoteActionId: 'c1', type: 'Doors', status } as never, place);
      await hub.store.save([report('Success', after), report('Accepted', before)], []);
      const states = (await hub.audit.command(ONE, 'c1'))?.states.map(({ status }) => status);
      expect(states).toEqual(['Accepted', 'Success']);
    });

    test('after a hub with a fast clock, the next message of a car still counts as the last heard', async () => {
      const heard = async () => (await hub.reader.vehicle(ONE))?.lastSeen;
      await hub.store.save([received('trip', trip('b'), { seq: 1, received: NOON + DAY })], []);
      expect(await heard()).toBe(NOON + DAY);
      // The clock is corrected while the messages of one commit arrive.
      const places = [
        { seq: 2, received: NOON + DAY },
        { seq: 3, received: NOON + 1_000 },
      ];
      await hub.store.save(
        places.map((place) => received('trip', trip('b'), place)),
        [],
      );
      expect(await heard()).toBe(NOON + 1_000);
    });

    test('a lease that a fast database clock put far into the future blocks nobody', async () => {
      const { url } = await rig.receiver();
      await hub.store.save(rig.eventsOf(await rig.monitorsTo(hub, [url])), []);
      const claim = async (lease: string, lasts: number) =>
        (await hub.deliveries.claim({ now: Date.now(), lease, lasts, proven: false, limit: 9 })).length;
      expect(await claim('dead', DAY)).toBe(1);
      expect(await claim('living', 30_000)).toBe(1);
      expect(await claim('other', 30_000)).toBe(0);
    });

    test('work that a hub with a fast clock postponed is due at a hub with the right clock', async () => {
      const begin = (clock: SystemClock): Promise<Hub> => {
        const callbacks = { networks: ['127.0.0.0/8'], allowHttp: true };
        return startHub({ ...options, callbacks, port: 0, http: 0, clock, log: new MemoryLog() });
      };
      const tomorrow = Date.now() + DAY;
      const late = (seq: number) => received('trip', trip('b'), { seq, received: tomorrow });
      const events = (ids: readonly string[]) => rig.eventsOf(ids).map((one) => ({ ...one, received: tomorrow }));
      const [refusing, fresh, gathering] = [await rig.receiver(), await rig.receiver(), await rig.receiver()];
      refusing.behaviour = (_, response) => response.writeHead(503).end();
      const ids = await rig.monitorsTo(hub, [refusing.url, fresh.url], {
        retryPolicy: { policy: 'Always', retryDelay: 1 },
      });
      const batch = { batchNotify: { size: 10, timeWindow: 5 } };
      ids.push(...(await rig.monitorsTo(hub, [gathering.url], batch)));
      const fast = await begin(new FastClock());
      const refused = refusing.next();
      await hub.store.save(events(ids.slice(0, 1)), []);
      await refused;
      await fast.stop();
      // Stored by a hub that was killed before it sent anything.
      await hub.store.save([late(5), ...events(ids.slice(1))], []);
      const { reader, monitorStore, rollouts } = hub;
      for (const one of await reader.dueNumbers(tomorrow, 9)) {
        await reader.putOff(one, { due: tomorrow, attempts: 2, requested: 4 });
      }
      for (const one of await monitorStore.dueCars(tomorrow, 9)) {
        await monitorStore.putOffCar(one, { due: tomorrow, attempts: 1 });
      }
      const rollout = { id: 'r1', fleet: 'local', name: 'n', digest: 'd', caller: 'c', created: NOON };
      const body = encodeBody('Configuration', { configuration: 'vin: x' });
      await rollouts.begin({ ...rollout, body, first: 1, tolerated: 0 });
      for (const one of await rollouts.dueCars('r1', tomorrow, { heard: 0, trialSince: 0 }, 9)) {
        await rollouts.claim('r1', one, { command: 'c1', at: tomorrow, due: tomorrow });
      }

      refusing.behaviour = (_, response) => response.writeHead(200).end();
      const right = await begin(new SystemClock());
      try {
        for (const receiver of [refusing, fresh, gathering]) {
          const before = receiver === refusing ? 1 : 0;
          while (receiver.received.length === before) await receiver.next();
        }
        const types = async () => new Set((await hub.audit.commands(ONE)).map(({ type }) => type));
        await expect.poll(types, { timeout: 30_000 }).toEqual(new Set(['Resend', 'Monitor', 'Configuration']));
      } finally {
        await right.stop();
      }
    });
  });
}
