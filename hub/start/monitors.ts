/** Starts the synchronization of monitors with the cars. */

import { randomUUID } from 'node:crypto';
import { Backoff } from '../../agent/backoff.ts';
import type { HubCommands } from '../core/commands.ts';
import { MonitorSync } from '../core/monitor-sync.ts';
import type { CarMonitorStore } from '../core/monitors.ts';
import { digestOf } from './clients.ts';
import type { HubStart } from './options.ts';

/** Waits for the report of a car, in ms. A command is valid for two minutes, so the previous ones have expired. */
export const MONITOR_WAIT = { first: 240_000, longest: 6 * 3_600_000 };

/** Starts the synchronization. */
export function startMonitorSync(
  { clock, log, after, teardowns }: HubStart,
  store: CarMonitorStore,
  commands: HubCommands,
): MonitorSync {
  const sync = new MonitorSync({
    store,
    commands,
    clock,
    log,
    after,
    // Random, so that the hub does not compare all cars at once that received monitors together.
    wait: (attempts) => new Backoff(MONITOR_WAIT, () => 0.5 + Math.random() / 2, attempts).next(),
    newId: randomUUID,
    digest: digestOf,
  });
  sync.begin();
  teardowns.unshift(() => sync.stop());
  return sync;
}
