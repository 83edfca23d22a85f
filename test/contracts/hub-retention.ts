/** Data that a hub removes after the number of days set for its kind, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Retention, type RetentionDays } from '../../hub/core/retention.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { DAY } from '../../protocol/calendar.ts';
import type { Alert } from '../../protocol/schema/alert.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { Body, BodyKind } from '../../protocol/schema/message.ts';
import { compileMonitor } from '../../protocol/schema/monitor.ts';
import { type MessageOptions, NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';
import { VirtualClock } from '../rig/clock.ts';
import { rightBodies } from '../rig/interface-bodies.ts';
import { MemoryLog } from '../rig/log.ts';

/** Times on both sides of the retention limit of 30 days. */
const OLD = NOON - 31 * DAY;
const NEW = NOON - 29 * DAY;

const kinetic = (speed: number) => ({ full: false, status: { kinetic: { createdAt: OLD, speed } } }) as never;
const way = (at: number) => ({ points: [{ at, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }] });
const alert = (id: string, active: boolean) =>
  ({ id, createdAt: OLD, startedAt: OLD, active, type: 'RiskOfIce' }) as unknown as Alert;

export function hubRetentionContract(name: string, create: () => Promise<HubDatabase>): void {
  describe(`the retention of a hub on ${name}`, () => {
    let hub: HubDatabase;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());

    const send = <K extends BodyKind>(kind: K, body: Body<K>, options: MessageOptions) =>
      hub.store.save([received(kind, body, options)], []);
    /** A car that drives now, so that the hub can trust its own clock. */
    const drive = () => send('waypoint', way(NOON), { seq: 999, at: NOON });
    const ids = async (collection: string, vin = ONE) => {
      const found: string[] = [];
      for await (const { id } of hub.reader.records(vin, collection)) found.push(id);
      return found;
    };
    /** Polls a few times with this setting. */
    const keepFor = async (days: RetentionDays, now = NOON, looks = 6) => {
      const [clock, log] = [new VirtualClock(now), new MemoryLog()];
      const removed: Partial<Record<Kind, number>> = {};
      let looked: (() => void) | undefined;
      const retention = new Retention({
        store: hub.retention,
        days,
        clock,
        log,
        // The next poll is scheduled when the previous one has ended.
        after: (delay, due) => {
          looked?.();
          looked = () => undefined;
          return clock.after(delay, due);
        },
        removed: (kind, messages) => {
          removed[kind] = (removed[kind] ?? 0) + messages;
        },
      });
      retention.begin();
      for (let look = 0; look < looks && looked !== undefined; look++) {
        const next = new Promise<void>((resolve) => {
          looked = resolve;
        });
        clock.advance(1_000);
        await next;
      }
      await retention.stop();
      return { removed, log };
    };

    test('removes old messages of the configured kinds with their records, and keeps Status, numbers and other kinds', async () => {
      await send('waypoint', way(OLD), { seq: 0, at: OLD });
      await send('waypoint', way(NEW), { seq: 1, at: NEW });
      await send('status', kinetic(50), { seq: 0, at: OLD });
      await send('trip', trip('a'), { seq: 0, at: OLD });
      await send('waypoint', way(OLD), { vin: OTHER, seq: 7, boot: 0x1f, at: OLD });
      await drive();
      const before = [await hub.reader.numbers(ONE), await hub.reader.numbers(OTHER)];
      const missing = await hub.reader.missingNumbers();

      const { removed, log } = await keepFor({ waypoint: 30, status: 30 });

      expect(removed).toEqual({ waypoint: 2, status: 1 });
      expect(await ids('waypoint')).toEqual(['1-1', '1-3e7']);
      expect(await ids('waypoint', OTHER)).toEqual([]);
      expect(await ids('trip')).toEqual(['a']);
      expect((await hub.reader.status(ONE))?.contents()).toMatchObject({ kinetic: { speed: 50 } });
      expect([await hub.reader.numbers(ONE), await hub.reader.numbers(OTHER)]).toEqual(before);
      expect(await hub.reader.missingNumbers()).toEqual(missing);
      expect(log.lines.filter(({ event }) => event === 'hub.retention.removed')).toMatchObject([
        { fields: { kind: 'waypoint', days: 30, messages: 2 } },
        { fields: { kind: 'status', days: 30, messages: 1 } },
      ]);
    });

    test('a removed message still counts as arrived and is not requested again', async () => {
      for (const seq of [0, 1, 3]) await send('waypoint', way(OLD), { seq, at: OLD });
      await drive();
      await keepFor({ waypoint: 1 });
      expect(await hub.reader.numbers(ONE)).toMatchObject([
        {
          class: 4,
          arrived: [
            [0, 1],
            [3, 3],
            [999, 999],
          ],
        },
      ]);
      const due = await hub.reader.dueNumbers(Number.MAX_SAFE_INTEGER, 10);
      expect(due.map(({ missing }) => missing)).toEqual([
        [
          [2, 2],
          [4, 998],
        ],
      ]);
      // A repetition that arrives late changes no number.
      await send('waypoint', way(OLD), { seq: 1, at: OLD, received: NOON });
      expect(await hub.reader.dueNumbers(Number.MAX_SAFE_INTEGER, 10)).toEqual(due);
    });

    test('removing the newest message of a record removes the record; removing earlier messages keeps it', async () => {
      await send('trip', trip('a', { distance: 1 }), { seq: 0, at: OLD });
      await send('trip', trip('b', { distance: 1 }), { seq: 1, at: OLD });
      await send('trip', trip('a', { distance: 2 }), { seq: 2, at: NEW });
      await drive();
      expect((await keepFor({ trip: 30 })).removed).toEqual({ trip: 2 });
      expect(await ids('trip')).toEqual(['a']);
      expect((await hub.reader.record(ONE, 'trip', 'a'))?.record).toMatchObject({ distance: 2 });
    });

    test('an alert that is still active is kept, however old', async () => {
      await send('alert', alert('a1', true), { seq: 0, at: OLD });
      await send('alert', alert('a1', false), { seq: 1, at: OLD + 1 });
      await send('alert', alert('a2', false), { seq: 2, at: OLD });
      await send('alert', alert('a2', true), { seq: 3, at: OLD + 1 });
      await drive();
      expect((await keepFor({ alert: 30 })).removed).toEqual({ alert: 3 });
      expect(await ids('alert')).toEqual(['a2']);
    });

    test('an event that waits for a receiver is kept until it is delivered', async () => {
      const owner = { kind: 'fleet', id: 'local' } as const;
      const { parameter: monitor } = compileMonitor(rightBodies.fleetMonitor);
      const times = { createdAt: OLD, updatedAt: OLD };
      await hub.monitorStore.putMonitor({ owner, monitor: { ...times, monitorId: 'ab', status: 'Running', monitor } });
      for (const [seq, monitorId] of ['ab', 'other'].entries()) {
        await send('event', { id: `e${seq}`, monitorId, at: OLD, refresh: false }, { seq, at: OLD });
      }
      await drive();
      expect((await keepFor({ event: 30 })).removed).toEqual({ event: 1 });
      const claim = { now: NOON, lease: 'l', lasts: 60_000, proven: false, limit: 5 };
      const [{ key } = { key: '' }] = await hub.deliveries.claim(claim);
      const [waiting] = await hub.deliveries.waiting(key, 5);
      expect(waiting?.about).toMatchObject({ event: { id: 'e0' } });
      const done = { key, lease: 'l', held: 0, tries: 0, done: [waiting?.seq ?? -1], lasts: 60_000 };
      await hub.deliveries.save([done]);
      expect((await keepFor({ event: 30 })).removed).toEqual({ event: 1 });
    });

    test('a hub whose clock no car confirms removes nothing and logs it', async () => {
      await send('waypoint', way(OLD), { seq: 0, at: OLD });
      await drive();
      const fast = await keepFor({ waypoint: 30 }, NOON + 400 * DAY);
      expect(fast.removed).toEqual({});
      expect(fast.log.lines.filter(({ event }) => event === 'hub.retention.paused')).toHaveLength(1);
      // Messages under the wrong clock confirm nothing, nor does a car that does not know the time.
      const later = NOON + 400 * DAY;
      await send('waypoint', way(NOON), { seq: 1000, at: NOON, received: later });
      await send('waypoint', way(later), { seq: 1001, at: later, clock: 'none' });
      expect((await keepFor({ waypoint: 30 }, later)).removed).toEqual({});
      expect((await keepFor({ waypoint: 30 })).removed).toEqual({ waypoint: 1 });
    });

    test('removes thousands of messages in one poll, even while another hub removes the same ones', async () => {
      const many = (vin: string) =>
        Array.from({ length: 700 }, (_, seq) => received('waypoint', way(OLD), { vin, seq, at: OLD }));
      await hub.store.save([...many(ONE), ...many(OTHER)], []);
      await drive();
      const both = await Promise.all([keepFor({ waypoint: 1 }, NOON, 1), keepFor({ waypoint: 1 }, NOON, 1)]);
      expect(both.reduce((sum, { removed }) => sum + (removed.waypoint ?? 0), 0)).toBe(1_400);
      expect(both.flatMap(({ log }) => log.lines.filter(({ event }) => event === 'hub.retention.failed'))).toEqual([]);
      expect([await ids('waypoint'), await ids('waypoint', OTHER)]).toEqual([['1-3e7'], []]);
    });

    test('a hub without retention settings keeps everything', async () => {
      await send('waypoint', way(OLD), { seq: 0, at: OLD });
      await drive();
      expect((await keepFor({})).removed).toEqual({});
      expect(await ids('waypoint')).toEqual(['1-0', '1-3e7']);
    });
  });
}
