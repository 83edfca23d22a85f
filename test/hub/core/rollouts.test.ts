/** Roll-outs as the interface reports them. */
import { expect, test } from 'vitest';
import type { Rollout } from '../../../hub/core/rollout-store.ts';
import { presentRollout } from '../../../hub/core/rollouts.ts';
import { NOON, ONE } from '../messages.ts';

const cars = { waiting: 0, sent: 0, accepted: 0, trial: 0, applied: 0, returned: 0, refused: 2 };
const rollout: Rollout = {
  id: 'r',
  fleet: 'north',
  name: 'fleet.yaml',
  digest: 'd',
  caller: 'ops',
  created: NOON,
  first: 5,
  tolerated: 0,
  stage: 'first',
  cars,
};
const store = {
  failure: async () => ({ vin: ONE, isFirst: true, state: 'refused', detail: 'no such profile' }) as const,
};

test('a roll-out that cars refused is shown as stopped before a hub has recorded that', async () => {
  expect(await presentRollout(rollout, store)).toEqual({
    ...rollout,
    stage: 'stopped',
    reason: `2 cars returned or refused it, such as ${ONE} (refused: no such profile)`,
  });
  const tolerant = { ...rollout, tolerated: 2 };
  expect(await presentRollout(tolerant, store)).toBe(tolerant);
});
