/** Repeated messages, and different messages with the same number, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CarMessage } from '../../hub/core/message.ts';
import { UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { NOON, ONE, received, trip } from '../hub/messages.ts';
import type { HubStoreUnderTest } from './hub-store.ts';

export function hubRepetitionsContract(name: string, create: () => Promise<HubStoreUnderTest>): void {
  describe(`${name} with repeated messages`, () => {
    let hub: HubStoreUnderTest;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());
    const one = received('trip', trip('a', { distance: 1 }), { seq: 4, boot: 1, offset: 4 });
    const other = received('trip', trip('b', { distance: 2 }), { seq: 4, boot: 1, offset: 4 });

    const lostAfter = ({ message }: CarMessage) =>
      received('gap', { class: 5, count: 2 }, { seq: message.seq + 1, boot: 1, offset: message.seq + 1 });

    test.each(['in one commit', 'in two commits'])(
      'two messages with one number that arrive %s are both stored, and one is reported as a conflict',
      async (when) => {
        const commits = when === 'in one commit' ? [[one, other]] : [[one], [other]];
        const conflicts = [];
        for (const messages of commits) conflicts.push(...((await hub.store.save(messages, [])).conflicts ?? []));
        expect(conflicts.map(({ payload }) => payload)).toEqual([other.payload]);
        expect(conflicts.map(({ message }) => message.boot)).toEqual([1]);
        expect(await hub.payloads(ONE)).toHaveLength(2);
        expect((await hub.reader.record(ONE, 'trip', 'a'))?.record).toMatchObject({ distance: 1 });
        expect((await hub.reader.record(ONE, 'trip', 'b'))?.record).toMatchObject({ distance: 2 });
        expect(await hub.reader.numbers(ONE)).toMatchObject([{ class: 2, arrived: [[4, 4]], missing: [[0, 3]] }]);
      },
    );

    test('a message whose number was taken by another counts as a repetition when it arrives again', async () => {
      await hub.store.save([one, other], []);
      const again = await hub.store.save([other, one], []);
      expect([again.fresh, again.conflicts ?? []]).toEqual([[], []]);
      expect(await hub.payloads(ONE)).toHaveLength(2);
    });

    test('a message of an uncounted start that came before its life began is not stored again in that life', async () => {
      const options = { boot: UNCOUNTED_BOOT + 5, offset: 0 };
      const uncounted = [0, 1].map((seq) => received('trip', trip(`c${seq}`), { ...options, seq }));
      await hub.store.save([one, ...uncounted], []);
      await hub.store.save([received('trip', trip('d'), { seq: 2, boot: 3_000_000_000, offset: 0 })], []);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ class: 2, missing: [[0, 1]] }]);
      const again = await hub.store.save(uncounted, []);
      expect([again.fresh, again.conflicts ?? []]).toEqual([[], []]);
      expect(await hub.payloads(ONE)).toHaveLength(4);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ class: 2, arrived: [[0, 2]], missing: [] }]);
    });

    test('once a later life has begun, a class without a message in it lacks nothing of an earlier life', async () => {
      await hub.store.save([one], []);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ class: 2, missing: [[0, 3]] }]);
      const hello = received(
        'hello',
        { version: '1', protocol: 1, boot: 3_000_000_000, profile: 'bench', startedAt: NOON },
        { seq: 0, boot: 3_000_000_000, offset: 0 },
      );
      await hub.store.save([hello], []);
      const lacking = async () => (await hub.reader.numbers(ONE))?.filter(({ missing }) => missing.length > 0);
      expect(await lacking()).toEqual([]);
      // A late message of the earlier life does not make its numbers count again, in any class.
      await hub.store.save([received('trip', trip('f'), { seq: 3, boot: 1, offset: 3 })], []);
      await hub.store.save([received('telemetry', telemetryFromReadings([]), { seq: 7, boot: 1, offset: 7 })], []);
      expect(await lacking()).toEqual([]);
    });

    test('an uncounted start of a new life may use the number of another message of the previous life', async () => {
      const boot = UNCOUNTED_BOOT + 5;
      await hub.store.save([one, received('trip', trip('c'), { seq: 1, boot, offset: 1 })], []);
      await hub.store.save([received('trip', trip('d'), { seq: 0, boot: 3_000_000_000, offset: 0 })], []);
      const saved = await hub.store.save([received('trip', trip('e'), { seq: 1, boot, offset: 1 })], []);
      expect([saved.fresh.length, saved.conflicts ?? []]).toEqual([1, []]);
      expect(await hub.payloads(ONE)).toHaveLength(4);
    });

    test('a car with more gaps than the hub can keep loses no message, and none is stored twice', async () => {
      const count = 4_500;
      const messages = Array.from({ length: count }, (_, place) =>
        received('gap', { class: 5, count: 1 }, { seq: 2 * place, boot: 1, offset: 2 * place }),
      );
      const excess = [];
      for (let from = 0; from < count; from += 500) {
        const saved = await hub.store.save(messages.slice(from, from + 500), []);
        expect(saved.fresh).toHaveLength(500);
        excess.push(...(saved.excess ?? []));
      }
      expect(excess).toMatchObject([{ vin: ONE, class: 3, jumps: 0 }]);
      const [numbers] = (await hub.reader.numbers(ONE)) ?? [];
      expect(numbers?.unsureBelow).toBeGreaterThan(4_000);

      const again = await hub.store.save(messages, []);
      expect([again.fresh, again.conflicts ?? []]).toEqual([[], []]);
      expect(await hub.payloads(ONE)).toHaveLength(count);

      // The car sends what the broker lost.
      for (let from = 0; from < count; from += 500) {
        const part = messages.slice(from, from + 500).flatMap((one) => [one, lostAfter(one)]);
        expect((await hub.store.save(part, [])).fresh).toHaveLength(500);
      }
      expect(await hub.payloads(ONE)).toHaveLength(2 * count);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ arrived: [[0, 2 * count - 1]], missing: [] }]);
    });

    test('a hello that reports billions of sent messages is stored, and the report is ignored', async () => {
      const numbers = [{ class: 2, first: 0, below: 8_600_000_000 }];
      const body = { version: '1.0.0', protocol: 1, boot: 1, profile: 'x', startedAt: NOON, numbers };
      const saved = await hub.store.save([one, received('hello', body, { seq: 0, boot: 1, offset: 0 })], []);
      expect(saved.fresh).toHaveLength(2);
      expect(saved.excess).toEqual([{ vin: ONE, class: 2, runs: 0, jumps: 1 }]);
      const missing = (await hub.reader.missingNumbers()).find((known) => known.class === 2);
      expect(missing).toEqual({ class: 2, numbers: 4, cars: 1 });
    });

    test('only the newest 64 lives of a car with random start numbers are remembered, and all messages stored', async () => {
      const starts = Array.from({ length: 100 }, (_, place) =>
        received('gap', { class: 5, count: 1 }, { seq: 0, boot: (place * 40_000_003 + 7) % 2 ** 32, offset: 0 }),
      );
      const fresh = [];
      for (const part of [starts.slice(0, 50), starts.slice(50)]) fresh.push(...(await hub.store.save(part, [])).fresh);
      expect(fresh).toHaveLength(100);
      expect((await hub.reader.lives(ONE)).length).toBeLessThanOrEqual(64);
      expect((await hub.reader.lives(ONE)).at(-1)?.first).toBe(starts.at(-1)?.message.boot);
    });

    test('a message that retention removed counts as a repetition when it arrives again', async () => {
      const next = received('trip', trip('c'), { seq: 5, boot: 1, offset: 5 });
      await hub.store.save([one, next], []);
      await hub.remove(ONE);
      const again = await hub.store.save([one, received('trip', trip('d'), { seq: 6, boot: 1, offset: 6 })], []);
      expect(again.fresh.map(({ message }) => message.seq)).toEqual([6]);
      expect(await hub.payloads(ONE)).toHaveLength(1);
    });
  });
}
