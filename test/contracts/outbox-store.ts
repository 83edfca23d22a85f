/** Contract of every OutboxStore, on any storage. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { OutboxStore } from '../../agent/ports.ts';
import { entriesIn, outboxEntry } from '../adapters/store/entries.ts';

export interface OutboxStoreFactory {
  /** An empty store. */
  create(): Promise<OutboxStore>;
}

export function outboxStoreContract(name: string, factory: OutboxStoreFactory): void {
  describe(`${name} as an OutboxStore`, () => {
    let store: OutboxStore;
    const append = (priorityClass: number, count = 1): void => {
      for (let i = 0; i < count; i++) store.append(outboxEntry(priorityClass, store.nextSeq(priorityClass)));
    };
    const numbers = (): string[] => [...store.entries()].map((entry) => `${entry.class}/${entry.seq}`);

    beforeEach(async () => {
      store = await factory.create();
    });

    it('is empty at first and numbers from 0', async () => {
      expect(numbers()).toEqual([]);
      expect(store.bytes).toBe(0);
      expect(store.nextSeq(0)).toBe(0);
      expect(store.nextSeq(5)).toBe(0);
      await store.commit();
    });

    it('returns appended entries completely', () => {
      append(2, 2);
      expect(entriesIn(store)).toEqual([outboxEntry(2, 0), outboxEntry(2, 1)]);
    });

    it('returns a summary of an entry without reading its payload', () => {
      append(2, 2);
      for (const seq of [0, 1]) {
        const { payload, correlation, ...known } = outboxEntry(2, seq);
        expect(store.reference(2, seq)).toEqual({ ...known, bytes: payload.length });
      }
      expect([...store.entries()]).toEqual([store.reference(2, 0), store.reference(2, 1)]);
    });

    it('returns the lowest waiting number of a class', async () => {
      expect(store.firstWaiting(2)).toBeUndefined();
      append(2, 4);
      expect([store.firstWaiting(2), store.firstWaiting(1)]).toEqual([0, undefined]);
      store.acknowledge(2, 1);
      store.acknowledge(2, 0);
      expect(store.firstWaiting(2)).toBe(2);
      store.giveUp(2, 2);
      store.acknowledge(2, 3);
      await store.commit();
      expect(store.firstWaiting(2)).toBeUndefined();
    });

    it('returns undefined for unknown and acknowledged entries', async () => {
      append(2, 2);
      store.acknowledge(2, 0);
      for (const [priorityClass, seq] of [
        [2, 0],
        [2, 7],
        [9, 0],
      ] as const) {
        expect(store.reference(priorityClass, seq)).toBeUndefined();
        expect(store.load(priorityClass, seq)).toBeUndefined();
      }
      await store.commit();
      expect(store.load(2, 0)).toBeUndefined();
      expect(store.load(2, 1)).toEqual(outboxEntry(2, 1));
    });

    it('returns entries by class, oldest first', () => {
      for (const priorityClass of [5, 0, 2, 0, 5, 2]) append(priorityClass);
      expect(numbers()).toEqual(['0/0', '0/1', '2/0', '2/1', '5/0', '5/1']);
    });

    it('numbers each class separately', () => {
      append(1, 3);
      append(4);
      expect([store.nextSeq(0), store.nextSeq(1), store.nextSeq(4)]).toEqual([0, 3, 1]);
    });

    it('asking for the next number does not use it', () => {
      expect([store.nextSeq(1), store.nextSeq(1)]).toEqual([0, 0]);
    });

    it('removes acknowledged entries in any order, before and after a commit', async () => {
      append(3, 4);
      store.acknowledge(3, 1);
      await store.commit();
      store.acknowledge(3, 3);
      store.acknowledge(3, 0);
      expect(numbers()).toEqual(['3/2']);
    });

    it('removes abandoned entries and never reuses their numbers', async () => {
      append(3, 3);
      const before = store.bytes;
      store.giveUp(3, 1);
      store.giveUp(3, 1);
      store.giveUp(9, 0);
      expect(numbers()).toEqual(['3/0', '3/2']);
      expect(store.load(3, 1)).toBeUndefined();
      expect(store.reference(3, 1)).toBeUndefined();
      expect(store.bytes).toBeLessThan(before);
      await store.commit();
      expect(store.nextSeq(3)).toBe(3);
    });

    it('never reuses the number of a removed entry', async () => {
      append(3, 2);
      store.acknowledge(3, 0);
      store.acknowledge(3, 1);
      expect(store.nextSeq(3)).toBe(2);
      await store.commit();
      expect(store.nextSeq(3)).toBe(2);
    });

    it('ignores an acknowledgement of an unknown entry', async () => {
      append(3, 1);
      store.acknowledge(3, 7);
      store.acknowledge(9, 0);
      store.acknowledge(3, 0);
      store.acknowledge(3, 0);
      await store.commit();
      expect(numbers()).toEqual([]);
      expect([store.nextSeq(3), store.nextSeq(9)]).toEqual([1, 0]);
    });

    it('refuses a used number and keeps the existing entry', () => {
      append(1, 2);
      store.acknowledge(1, 0);
      for (const seq of [0, 1]) {
        expect(() => store.append(outboxEntry(1, seq))).toThrow(expect.objectContaining({ code: 'input.malformed' }));
      }
      expect(numbers()).toEqual(['1/1']);
    });

    it('refuses invalid numbers', () => {
      for (const seq of [-1, 0.5, Number.NaN, 2 ** 53]) {
        const entry = { ...outboxEntry(1, 0), seq };
        expect(() => store.append(entry)).toThrow(expect.objectContaining({ code: 'input.malformed' }));
      }
    });

    it('counts at least the bytes of payload and correlation, and 0 when all entries are gone', () => {
      append(1, 2);
      const payloads = entriesIn(store).reduce((n, e) => n + e!.payload.length + (e!.correlation?.length ?? 0), 0);
      expect(store.bytes).toBeGreaterThanOrEqual(payloads);
      const both = store.bytes;
      store.acknowledge(1, 0);
      expect(store.bytes).toBeLessThan(both);
      store.acknowledge(1, 1);
      expect(store.bytes).toBe(0);
    });

    it('can be changed while its entries are iterated', () => {
      append(1, 4);
      const seen: number[] = [];
      for (const { seq } of store.entries()) {
        seen.push(seq);
        store.acknowledge(1, seq);
      }
      expect(seen).toEqual([0, 1, 2, 3]);
      expect(numbers()).toEqual([]);
    });

    it('accepts an empty payload and one of 1 MiB', async () => {
      const entries = [outboxEntry(0, 0, 0), outboxEntry(0, 1, 1 << 20)];
      for (const entry of entries) store.append(entry);
      await store.commit();
      expect(entriesIn(store)).toEqual(entries);
    });

    it('accepts concurrent commits', async () => {
      const commits = [0, 1, 2, 3].map((priorityClass) => {
        append(priorityClass);
        return store.commit();
      });
      await Promise.all(commits);
      expect(numbers()).toEqual(['0/0', '1/0', '2/0', '3/0']);
    });
  });
}
