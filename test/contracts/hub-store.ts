/** What every store of a hub must do, whatever database it keeps messages in. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MessageStore, NumbersStore } from '../../hub/ports.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';

/** A record as a reader has it. */
interface ReadRecord {
  readonly id: string;
  readonly at: number;
  readonly record: unknown;
}

export interface HubStoreUnderTest {
  readonly store: MessageStore & NumbersStore;
  status(vin: string): Promise<StatusContents | undefined>;
  get(vin: string, collection: string, id: string): Promise<ReadRecord | undefined>;
  list(vin: string, collection: string, from?: number, to?: number): Promise<readonly ReadRecord[]>;
  /** Payloads of all messages of a car, in the order of class, number and start. */
  payloads(vin: string): Promise<readonly Uint8Array[]>;
  /** Closes the store and opens it again. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export function hubStoreContract(name: string, create: () => Promise<HubStoreUnderTest>): void {
  describe(`${name} as the store of a hub`, () => {
    let hub: HubStoreUnderTest;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());

    test('knows no car at first', async () => {
      expect(await hub.store.vehicles()).toEqual([]);
      expect(await hub.store.numbers(ONE)).toBeUndefined();
      expect(await hub.status(ONE)).toBeUndefined();
      expect(await hub.list(ONE, 'trip')).toEqual([]);
    });

    test('keeps the bytes of messages unchanged, over a restart too', async () => {
      const messages = [received('trip', trip('a'), { seq: 0 }), received('gap', { class: 5, count: 2 }, { seq: 0 })];
      await hub.store.save(messages, []);
      await hub.reopen();
      expect(await hub.payloads(ONE)).toEqual(messages.map(({ payload }) => new Uint8Array(payload)));
    });

    test('a repetition changes nothing; the same number of another start of the agent is another message', async () => {
      const message = received('trip', trip('a', { distance: 1 }), { seq: 4, boot: 1 });
      await hub.store.save([message, message], []);
      await hub.store.save([message], []);
      expect(await hub.payloads(ONE)).toHaveLength(1);
      await hub.store.save([received('trip', trip('a', { distance: 2 }), { seq: 4, boot: 2 })], []);
      expect(await hub.payloads(ONE)).toHaveLength(2);
      expect((await hub.get(ONE, 'trip', 'a'))?.record).toMatchObject({ distance: 2 });
    });

    test('reports numbers per car and class: arrived, given up by a gap, missing', async () => {
      await hub.store.save(
        [
          received('trip', trip('a'), { seq: 1 }),
          received('trip', trip('b'), { seq: 5 }),
          received('gap', { class: 2, count: 2, numbers: [[2, 3]] }, { seq: 0 }),
          received('trip', trip('a'), { seq: 0, vin: OTHER }),
        ],
        [],
      );
      await hub.reopen();
      await hub.store.save([received('trip', trip('c'), { seq: 6 })], []);
      expect(await hub.store.numbers(ONE)).toEqual([
        {
          class: 2,
          arrived: [
            [1, 1],
            [5, 6],
          ],
          givenUp: [[2, 3]],
          missing: [
            [0, 0],
            [4, 4],
          ],
        },
        { class: 3, arrived: [[0, 0]], givenUp: [], missing: [] },
      ]);
      expect(await hub.store.numbers(OTHER)).toEqual([{ class: 2, arrived: [[0, 0]], givenUp: [], missing: [] }]);
    });

    test('a record has the form of its newest message, in whatever order they arrive', async () => {
      await hub.store.save([received('trip', trip('a', { distance: 2 }), { seq: 8 })], []);
      await hub.store.save([received('trip', trip('a', { distance: 1 }), { seq: 7 })], []);
      expect((await hub.get(ONE, 'trip', 'a'))?.record).toMatchObject({ id: 'a', distance: 2 });
      await hub.store.save([received('trip', trip('a', { distance: 3 }), { seq: 0, boot: 2 })], []);
      expect((await hub.get(ONE, 'trip', 'a'))?.record).toMatchObject({ id: 'a', distance: 3 });
    });

    test('lists the records of one car from, to before, by time and then by id', async () => {
      const made = (['d', 'b', 'a', 'c', 'B'] as const).map((id, seq) =>
        received('trip', trip(id, { createdAt: NOON + { d: 30, b: 20, a: 20, c: 10, B: 20 }[id] }), { seq }),
      );
      await hub.store.save([...made, received('trip', trip('e'), { vin: OTHER })], []);
      const ids = async (from?: number, to?: number) => (await hub.list(ONE, 'trip', from, to)).map(({ id }) => id);
      expect(await ids()).toEqual(['c', 'B', 'a', 'b', 'd']);
      expect(await ids(NOON + 20, NOON + 30)).toEqual(['B', 'a', 'b']);
      expect(await ids(NOON + 10.5)).toEqual(['B', 'a', 'b', 'd']);
      expect(await ids(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)).toHaveLength(5);
      expect(await hub.get(OTHER, 'trip', 'd')).toBeUndefined();
      expect(await hub.list(ONE, 'alert')).toEqual([]);
    });

    test('pieces of series are found by the time at which they begin', async () => {
      const points = [{ at: NOON - 5_000, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }];
      await hub.store.save([received('waypoint', { points }, { seq: 3 })], []);
      const [piece] = await hub.list(ONE, 'waypoint', NOON - 5_000, NOON);
      expect(piece).toMatchObject({ at: NOON - 5_000, record: { points } });
      expect(await hub.get(ONE, 'waypoint', piece?.id ?? '')).toEqual(piece);
    });

    test('once the car knows the time, what it sent without is corrected, before and after it said so', async () => {
      const [none, behind] = ['none' as const, 3_600_000];
      const piece = (at: number) => ({ points: [{ at, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }] });
      await hub.store.save([received('waypoint', piece(NOON), { seq: 0, boot: 3, clock: none })], []);
      await hub.store.save([received('waypoint', piece(NOON), { seq: 1, boot: 2, clock: none })], []);
      const hello = { version: '1', protocol: 1, boot: 3, profile: 'bench', startedAt: NOON, behind };
      await hub.store.save([received('hello', hello, { seq: 1, boot: 3 })], []);
      await hub.store.save([received('waypoint', piece(NOON + 1), { seq: 2, boot: 3, clock: none })], []);
      await hub.store.save([received('waypoint', piece(NOON + 2), { seq: 3, boot: 3 })], []);
      // Sent again with another number, as after a lost answer of the disk: it corrects once.
      await hub.store.save([received('hello', hello, { seq: 2, boot: 3 })], []);
      expect((await hub.list(ONE, 'waypoint')).map(({ at, record }) => [at, record])).toEqual([
        [NOON, piece(NOON)],
        [NOON + 2, piece(NOON + 2)],
        [NOON + behind, piece(NOON + behind)],
        [NOON + behind + 1, piece(NOON + behind + 1)],
      ]);
    });

    test('Status is that of the messages so far, over a restart too', async () => {
      const kinetic = { createdAt: NOON, speed: 12 };
      await hub.store.save(
        [received('status', { full: true, status: { kinetic } } as never, { seq: 0 }), received('trip', trip('a'))],
        [],
      );
      expect(await hub.status(ONE)).toEqual({ kinetic });
      await hub.reopen();
      const faster = { createdAt: NOON + 1, speed: 13 };
      await hub.store.save([received('status', { full: false, status: { kinetic: faster } } as never, { seq: 1 })], []);
      expect(await hub.status(ONE)).toEqual({ kinetic: faster });
      expect(await hub.status(OTHER)).toBeUndefined();
    });

    test('remembers when each car was heard first and last', async () => {
      await hub.store.save([received('trip', trip('a'), { received: NOON + 5 })], []);
      await hub.store.save([received('trip', trip('b'), { seq: 1, received: NOON + 9 })], []);
      await hub.store.save([received('trip', trip('a'), { vin: OTHER, received: NOON + 7 })], []);
      expect(await hub.store.vehicles()).toEqual([
        { vin: ONE, firstSeen: NOON + 5, lastSeen: NOON + 9 },
        { vin: OTHER, firstSeen: NOON + 7, lastSeen: NOON + 7 },
      ]);
    });

    test('a commit that fails keeps none of its messages', async () => {
      const broken = { ...received('trip', trip('b'), { seq: 1 }), received: 'never' as unknown as number };
      const whole = { full: true, status: { kinetic: { createdAt: NOON, speed: 12 } } } as never;
      await expect(
        hub.store.save([received('trip', trip('a')), received('status', whole), broken], []),
      ).rejects.toMatchObject({ code: 'store.failed' });
      expect(await hub.payloads(ONE)).toEqual([]);
      expect(await hub.status(ONE)).toBeUndefined();
      await hub.store.save([received('trip', trip('a'))], []);
      expect(await hub.payloads(ONE)).toHaveLength(1);
    });
  });
}
