/** Plans of worlds with all kinds of events. */
import { Chance } from './chance.ts';
import { callbackPlanOf, type Happening, happeningsOf, type Plan, SECOND, type Weighted, withMore } from './plan.ts';

const ofStops: Weighted = [
  [
    1,
    (chance) => ({
      do: 'stop',
      which: chance.below(1_000),
      key: chance.below(3),
      after: chance.between(0, 120),
      cuts: chance.happens(0.5),
      off: chance.between(50, 10 * SECOND),
    }),
  ],
];

const ofGarbage: Weighted = [[1, (chance) => ({ do: 'garbage', which: chance.below(1_000) })]];

const ofRollouts: Weighted = [
  [
    2,
    (chance) => ({
      do: 'rollout',
      kind: chance.pick(['good', 'good', 'good', 'faulty', 'deaf', 'lost'] as const),
      tolerated: chance.below(2),
    }),
  ],
  [5, () => ({ do: 'extension' })],
];

/** More commands with the same body than a car accepts. */
const ofBursts: Weighted = [
  [
    1,
    (chance) => ({
      do: 'burst',
      same: true,
      which: chance.below(1_000),
      key: chance.below(3),
      count: chance.between(12, 30),
      every: chance.between(50, 500),
    }),
  ],
];

/** The world of a seed, with all kinds of events. @param length ms in which events occur */
export function planOf(seed: number, length: number): Plan {
  const plan = callbackPlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, stops and garbage`);
  const draw = (weighted: Weighted, every: number): Happening[] =>
    chance.happens(0.4) ? happeningsOf(length, chance, weighted, plan.cars, every) : [];
  const stopsAndGarbage = [...draw(ofStops, 60 * SECOND), ...draw(ofGarbage, 30 * SECOND)];
  const sleeps = chance.happens(0.3);
  const isRollingOut = plan.fleet === true && chance.happens(0.7);
  const rollouts = isRollingOut ? happeningsOf(length, chance, ofRollouts, plan.cars, 20 * SECOND) : [];
  const bursts = chance.happens(0.3) ? happeningsOf(length, chance, ofBursts, plan.cars, 60 * SECOND) : [];
  const all = { ...withMore(plan, [...stopsAndGarbage, ...rollouts, ...bursts]), sleeps };
  return isRollingOut ? { ...all, rollouts: true } : all;
}
