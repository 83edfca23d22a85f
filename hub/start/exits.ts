/** Runs the exits of a hub. Of the hubs on a database, one holds the lock of an exit and runs it. */
import { setImmediate as turn } from 'node:timers/promises';
import { Forwarder } from '../../adapters/exits/forwarder.ts';
import type { InfluxClient } from '../../adapters/exits/influx.ts';
import { influxLines } from '../../adapters/exits/influx-lines.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { influxClient } from '../../assembly/numbered-exits.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { scopeOfPath } from '../../protocol/interface/visible-members.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { ExitItem, ExitStore } from '../core/exits.ts';
import type { HubLocks } from '../core/ports.ts';
import type { HubDatabase } from './database.ts';
import type { HubStart } from './options.ts';

/** Time in ms between two looks for new messages. */
const INTERVAL_MS = 2_000;
/** Delay in ms before the next attempt to get the lock or to continue. */
const RETRY_MS = 1_000;
/** Largest number of messages between two stored positions. */
const MAX_MESSAGES = 100;
/** Largest number of lines in a request; InfluxDB recommends 5,000 to 10,000. */
const MAX_LINES = 10_000;

/** Starts the exits. */
export async function startExits(
  { clock, log, teardowns }: HubStart,
  { exits: store, locks }: HubDatabase,
  { influx, scopes }: ExitsConfiguration,
): Promise<void> {
  if (influx === undefined) return;
  const client = influxClient(influx);
  const sees = ({ path }: Slot): boolean => scopes.has(scopeOfPath(path));
  const { measurement } = influx;
  const exit = new HubExit({
    ...{ store, locks, clock, log },
    name: 'influx',
    write: (items, closing) => writeLines(client, { measurement, sees }, items, closing),
  });
  teardowns.unshift(async () => {
    await exit.stop();
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

interface HubExitParts {
  /** Name in the database and in the log. */
  readonly name: string;
  readonly store: ExitStore;
  readonly locks: HubLocks;
  readonly write: (items: readonly ExitItem[], closing: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

class HubExit {
  readonly #parts: HubExitParts;
  readonly #stopping = new AbortController();
  readonly #stopped: Promise<void>;
  readonly #running: Promise<void>;

  constructor(parts: HubExitParts) {
    this.#parts = parts;
    const { signal } = this.#stopping;
    this.#stopped = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    this.#running = this.#runInTurn();
  }

  /** Resolves when nothing is sent any more. Messages without an answer follow after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Waits for the lock, runs the exit until the lock is lost, and repeats this until the hub stops. Never rejects. */
  async #runInTurn(): Promise<void> {
    const { name, locks, log } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const lock = await locks.acquire(`exit ${name}`, { signal });
        if (lock === undefined) continue;
        try {
          await this.#run(lock.lost);
        } finally {
          await lock.release();
        }
      } catch (error) {
        if (signal.aborted) return;
        log.warn('hub.exits.failed', { exit: name, error: reasonOf(error) });
        await this.#delay();
      }
    }
  }

  #delay(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(RETRY_MS, resolve);
      void this.#stopped.then(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Rejects if this hub can no longer store the progress. */
  async #run(lost: Promise<string>): Promise<void> {
    const { name, store, write, clock, log } = this.#parts;
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
      await Promise.race([lost, this.#stopped, failed]);
    } finally {
      await forwarder.close();
    }
  }
}
