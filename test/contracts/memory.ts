/** Contract of every Memory, on any storage. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Memory } from '../../agent/ports.ts';

export interface MemoryUnderTest {
  readonly memory: Memory;
  /** Takes part in a commit. */
  commit(): Promise<void>;
}

export function memoryContract(name: string, create: () => Promise<MemoryUnderTest>): void {
  describe(`${name} as a Memory`, () => {
    let memory: Memory;
    let commit: () => Promise<void>;

    beforeEach(async () => {
      const made = await create();
      memory = made.memory;
      commit = () => made.commit();
    });

    it('has no states at first', () => {
      expect(memory.recall('trip')).toBeUndefined();
    });

    it('collects states at every commit, and not before', async () => {
      let asked = 0;
      memory.keep(() => {
        asked++;
        return [['trip', asked]];
      });
      expect([asked, memory.recall('trip')]).toEqual([0, undefined]);
      await commit();
      expect(asked).toBeGreaterThan(0);
      expect(memory.recall('trip')).toBe(asked);
      const before = asked;
      await commit();
      expect(asked).toBeGreaterThan(before);
      expect(memory.recall('trip')).toBe(asked);
    });

    it('returns data of every CBOR type unchanged', async () => {
      const value = {
        number: -1.5,
        time: 1_700_000_000_123,
        text: 'Zürich',
        yes: true,
        nothing: null,
        bytes: Uint8Array.of(1, 2),
        list: [1, [2], {}],
        nested: { a: { b: [0, ''] } },
      };
      memory.keep(() => [['all', value]]);
      await commit();
      expect(memory.recall('all')).toEqual(value);
    });

    it('returns the state as of the commit, without later changes', async () => {
      const value = { n: 1 };
      memory.keep(() => [['value', value]]);
      await commit();
      value.n = 2;
      expect(memory.recall('value')).toEqual({ n: 1 });
      await commit();
      expect(memory.recall('value')).toEqual({ n: 2 });
    });

    it('keeps states that a commit does not mention, and removes undefined ones', async () => {
      let states: [string, unknown][] = [
        ['a', 1],
        ['b', 2],
      ];
      memory.keep(() => states);
      await commit();
      states = [['b', undefined]];
      await commit();
      expect([memory.recall('a'), memory.recall('b')]).toEqual([1, undefined]);
      states = [['b', 3]];
      await commit();
      expect(memory.recall('b')).toBe(3);
    });

    it('collects states from every part of the core', async () => {
      memory.keep(() => [['a', 1]]);
      memory.keep(() => [['b', 2]]);
      await commit();
      expect([memory.recall('a'), memory.recall('b')]).toEqual([1, 2]);
    });

    it('commits the other states if one part of the core throws', async () => {
      memory.keep(() => {
        throw new Error('a defect');
      });
      memory.keep(() => [['b', 2]]);
      await commit();
      expect(memory.recall('b')).toBe(2);
    });
  });
}
