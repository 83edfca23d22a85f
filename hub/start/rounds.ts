/** Regular work: requests for missing messages, roll-outs, correction of due times, removal of old messages. */
import { randomUUID } from 'node:crypto';
import { Backoff } from '../../agent/backoff.ts';
import { defined } from '../../protocol/defined.ts';
import { DueTimes } from '../core/due-times.ts';
import { ResendRequests } from '../core/resend.ts';
import { Retention } from '../core/retention.ts';
import { Rollouts } from '../core/rollouts.ts';
import { expireUnregistered } from '../core/unregistered.ts';
import { MONITOR_WAIT } from './monitors.ts';
import type { HubParts, HubStart } from './options.ts';

/** Waits in ms between requests for missing messages. A command is valid for 2 minutes, so it has expired by then. */
const RESEND = { first: 120_000, longest: 6 * 3_600_000 };
/** Waits in ms for a car that did not answer a configuration, longer than a command is valid, as {@link RESEND}. */
const ROLLOUT = { first: 250_000, longest: 900_000 };
/** Longest wait in ms of each kind of regular work. */
const MAX_WAITS_MS = {
  resends: RESEND.longest,
  monitors: MONITOR_WAIT.longest,
  rollouts: ROLLOUT.longest,
  deliveries: 3_600_000,
};

/** Starts all regular work. @returns the requests for missing messages, which callers of the interface may also use */
export function startRounds(
  { options, clock, log, after, teardowns }: HubStart,
  { database, commands, measures }: HubParts,
): ResendRequests {
  const shared = { clock, log, after };
  // Random, so that the hub does not ask all cars at once that lost messages together.
  const waitOf = (range: typeof RESEND) => (attempts: number) =>
    new Backoff(range, () => 0.5 + Math.random() / 2, attempts).next();
  const asking = { ...shared, commands, newId: randomUUID };
  const resends = new ResendRequests({ ...asking, store: database.reader, wait: waitOf(RESEND) });
  const removed: ConstructorParameters<typeof Retention>[0]['removed'] = (kind, messages) =>
    measures.removed(kind, messages);
  const { retention = {} } = options;
  const rounds = [
    resends,
    new Rollouts({ ...asking, store: database.rollouts, wait: waitOf(ROLLOUT) }),
    new DueTimes({ ...shared, store: database.dueTimes, longest: MAX_WAITS_MS }),
    new Retention({
      ...shared,
      store: database.retention,
      days: { ...retention, ...defined({ reading: database.readingDays }) },
      removed,
      ...(Object.keys(retention).length > 0 && {
        expire: async (now: number) =>
          measures.droppedUnregistered(await expireUnregistered(database.unregistered, retention, now)),
      }),
    }),
  ];
  for (const round of rounds) {
    round.begin();
    teardowns.unshift(() => round.stop());
  }
  return resends;
}
