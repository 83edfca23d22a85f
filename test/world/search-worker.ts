/** One process of a search: runs the worlds of the seeds that it receives. */

import { planOf } from './newest-plan.ts';
import type { SearchedWorld, WorldOfSeed } from './search.ts';
import { runWorld } from './world.ts';

process.on('message', ({ seed, length }: WorldOfSeed) => {
  const plan = planOf(seed, length);
  const before = process.cpuUsage();
  runWorld(plan).then(
    ({ breaches, faults, lasted }) => {
      const { user, system } = process.cpuUsage(before);
      const [cars, processor] = [plan.cars * lasted, (user + system) / 1_000];
      process.send?.({ seed, faults, lasted, cars, processor, breaches: breaches.length } satisfies SearchedWorld);
    },
    (error: Error) => {
      console.error(`the world of seed ${seed} ended with ${error.stack}`);
      process.exit(1);
    },
  );
});
