/** Messages of cars that are not registered: kept aside within bounds, and taken in when the car is registered. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Intake } from '../../hub/core/intake.ts';
import { HubMeasures } from '../../hub/core/measures.ts';
import { expireUnregistered, type UnregisteredBounds, UnregisteredCars } from '../../hub/core/unregistered.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { DAY } from '../../protocol/calendar.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import { upTopic } from '../../protocol/topics.ts';
import { NOON, ONE, OTHER, payloadOf, trip } from '../hub/messages.ts';
import { MemoryLog } from '../rig/log.ts';

/** Small, so that a test reaches them. */
const BOUNDS: UnregisteredBounds = { carMessages: 30, carBytes: 20_000, messages: 60, bytes: 40_000, cars: 20 };

const NORTH = [{ kind: 'fleet', id: 'north' }] as const;
const vinOf = (number: number) => `VF3VGEHVBX${String(number).padStart(7, '0')}`;
const kinetic = (speed: number) => ({ full: true, status: { kinetic: { createdAt: NOON, speed } } }) as never;

export function hubUnregisteredContract(
  name: string,
  create: (bounds: UnregisteredBounds) => Promise<HubDatabase>,
): void {
  describe(`cars that are not registered at a hub on ${name}`, () => {
    let hub: HubDatabase;
    let clock: { now: () => number; at: number };
    let measures: HubMeasures;
    let log: MemoryLog;
    let intake: Intake;
    beforeEach(async () => {
      hub = await create(BOUNDS);
      clock = { at: NOON, now: () => clock.at };
      measures = new HubMeasures(clock);
      log = new MemoryLog();
      intake = intakeOf();
      await hub.registry.add(OTHER, NORTH, NOON);
    });
    afterEach(() => hub.close());

    function intakeOf(): Intake {
      return new Intake({
        store: hub.store,
        unregistered: hub.unregistered,
        clock,
        log,
        measures,
        soon: (work) => setImmediate(work),
        after: (_delay, due) => {
          const timer = setImmediate(due);
          return () => clearImmediate(timer);
        },
      });
    }
    const send = (vin: string, seq: number, id = `a${seq}`) =>
      intake.accept(upTopic(vin, 'trip'), payloadOf('trip', trip(id), { seq }));
    const ids = async (vin: string) => {
      const found: string[] = [];
      for await (const { id } of hub.reader.records(vin, 'trip')) found.push(id);
      return found.sort();
    };
    const arrived = async (vin: string) => (await hub.reader.numbers(vin))?.map((one) => one.arrived);
    /** Takes in all messages of cars that were registered. Resolves when they are on disk. */
    const takeIn = async () => {
      const cars = new UnregisteredCars({
        store: hub.unregistered,
        takeIn: (vins) => intake.takeIn(vins),
        after: () => () => undefined,
        log,
      });
      cars.wake();
      await cars.stop();
      await intake.settled();
    };

    test('their messages are acknowledged and kept, and belong to nobody until the car is registered', async () => {
      await Promise.all([0, 1, 2].map((seq) => send(ONE, seq)));
      await send(OTHER, 0);
      expect(await hub.unregistered.totals()).toMatchObject({ cars: 1, messages: 3 });
      expect(await hub.unregistered.newest(9)).toMatchObject([{ vin: ONE, messages: 3, dropped: 0, lastSeen: NOON }]);
      expect((await hub.reader.vehicles()).map(({ vin }) => vin)).toEqual([OTHER]);
      expect(measures.snapshot()).toMatchObject({ refusedCars: { unregistered: 3 }, repeated: 0, refused: 0 });
      await takeIn();
      expect(await hub.unregistered.totals()).toMatchObject({ messages: 3 });
    });

    test('when the car is registered, all are stored in their order, each once, and the car counts as heard when it sent', async () => {
      // More than a commit takes, some of them twice, as a broker sends what was not acknowledged.
      for (const speed of [1, 2, 3]) {
        await intake.accept(upTopic(ONE, 'status'), payloadOf('status', kinetic(speed), { seq: speed }), speed === 1);
      }
      for (let seq = 0; seq < 20; seq++) await send(ONE, seq);
      await send(ONE, 7);
      await intake.accept(upTopic(ONE, 'trip'), Uint8Array.of(1));
      clock.at = NOON + DAY;
      await hub.registry.add(ONE, NORTH, clock.at);
      await takeIn();
      expect(await arrived(ONE)).toEqual([[[0, 19]], [[1, 3]]]);
      expect(await ids(ONE)).toHaveLength(20);
      expect((await hub.reader.status(ONE))?.contents().kinetic?.speed).toBe(3);
      expect(await hub.reader.vehicle(ONE)).toMatchObject({ firstSeen: NOON, lastSeen: NOON });
      // Viewers that read changes since yesterday must see the car.
      const [summary] = await hub.overviewReader.summaries(clock.at, '', 9);
      expect(summary).toMatchObject({ vin: ONE, changed: clock.at });
      expect(await hub.unregistered.totals()).toEqual({ cars: 0, messages: 0, bytes: 0 });
      expect(measures.snapshot()).toMatchObject({ refused: 1, repeated: 1 });
      const before = measures.snapshot().messages;
      await takeIn();
      expect(measures.snapshot().messages).toEqual(before);
    });

    test('a message that comes after the registration waits for the older ones', async () => {
      for (let seq = 0; seq < 25; seq++) await send(ONE, seq);
      await hub.registry.add(ONE, NORTH, NOON);
      // No search for registered cars has run.
      const older = { boot: 1, seq: 40 };
      await intake.accept(upTopic(ONE, 'trip'), payloadOf('trip', trip('a40'), older));
      expect(await arrived(ONE)).toEqual([
        [
          [0, 24],
          [40, 40],
        ],
      ]);
      const takenIn = log.lines.filter(({ event }) => event === 'hub.car.takenIn');
      expect(takenIn).toMatchObject([{ fields: { vin: ONE, messages: 25 } }]);
      expect((await hub.unregistered.totals()).messages).toBe(0);
    });

    test('two hubs that take in the same car at once store each message once', async () => {
      for (let seq = 0; seq < 25; seq++) await send(ONE, seq);
      await hub.registry.add(ONE, NORTH, NOON);
      const second = intakeOf();
      intake.takeIn([ONE]);
      second.takeIn([ONE]);
      await Promise.all([intake.settled(), second.settled()]);
      expect(await arrived(ONE)).toEqual([[[0, 24]]]);
      expect(measures.snapshot()).toMatchObject({ repeated: 0, failedCommits: 0 });
    });

    test('a car has the newest messages within its bounds, and the dropped ones are counted', async () => {
      for (let seq = 0; seq < 50; seq++) await send(ONE, seq);
      expect(await hub.unregistered.newest(1)).toMatchObject([{ messages: 30, dropped: 20 }]);
      expect(measures.snapshot().droppedUnregistered).toBe(20);
      const large = new Uint8Array(6_000);
      for (let count = 0; count < 5; count++) await intake.accept(upTopic(ONE, 'trip'), large);
      const [car] = await hub.unregistered.newest(1);
      expect(car?.bytes).toBeLessThanOrEqual(BOUNDS.carBytes);
      expect(car?.bytes).toBe(3 * large.byteLength);
      await hub.registry.add(ONE, NORTH, NOON);
      await takeIn();
      expect(measures.snapshot()).toMatchObject({ refused: 3, repeated: 0 });
    });

    test('invented cars fill no more than the bounds, and registered cars lose nothing', async () => {
      await Promise.all(
        Array.from({ length: 1_200 }, (_, number) => [send(vinOf(number % 600), number), send(OTHER, number)]).flat(),
      );
      const totals = await hub.unregistered.totals();
      expect(totals.cars).toBeLessThanOrEqual(BOUNDS.cars);
      expect(totals.messages).toBeLessThanOrEqual(BOUNDS.messages);
      expect(totals.bytes).toBeLessThanOrEqual(BOUNDS.bytes);
      const newest = await hub.unregistered.newest(99);
      expect(newest.reduce((sum, { messages }) => sum + messages, 0)).toBe(totals.messages);
      expect(measures.snapshot().droppedUnregistered).toBe(1_200 - totals.messages);
      expect(await arrived(OTHER)).toEqual([[[0, 1_199]]]);
      // One line for each power of two at most.
      expect(log.lines.filter(({ event }) => event === 'hub.car.unregistered').length).toBeLessThanOrEqual(11);
    });

    test('if all cars together have too much, the oldest messages are dropped', async () => {
      for (const number of [0, 1, 2]) {
        for (let seq = 0; seq < 25; seq++) await send(vinOf(number), seq);
      }
      expect((await hub.unregistered.newest(9)).map(({ vin, messages }) => [vin, messages])).toEqual([
        [vinOf(0), 10],
        [vinOf(1), 25],
        [vinOf(2), 25],
      ]);
      expect(measures.snapshot().droppedUnregistered).toBe(15);
    });

    test('messages of removed and forgotten cars are acknowledged and counted, and never kept', async () => {
      await hub.registry.remove(OTHER, NOON);
      await send(OTHER, 0);
      await send(ONE, 0);
      expect(await hub.registry.forget(ONE, NOON)).toBe(true);
      await send(ONE, 1);
      expect(await hub.unregistered.totals()).toEqual({ cars: 0, messages: 0, bytes: 0 });
      expect(measures.snapshot().refusedCars).toEqual({ removed: 1, forgotten: 1, unregistered: 1 });
      // After it is added again, it begins without what it had sent.
      await hub.registry.add(ONE, NORTH, NOON);
      await takeIn();
      expect(await arrived(ONE)).toBeUndefined();
    });

    test('messages expire after the days of their kind, unreadable ones after the longest', async () => {
      await send(ONE, 0);
      await intake.accept(upTopic(ONE, 'status'), payloadOf('status', kinetic(1), { seq: 1 }));
      await intake.accept(upTopic(ONE, 'trip'), Uint8Array.of(1));
      const expire = (days: Partial<Record<Kind, number>>, later: number) =>
        expireUnregistered(hub.unregistered, days, NOON + later * DAY + 1);
      expect(await expire({ trip: 3, waypoint: 9 }, 2)).toBe(0);
      expect(await expire({ trip: 3, waypoint: 9 }, 3)).toBe(1);
      expect(await hub.unregistered.newest(9)).toMatchObject([{ messages: 2, dropped: 1 }]);
      expect(await expire({ trip: 3, waypoint: 9 }, 9)).toBe(1);
      expect(await expire({ status: 9 }, 9)).toBe(1);
      expect(await hub.unregistered.totals()).toEqual({ cars: 0, messages: 0, bytes: 0 });
    });

    test('when the registry ends, every car may send, and what was kept is stored', async () => {
      await send(ONE, 0);
      await hub.registry.end(NOON);
      await takeIn();
      expect(await ids(ONE)).toEqual(['a0']);
    });

    test('a database that is full acknowledges nothing', async () => {
      const full = { keep: async () => Promise.reject(new Error('disk full')) };
      const other = new Intake({
        store: hub.store,
        unregistered: full,
        clock,
        log,
        measures,
        soon: (work) => setImmediate(work),
        after: (_delay, due) => {
          due();
          return () => undefined;
        },
      });
      const sent = other.accept(upTopic(ONE, 'trip'), payloadOf('trip', trip('a'), { seq: 0 }));
      await expect(sent).rejects.toThrow('disk full');
      expect(measures.snapshot().failing).toBe(true);
    });
  });
}
