/** One process of a search: runs the worlds of the seeds that it receives. */

import { planOf } from './plan.ts';
import type { SearchedWorld, WorldOfSeed } from './search.ts';
import { runWorld } from './world.ts';

process.on('message', ({ seed, length }: WorldOfSeed) => {
  runWorld(planOf(seed, length)).then(
    ({ breaches, faults, lasted }) => {
      process.send?.({ seed, faults, lasted, breaches: breaches.length } satisfies SearchedWorld);
    },
    (error: Error) => {
      console.error(`the world of seed ${seed} ended with ${error.stack}`);
      process.exit(1);
    },
  );
});
