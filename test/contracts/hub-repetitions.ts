/** Repeated messages, and different messages with the same number, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ONE, received, trip } from '../hub/messages.ts';
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
