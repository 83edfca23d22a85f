/** Messages that a hub hands to exits, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HubDatabase } from '../../hub/start/database.ts';
import { DAY } from '../../protocol/calendar.ts';
import { readingsFromTelemetry, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import { type MessageOptions, NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';

const speed = slotByPath.get('kinetic.speed') as Slot;
const EXIT = 'influx';

/** A telemetry message with one reading of the speed. */
export function speedAt(at: number, value: number, options: MessageOptions) {
  return received('telemetry', telemetryFromReadings([{ slot: speed, value, at }]), options);
}

export function hubExitsContract(name: string, create: () => Promise<HubDatabase>): void {
  describe(`the exits of a hub on ${name}`, () => {
    let hub: HubDatabase;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());

    const send = (at: number, value: number, options: MessageOptions) =>
      hub.store.save([speedAt(at, value, options)], []);
    /** Returns the readings from this id on as VIN, time and value, and the next id. */
    const readFrom = async (from: number, most = 10) => {
      const readings: string[] = [];
      let next = from;
      for (;;) {
        const portion = await hub.exits.read(next, most);
        for (const one of portion.items) {
          for (const { at, value } of readingsFromTelemetry(one.read() ?? telemetryFromReadings([]))) {
            readings.push(`${one.vin} ${at - NOON} ${String(value)}`);
          }
        }
        if (portion.next === next) return { readings, next, end: portion.end };
        next = portion.next;
      }
    };

    test('get the telemetry of all cars in the order of storage, in portions, and then only what comes later', async () => {
      await send(NOON, 1, { seq: 0 });
      await hub.store.save([received('trip', trip('a'), { seq: 0 })], []);
      await send(NOON + 1, 2, { vin: OTHER, seq: 0 });
      // Readings of a drive without network arrive after newer ones.
      await send(NOON - 5, 3, { seq: 1 });
      const first = await readFrom(0, 2);
      expect(first.readings).toEqual([`${ONE} 0 1`, `${OTHER} 1 2`, `${ONE} -5 3`]);
      expect(first.next).toBe(first.end);
      expect((await readFrom(first.next)).readings).toEqual([]);
      await send(NOON + 2, 4, { seq: 2 });
      // A repetition stores nothing.
      await send(NOON + 1, 2, { vin: OTHER, seq: 0 });
      expect((await readFrom(first.next)).readings).toEqual([`${ONE} 2 4`]);
    });

    test('get readings of a car that does not know the time yet once it does, at their own time', async () => {
      await send(5_000, 1, { seq: 0, boot: 3, clock: 'none' });
      await send(6_000, 2, { seq: 1, boot: 3, clock: 'none' });
      await send(NOON, 3, { seq: 0, vin: OTHER });
      const before = await readFrom(0);
      expect(before.readings).toEqual([`${OTHER} 0 3`]);
      const hello = { version: '1', protocol: 1, boot: 3, profile: 'bench', startedAt: NOON, behind: NOON };
      await hub.store.save([received('hello', hello, { seq: 1, boot: 3 })], []);
      // A message of the same start that comes even later is corrected when it is stored.
      await send(7_000, 4, { seq: 2, boot: 3, clock: 'none' });
      const after = await readFrom(before.next);
      expect(after.readings).toEqual([`${ONE} 5000 1`, `${ONE} 6000 2`, `${ONE} 7000 4`]);
      expect((await readFrom(0)).readings.toSorted()).toEqual([...before.readings, ...after.readings].toSorted());
    });

    test('get every message after retention has removed the newest one', async () => {
      await send(NOON, 1, { seq: 0 });
      await send(NOON, 2, { seq: 1 });
      const { id } = (await hub.exits.read(0, 10)).items.at(-1) ?? { id: 0 };
      expect(await hub.exits.open(EXIT)).toMatchObject({ next: 0 });
      expect(await hub.exits.save(EXIT, 0, { next: id + 1, refused: 0 }, NOON)).toBe(0);
      while ((await hub.retention.removeBefore('telemetry', NOON + 400 * DAY)).next !== undefined) {
        // Each step removes some.
      }
      expect((await readFrom(0)).readings).toEqual([]);
      await send(NOON + 1, 3, { seq: 2 });
      expect((await readFrom(id + 1)).readings).toEqual([`${ONE} 1 3`]);
    });

    test('have a progress that only the hub advances that knows it', async () => {
      expect(await hub.exits.open(EXIT)).toEqual({ next: 0, lost: 0, refused: 0 });
      expect(await hub.exits.save(EXIT, 0, { next: 7, refused: 1 }, NOON)).toBe(0);
      expect(await hub.exits.save(EXIT, 0, { next: 9, refused: 0 }, NOON)).toBeUndefined();
      expect(await hub.exits.open(EXIT)).toEqual({ next: 7, lost: 0, refused: 1 });
    });

    test('report what waits, since when, the last error, and what retention removed before the receiver had it', async () => {
      expect(await hub.exits.reports([EXIT])).toEqual([]);
      await hub.exits.open(EXIT);
      for (const seq of [0, 1, 2]) await send(NOON, seq, { seq, received: NOON + seq });
      const { items } = await hub.exits.read(0, 1);
      await hub.exits.save(EXIT, 0, { next: (items[0]?.id ?? 0) + 1, refused: 0 }, NOON + 3);
      expect(await hub.exits.failed(EXIT, 'away')).toBe(0);
      const counts = { waiting: 2, lost: 0, refused: 0 };
      expect(await hub.exits.reports([EXIT])).toEqual([
        {
          name: EXIT,
          kind: EXIT,
          state: 'waiting',
          ...counts,
          waitingSince: NOON + 1,
          error: 'away',
          succeededAt: NOON + 3,
        },
      ]);
      while ((await hub.retention.removeBefore('telemetry', NOON + 2)).next !== undefined) {
        // Each step removes some.
      }
      expect(await hub.exits.failed(EXIT, 'away')).toBe(1);
      expect(await hub.exits.reports([EXIT])).toMatchObject([{ waiting: 1, lost: 1, waitingSince: NOON + 2 }]);
      const { next } = await readFrom(0);
      expect(await hub.exits.save(EXIT, (items[0]?.id ?? 0) + 1, { next, refused: 0 }, NOON + 9)).toBe(1);
      expect(await hub.exits.reports([EXIT])).toEqual([
        { name: EXIT, kind: EXIT, state: 'running', waiting: 0, lost: 1, refused: 0, succeededAt: NOON + 9 },
      ]);
      expect(await hub.exits.reports([])).toEqual([]);
    });

    test('of plain topics count no messages, since these have only present values', async () => {
      await hub.exits.open('topics');
      await send(NOON, 1, { seq: 0 });
      while ((await hub.retention.removeBefore('telemetry', NOON + DAY)).next !== undefined) {
        // Each step removes some.
      }
      await send(NOON, 2, { seq: 1 });
      expect(await hub.exits.failed('topics', 'away')).toBe(0);
      const [report, ...others] = await hub.exits.reports(['topics']);
      expect(others).toEqual([]);
      expect(report).toEqual({
        ...{ name: 'topics', kind: 'topics', state: 'waiting', waiting: 0, lost: 0, refused: 0, error: 'away' },
      });
    });
  });
}
