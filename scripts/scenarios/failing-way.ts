/**
 * Runs a part of the scripted day through the whole agent: a real store on disk, a real link, a real broker, and
 * between them a connection that fails repeatedly. Car time runs faster than real time; everything else is as in the
 * car.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as until } from 'node:timers/promises';
import { VirtualClock } from '../../adapters/clock/virtual.ts';
import { CloudClient, type LinkCounts, MqttLink } from '../../adapters/mqtt/index.ts';
import { timeOfDay } from '../../adapters/simulated/day-scenario.ts';
import { openStore } from '../../adapters/store/index.ts';
import { upFilter } from '../../protocol/topics.ts';
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { Relay } from '../../test/rig/relay.ts';
import { Account } from './account.ts';
import { silent, startDrive } from './drive.ts';
import { type Trouble, troubles } from './trouble.ts';

export interface SoakOptions {
  /** Time of day at the start, as hh:mm:ss. */
  readonly from: string;
  /** Duration in ms of car time. */
  readonly length: number;
  /** Ratio of car time to real time. */
  readonly speed: number;
  /** Mean time in ms of car time from one failure of the connection to the next. */
  readonly every: number;
  /** Start and duration of an outage that overflows the outbox, in ms of car time since `from`. */
  readonly outage: { readonly at: number; readonly lasts: number };
  /** Capacity of the outbox in bytes. */
  readonly limit: number;
  readonly seed: number;
  /** Called from time to time with the progress. */
  readonly progress?: (state: SoakProgress) => void;
}

export interface SoakProgress {
  /** Time since the start in ms of car time. */
  readonly elapsed: number;
  readonly published: number;
  readonly waiting: number;
  /** Memory of the process in bytes after garbage collection. 0 if unavailable (requires node --expose-gc). */
  readonly memory: number;
}

export interface SoakReport {
  readonly account: Account;
  readonly troubles: readonly Trouble[];
  readonly link: LinkCounts;
  readonly samples: readonly SoakProgress[];
  /** Number of agent defects that were caught. */
  readonly faults: number;
  /** Real duration in ms. */
  readonly took: number;
}

const VIN = 'VF3VGEBENCH000001';
/** Car time per step in ms. */
const STEP = 200;
/** Midnight of the scripted day in UTC ms. */
const MIDNIGHT = Date.UTC(2026, 2, 10);

/** Runs the scenario to its end, and then until all waiting messages have been delivered. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { length, speed, limit, seed } = options;
  const began = performance.now();
  const data = mkdtempSync(join(tmpdir(), 'vigie-soak-'));
  const broker = new MosquittoRig({ settings: ['max_queued_messages 0', 'max_inflight_messages 20'] });
  await broker.start();
  const relay = await Relay.open(broker.port);
  const account = new Account();
  // Connects without the relay, with a session that the broker restores after its restart.
  const cloud = await CloudClient.connect(broker.url, {
    clientId: 'there-throughout',
    backoff: { first: 20, longest: 200 },
  });
  await cloud.subscribe(upFilter(VIN), (_topic, payload, { retained }) => {
    if (!retained) account.take(payload);
  });

  const startAt = timeOfDay(options.from);
  const clock = new VirtualClock(MIDNIGHT + startAt);
  const store = await openStore(join(data, 'outbox'), { now: () => clock.now() });
  const link = linkThrough(relay, speed);
  const { agent, park } = await startDrive(
    {
      clock,
      vin: VIN,
      scenario: 'day',
      startAt,
      seed,
      link,
      limit,
      window: () => link.window,
      store: account.noting(store.outbox),
      memory: store.memory,
      records: store.records,
    },
    (started) => link.open(started),
  );

  const way = new Way(relay, broker, troubles({ seed, length, every: options.every, outage: options.outage }));
  const samples: SoakProgress[] = [];
  for (let elapsed = 0; elapsed < length; elapsed += STEP) {
    await way.pass(elapsed);
    clock.advance(STEP);
    if (elapsed % (length / 24) < STEP) {
      const sample = { elapsed, published: account.published, waiting: agent.waiting, memory: held() };
      samples.push(sample);
      options.progress?.(sample);
    }
    const ahead = began + elapsed / speed - performance.now();
    await (ahead > 1 ? until(ahead) : new Promise((resolve) => setImmediate(resolve)));
  }
  await way.end(Number.POSITIVE_INFINITY);
  await park();

  // The scripted part is over. The waiting messages are sent over a connection that works.
  const passing = setInterval(() => clock.advance(STEP), STEP / speed);
  while (agent.waiting > 0) await until(20);
  await agent.stop();
  clearInterval(passing);
  await allDelivered(cloud);
  // For the last acknowledgements the agent waits for a limited car time, which is a short real time here.
  account.settle(store.outbox.entries());
  const { counts } = link.health();
  await link.close();
  await store.close();
  await cloud.close();
  await relay.close();
  await broker.remove();
  rmSync(data, { recursive: true, force: true });
  return {
    account,
    troubles: way.begun,
    link: counts,
    samples,
    faults: agent.faults,
    took: performance.now() - began,
  };
}

function linkThrough({ url }: Relay, speed: number): MqttLink {
  const backoff = { first: 1000 / speed, longest: 60_000 / speed };
  return new MqttLink({ url, vin: VIN, log: silent, keepalive: 1, backoff, connectTimeout: 1000 });
}

/** Resolves when all messages that the broker holds for the receiver have arrived, as messages keep their order. */
function allDelivered(cloud: CloudClient): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    cloud
      .subscribe('soak/barrier', () => resolve())
      .then(() => cloud.publish('soak/barrier', new Uint8Array(1)))
      .catch(reject);
  });
}

/** The connection between car and broker, which has at most one trouble at a time. */
class Way {
  readonly #relay: Relay;
  readonly #broker: MosquittoRig;
  readonly #planned: readonly Trouble[];
  #next = 0;
  #trouble: (Trouble & { readonly until: number }) | undefined;

  constructor(relay: Relay, broker: MosquittoRig, planned: readonly Trouble[]) {
    this.#relay = relay;
    this.#broker = broker;
    this.#planned = planned;
  }

  /** Troubles that have begun so far. */
  get begun(): readonly Trouble[] {
    return this.#planned.slice(0, this.#next);
  }

  /** Ends the current trouble as {@link end} does, then begins the next one if it is due. */
  async pass(elapsed: number): Promise<void> {
    await this.end(elapsed);
    const trouble = this.#planned[this.#next];
    if (trouble === undefined || trouble.at > elapsed) return;
    this.#next++;
    await this.#begin(trouble, elapsed);
  }

  async #begin(trouble: Trouble, elapsed: number): Promise<void> {
    if (trouble.kind === 'cut') {
      this.#relay.cut();
      return;
    }
    this.#trouble = { ...trouble, until: elapsed + trouble.lasts };
    if (trouble.kind === 'restart') await this.#broker.stop();
    else this.#relay.hold();
  }

  /** Ends the trouble if its time is over. */
  async end(elapsed: number): Promise<void> {
    if (this.#trouble === undefined || elapsed < this.#trouble.until) return;
    const { kind } = this.#trouble;
    this.#trouble = undefined;
    if (kind === 'restart') await this.#broker.start();
    if (kind === 'tunnel') this.#relay.cut();
    if (kind !== 'restart') this.#relay.release();
  }
}

function held(): number {
  if (globalThis.gc === undefined) return 0;
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
