/** Runs the exits of a hub. */
import { setImmediate as turn } from 'node:timers/promises';
import { Forwarder } from '../../adapters/exits/forwarder.ts';
import type { InfluxClient } from '../../adapters/exits/influx.ts';
import { influxLines } from '../../adapters/exits/influx-lines.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import { VigieError } from '../../protocol/errors.ts';
import { scopeOfPath } from '../../protocol/interface/visible-members.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { ExitItem, ExitStore } from '../core/exits.ts';
import { takeTurns } from './exit-turns.ts';
import type { HubParts, HubStart } from './options.ts';
import type { TopicExitParts } from './topic-exit.ts';

/** Time in ms between two looks for new messages. */
const INTERVAL_MS = 2_000;
/** Largest number of messages between two stored positions. */
const MAX_MESSAGES = 100;
/** Largest number of lines in a request; InfluxDB recommends 5,000 to 10,000. */
const MAX_LINES = 10_000;

/** Starts the exits. */
export async function startExits(
  start: HubStart,
  parts: HubParts,
  feeds: Pick<TopicExitParts, 'live' | 'broker'>,
  configuration: ExitsConfiguration,
): Promise<void> {
  const { clock, log, teardowns } = start;
  const { exits: store, locks } = parts.database;
  const { influx, mqtt, scopes } = configuration;
  if (mqtt !== undefined) {
    const { runTopics } = await import('./topic-exit.ts');
    const run = (ended: Promise<void>): Promise<void> => runTopics({ start, parts, ...feeds, configuration }, ended);
    teardowns.unshift(takeTurns({ name: 'topics', locks, clock, log, run }));
  }
  if (influx === undefined) return;
  const { influxClient } = await import('../../assembly/numbered-exits.ts');
  const client = influxClient(influx);
  const sees = ({ path }: Slot): boolean => scopes.has(scopeOfPath(path));
  const { measurement } = influx;
  const write: ForwardParts['write'] = (items, closing) => writeLines(client, { measurement, sees }, items, closing);
  const shared = { name: 'influx', clock, log };
  const stop = takeTurns({ ...shared, locks, run: (ended) => forward({ ...shared, store, write }, ended) });
  teardowns.unshift(async () => {
    await stop();
    await client.close();
  });
}

async function writeLines(
  client: InfluxClient,
  options: { readonly measurement: string; readonly sees: (slot: Slot) => boolean },
  items: readonly ExitItem[],
  closing: AbortSignal,
): Promise<void> {
  let lines: string[] = [];
  for (const one of items) {
    const telemetry = one.read();
    if (telemetry === undefined) continue;
    lines.push(...influxLines(telemetry, one.id, { ...options, vin: one.vin }));
    while (lines.length >= MAX_LINES) {
      await client.write(lines.slice(0, MAX_LINES), closing);
      lines = lines.slice(MAX_LINES);
    }
    // Other work of the hub must not wait for all messages of a portion.
    await turn();
  }
  await client.write(lines, closing);
}

interface ForwardParts {
  /** Name in the database and in the log. */
  readonly name: string;
  readonly store: ExitStore;
  readonly write: (items: readonly ExitItem[], closing: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Forwards messages from the first one that the receiver has not confirmed. */
async function forward({ name, store, write, clock, log }: ForwardParts, ended: Promise<void>): Promise<void> {
  const begin = await store.open(name);
  let [saved, end, losses] = [begin.next, begin.next, begin.lost];
  const noteLost = (now: number): void => {
    if (now > losses) log.warn('exit.expired', { exit: name, records: now - losses });
    losses = now;
  };
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Also rejects while nothing waits for it.
  failed.catch(() => undefined);
  const forwarder = new Forwarder<ExitItem>(
    {
      ...{ name, clock, log, most: MAX_MESSAGES },
      interval: () => INTERVAL_MS,
      source: {
        end: () => end,
        read: async (from, most) => {
          const portion = await store.read(from, most);
          end = portion.end;
          return { ...portion, lost: 0 };
        },
      },
      write: (items, closing) =>
        write(items, closing).catch(async (error: Error) => {
          // The next attempt stores it again.
          if (!closing.aborted) await store.failed(name, error.message).then(noteLost, () => undefined);
          throw error;
        }),
      save: async (state) => {
        if (state.next === saved) return;
        const now = await store.save(name, saved, state, Math.round(clock.now()));
        if (now === undefined) {
          const error = new VigieError('store.failed', 'another hub has continued this exit');
          fail(error);
          throw error;
        }
        saved = state.next;
        noteLost(now);
      },
    },
    begin,
  );
  log.info('exit.started', { exit: name, waiting: forwarder.report.waiting });
  void forwarder.poke();
  try {
    await Promise.race([ended, failed]);
  } finally {
    await forwarder.close();
  }
}
