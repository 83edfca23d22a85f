/** Contract of every RecordStore, on any storage. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RecordStore, StoredRecord } from '../../agent/ports.ts';

export interface RecordStoreUnderTest {
  readonly records: RecordStore;
  /** Takes part in a commit. */
  commit(): Promise<void>;
  /** Sets the time for retention, UTC milliseconds. */
  setTime(now: number): void;
}

/** Retention rules of the store under test. Other collections use the default rules. */
export const contractRules = {
  short: { days: 2 },
  small: { bytes: 2000 },
};

const day = 86_400_000;

export function recordStoreContract(name: string, create: () => Promise<RecordStoreUnderTest>): void {
  describe(`${name} as a RecordStore`, () => {
    let store: RecordStoreUnderTest;
    let records: RecordStore;
    const record = (id: string, at: number, value: unknown = { id, at }): StoredRecord => ({ id, at, record: value });
    const ids = (collection: string, from?: number, to?: number) =>
      [...records.list(collection, from, to)].map(({ id }) => id);

    beforeEach(async () => {
      store = await create();
      records = store.records;
    });

    it('is empty at first', () => {
      expect(records.get('trips', 'a')).toBeUndefined();
      expect(ids('trips')).toEqual([]);
    });

    it('returns stored records at once and after a commit', async () => {
      const trip = record('a', 5, { distance: 12.5, points: [1, 2], key: Uint8Array.of(7), end: null });
      records.put('trips', trip);
      expect(records.get('trips', 'a')).toEqual(trip);
      await store.commit();
      expect(records.get('trips', 'a')).toEqual(trip);
      expect([...records.list('trips')]).toEqual([trip]);
      expect(records.get('alerts', 'a')).toBeUndefined();
    });

    it('returns a record as stored, without later changes', () => {
      const value = { n: 1 };
      records.put('trips', record('a', 5, value));
      value.n = 2;
      expect(records.get('trips', 'a')?.record).toEqual({ n: 1 });
    });

    it('replaces a record with the same id, even at another time', async () => {
      records.put('trips', record('a', 5, 1));
      records.put('trips', record('b', 6, 1));
      await store.commit();
      records.put('trips', record('a', 7, 2));
      expect(records.get('trips', 'a')).toEqual(record('a', 7, 2));
      expect(ids('trips')).toEqual(['b', 'a']);
      await store.commit();
      expect(ids('trips')).toEqual(['b', 'a']);
    });

    it('lists records from start (inclusive) to end (exclusive), by time and then id', async () => {
      for (const [id, at] of [
        ['x', 30],
        ['b', 20],
        ['a', 20],
        ['c', 10],
        ['B', 20],
      ] as const) {
        records.put('trips', record(id, at));
      }
      expect(ids('trips')).toEqual(['c', 'B', 'a', 'b', 'x']);
      expect(ids('trips', 20, 30)).toEqual(['B', 'a', 'b']);
      expect(ids('trips', 11)).toEqual(['B', 'a', 'b', 'x']);
      expect(ids('trips', 0, 20)).toEqual(['c']);
      expect(ids('trips', 31)).toEqual([]);
    });

    it('refuses an invalid record and keeps the existing one', () => {
      records.put('trips', record('a', 1));
      for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => records.put('trips', record('a', at))).toThrow(
          expect.objectContaining({ code: 'input.malformed' }),
        );
      }
      expect(() => records.put('', record('a', 1))).toThrow(expect.objectContaining({ code: 'input.malformed' }));
      expect(() => records.put('trips', record('a', 1, new Uint8Array(1 << 24)))).toThrow(
        expect.objectContaining({ code: 'message.unbounded' }),
      );
      expect([...records.list('trips')]).toEqual([record('a', 1)]);
    });

    it('drops records that are too old by their own time', async () => {
      const now = Date.UTC(2024, 1, 1);
      store.setTime(now);
      for (let days = 0; days < 5; days++) records.put('short', record(`d${days}`, now - days * day + 1));
      await store.commit();
      records.put('short', record('now', now));
      expect(ids('short')).toEqual(['d2', 'd1', 'now', 'd0']);
      expect(records.get('short', 'd3')).toBeUndefined();
      // The default retention is two months.
      records.put('trips', record('old', now - 61 * day));
      records.put('trips', record('kept', now - 59 * day));
      await store.commit();
      records.put('trips', record('now', now));
      expect(ids('trips')).toEqual(['kept', 'now']);
    });

    it('drops the oldest records when they exceed the size limit, whatever the order of insertion', async () => {
      for (let i = 0; i < 60; i++) {
        const at = (i * 7) % 60;
        records.put('small', record(`r${at}`, at, 'x'.repeat(100)));
        if (i % 5 === 4) await store.commit();
      }
      await store.commit();
      const left = ids('small');
      expect(left.length).toBeLessThanOrEqual(22);
      expect(left.length).toBeGreaterThan(8);
      expect(left.slice(-8)).toEqual([52, 53, 54, 55, 56, 57, 58, 59].map((at) => `r${at}`));
    });

    it('behaves like a map ordered by time under any sequence of operations', async () => {
      const step = fc.tuple(fc.nat(3), fc.nat(15), fc.nat(9), fc.nat(120));
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
          const collection = `c${round++}`;
          const model = new Map<string, StoredRecord>();
          for (const [what, id, at, size] of steps) {
            if (what === 0) {
              await store.commit();
            } else {
              const put = record(`${id}`, at, 'y'.repeat(size));
              records.put(collection, put);
              model.set(put.id, put);
            }
          }
          const inOrder = [...model.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
          expect([...records.list(collection)]).toEqual(inOrder);
          for (let id = 0; id <= 15; id++) expect(records.get(collection, `${id}`)).toEqual(model.get(`${id}`));
        }),
        { numRuns: 30 },
      );
    });
  });
}
