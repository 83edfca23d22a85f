/** Runs the day through the whole core, with any number of cuts. */

import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { DbcDecoder } from '../../adapters/can/dbc/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { Clock, Log, Memory, OutboxStore, OutgoingMessage, RecordStore, StoredRecord } from '../../agent/ports.ts';
import { emptyLedger, type LedgerDocument } from '../../agent/remotes/ledger.ts';
import { deflate } from '../../assembly/deflate.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { DAY, type DayLog, framesOf, recordDay, timeKnownAt, vehicle, wallAt } from './day.ts';
import { KillableStore } from './day-store.ts';
import { MemoryLog } from './log.ts';
import { madeOnce } from './run.ts';

const VIN = 'VF3VGEBENCH000001';
/** Key under which the feed stores its position. */
const FEED = 'feed';

/** Monitors in the car during the day. */
export const monitors: Readonly<Record<string, object>> = {
  trips: watching({ data: 'vehicle.trip.stop', op: 'onChange' }),
  theft: watching({ data: 'stolen.state', op: 'equalsTo', value: ['true'] }),
  crash: watching({ data: 'vehicle.collision.side', op: 'includedIn', value: ['Front', 'Rear', 'Lateral'] }),
  fast: watching({ data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['40'], hysteresis: 5 }),
};

function watching(data: object): object {
  return {
    label: 'watched all day',
    extendedEventParam: ['vehicle.position', 'vehicle.trip'],
    triggerParam: { triggers: [{ name: 'it', data }], boolExp: 'it' },
    context: { before: 5, after: 5 },
  };
}

/** Time of the day, advanced by the feed. Timers fire one by one. */
class DayClock implements Clock {
  elapsed: number;
  readonly #boot: number;
  #order = 0;
  readonly #timers: { readonly at: number; readonly order: number; readonly due: () => void }[] = [];

  constructor(elapsed: number) {
    this.elapsed = elapsed;
    this.#boot = elapsed;
  }

  now(): number {
    return wallAt(this.elapsed);
  }

  monotonic(): number {
    return this.elapsed - this.#boot;
  }

