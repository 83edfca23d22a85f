/** Regular work of a hub: missing messages, roll-outs, due times set by a fast clock, and old messages. */
import { randomUUID } from 'node:crypto';
import { Backoff } from '../../agent/backoff.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import type { Teardown } from '../../assembly/teardown.ts';
import type { HubCommands } from '../core/commands.ts';
import { DueTimes } from '../core/due-times.ts';
import type { HubMeasures } from '../core/measures.ts';
import type { Timer } from '../core/ports.ts';
import { ResendRequests } from '../core/resend.ts';
import { Retention, type RetentionDays } from '../core/retention.ts';
import { Rollouts } from '../core/rollouts.ts';
import type { HubDatabase } from './database.ts';
import { MONITOR_WAIT } from './monitors.ts';

/** Waits between requests for missing messages, ms. The previous command has expired, as it is valid for 2 minutes. */
const RESEND = { first: 120_000, longest: 6 * 3_600_000 };
/** Waits for a car that did not answer to a configuration, ms. As {@link RESEND}. */
const ROLLOUT = { first: 250_000, longest: 900_000 };
/** Longest wait of each kind of regular work, ms. */
const MAX_WAITS_MS = {
  resends: RESEND.longest,
  monitors: MONITOR_WAIT.longest,
  rollouts: ROLLOUT.longest,
  deliveries: 3_600_000,
};

interface RoundsParts {
  readonly database: HubDatabase;
  readonly commands: HubCommands;
  readonly measures: HubMeasures;
  readonly days: RetentionDays;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts all regular work. @returns the requests for missing messages, which callers of the interface may also use */
export function startRounds(parts: RoundsParts, teardowns: Teardown[]): ResendRequests {
  const { database, commands, measures, days, clock, log } = parts;
  const after: Timer = (delay, due) => clock.after(delay, due);
  const shared = { clock, log, after };
  // Random, so that cars that lost messages together are not asked together.
  const waitOf = (range: typeof RESEND) => (attempts: number) =>
    new Backoff(range, () => 0.5 + Math.random() / 2, attempts).next();
  const asking = { ...shared, commands, newId: randomUUID };
  const resends = new ResendRequests({ ...asking, store: database.reader, wait: waitOf(RESEND) });
  const removed: ConstructorParameters<typeof Retention>[0]['removed'] = (kind, messages) =>
    measures.removed(kind, messages);
  const rounds = [
    resends,
    new Rollouts({ ...asking, store: database.rollouts, wait: waitOf(ROLLOUT) }),
    new DueTimes({ ...shared, store: database.dueTimes, longest: MAX_WAITS_MS }),
    new Retention({ ...shared, store: database.retention, days, removed }),
  ];
  for (const round of rounds) {
    round.begin();
    teardowns.unshift(() => round.stop());
  }
  return resends;
}
