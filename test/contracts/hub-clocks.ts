/** What hubs on one database make of starts of cars that have no number, and of clocks that were wrong. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HubDatabase } from '../../assembly/hub-database.ts';
import { UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';
import { NOON, ONE, received, trip } from '../hub/messages.ts';

export function hubClocksContract(name: string, create: () => Promise<HubDatabase>): void {
  describe(`starts and clocks that are wrong, on ${name}`, () => {
    let hub: HubDatabase;
    beforeEach(async () => {
      hub = await create();
      await hub.store.save([received('trip', trip('a'))], []);
    });
    afterEach(() => hub.close());

    /** Of a start without a number, and of the start after it. */
    const [before, after] = [
      { seq: 7, boot: UNCOUNTED_BOOT + 5 },
      { seq: 9, boot: 5 },
    ];

    test('a car that could not count its start reports its configuration and its part of a roll-out anew', async () => {
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
      // One that comes late changes nothing.
      await store.save([hello(2, 'trial', { ...before, seq: 8 })], []);
      expect(await shown()).toMatchObject(applied);
    });

    test('the states of a command stand in the order in which a car that could not count its start made them', async () => {
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
  });
}