  after(delay: number, due: () => void): () => void {
    const timer = { at: this.elapsed + Math.max(0, delay), order: this.#order++, due };
    let place = this.#timers.length;
    while (place > 0 && (this.#timers[place - 1]?.at ?? 0) > timer.at) place--;
    this.#timers.splice(place, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  /** Time of the next timer, ms since midnight. */
  get due(): number {
    return this.#timers[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  serve(): void {
    const timer = this.#timers.shift();
    if (timer === undefined) return;
    this.elapsed = Math.max(this.elapsed, timer.at);
    timer.due();
  }
}

export interface Published extends OutgoingMessage {
  /** ms since midnight */
  readonly elapsed: number;
}

export interface DayOutcome {
  readonly published: readonly Published[];
  /** By collection, in order. */
  readonly records: Readonly<Record<string, readonly StoredRecord[]>>;
  readonly log: MemoryLog;
  readonly commits: number;
  readonly stateBytes: number;
  /** Number of frames fed, including those repeated after a cut. */
  readonly fed: number;
  readonly faults: number;
}

/** Store and ledger of an agent during the day. */
export interface LifeStore {
  readonly outbox: OutboxStore;
  readonly memory: Memory;
  readonly records: RecordStore;
  /** A commit was requested, so the feed must wait for it. */
  readonly asked: boolean;
  /** Default: one that is not read after this life. */
  readonly ledger?: LedgerDocument;
}

/** One life of the agent: from its start to a cut, or to the end of the day. */
export class Life {
  readonly store: LifeStore;
  readonly agent: Agent;
  readonly #clock: DayClock;
  readonly #log: DayLog;
  readonly #intake: (batch: ReturnType<typeof framesOf>) => void;
  /** Index of the next frame. */
  #frame: number;

  constructor(log: DayLog, store: LifeStore, boot: number, said: Log, published: (message: Published) => void) {
    this.store = store;
    this.#log = log;
    const kept = store.memory.recall(FEED) as { frame: number; elapsed: number } | undefined;
    this.#frame = kept?.frame ?? 0;
    // The agent ticks at whole seconds, so it must start at one.
    const clock = new DayClock(Math.floor((kept?.elapsed ?? 0) / 1000) * 1000);
    this.#clock = clock;
    const link = {
      connected: true,
      publish: async (message: OutgoingMessage) => published({ ...message, elapsed: clock.elapsed }),
    };
    this.agent = new Agent(
      vehicle.profile,
      {
        clock,
        link,
        log: said,
        store: store.outbox,
        memory: store.memory,
        records: store.records,
        deflate,
        actuator: { actions: new Set(), actuate: async () => undefined },
        verifier: { key: () => undefined, verify: () => false, digest: () => '' },
        ledger: store.ledger ?? { data: emptyLedger, write: async () => undefined },
      },
      {
        vin: VIN,
        version: '1',
        boot,
        settings: agentSettings({ outbox: { limit: Number.POSITIVE_INFINITY } }),
        quality: () => (clock.elapsed < timeKnownAt ? 'none' : 'gnss'),
        window: () => 100,
      },
    );
    const { all } = this.agent.monitors;
    if (all.length === 0) {
      for (const [id, monitor] of Object.entries(monitors)) {
        this.agent.monitors
          .put(id, monitor)
          .catch((error: Error) => said.error('monitors.refused', { monitorId: id, error: error.message }));
      }
    }
    store.memory.keep(() => [[FEED, { frame: this.#frame, elapsed: clock.elapsed }]]);
    this.#intake = this.agent.intake(() => new DbcDecoder(this.agent.wanted, vehicle.databases, log.buses));
  }

  /** Index of the next frame. */
  get frame(): number {
    return this.#frame;
  }

  /** Feeds all frames before the `end`-th. `told` is called after each piece. */
  async live(end: number, told: () => void = () => undefined): Promise<void> {
    this.agent.start();
    this.agent.up();
    const { elapsed, count } = this.#log;
    const last = Math.min(end, count);
    while (this.#frame < last) {
      const from = this.#frame;
      await this.#pass(elapsed[from] as number);
      // A sleeping unit sets a timer when the first frame wakes it, which is after this query.
      const due = Math.min(this.#clock.due, Math.floor((elapsed[from] as number) / 1000) * 1000 + 1000);
      let to = from + 1;
      while (to < last && (elapsed[to] as number) < due) to++;
      this.#clock.elapsed = Math.max(this.#clock.elapsed, elapsed[from] as number);
      this.#frame = to;
      this.#intake(framesOf(this.#log, from, to));
      told();
      await this.#turn();
    }
  }

  /** Runs the rest of the day and stops the agent. */
  async rest(): Promise<void> {
    await this.#pass(DAY);
    this.#clock.elapsed = DAY;
    let done = false;
    const stopped = this.agent.stop().then(() => {
      done = true;
    });
    while (!done) await new Promise((resolve) => setImmediate(resolve));
    await stopped;
  }

  async #pass(elapsed: number): Promise<void> {
    while (this.#clock.due <= elapsed) {
      this.#clock.serve();
      await this.#turn();
    }
  }

  /** Lets commits finish and messages leave. */
  async #turn(): Promise<void> {
    if (this.store.asked) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The day without a cut, run once for all test files, and its frames. */
export async function wholeDay(): Promise<{ readonly log: DayLog; readonly day: DayOutcome }> {
  const log = await recordDay();
  const file = await madeOnce('whole-day', async (path) => {
    const { log: said, ...outcome } = await runDay(log);
    writeFileSync(path, serialize({ ...outcome, lines: said.lines }));
  });
  const { lines, ...outcome } = deserialize(readFileSync(file)) as Omit<DayOutcome, 'log'> & Pick<MemoryLog, 'lines'>;
  const said = new MemoryLog();
  said.lines.push(...lines);
  return { log, day: { ...outcome, log: said } };
}

/**
 * Runs the day. At each of `cuts` (frame indexes in ascending order) the agent is killed. The next one restores the
 * state of the last commit, and the feed continues from its position then. A cut before a position that an earlier life
 * has reached is skipped.
 */
export async function runDay(log: DayLog, cuts: readonly number[] = []): Promise<DayOutcome> {
  const published: Published[] = [];
  const said = new MemoryLog();
  let [commits, stateBytes, fed, faults, boot] = [0, 0, 0, 0, 0];
  let store = new KillableStore();
  for (const cut of [...cuts, log.count]) {
    const life = new Life(log, store, ++boot, said, (message) => published.push(message));
    const from = life.frame;
    await life.live(cut);
    if (boot > cuts.length) await life.rest();
    commits += store.commits;
    stateBytes += store.stateBytes;
    fed += life.frame - from;
    faults += life.agent.faults;
    if (boot <= cuts.length) store = new KillableStore(store);
  }
  const records = Object.fromEntries(store.collections.map((name) => [name, store.all(name)]));
  return { published, records, log: said, commits, stateBytes, fed, faults };
}
