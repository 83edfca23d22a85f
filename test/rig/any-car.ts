/** A car with random events. */

import fc from 'fast-check';
import { MemoryRecords, memoryOutboxStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { Clock, FrameBatch, ReadingSink } from '../../agent/ports.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { channels } from '../../protocol/channels.ts';
import type { SourceMapping } from '../../protocol/profile.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { slots } from '../../protocol/slots.ts';
import { bareProfile } from './bare-profile.ts';
import { VirtualClock } from './clock.ts';
import { KeptMemory } from './keeping.ts';

const leaves = [...slots, ...channels].filter(({ kind }) => kind !== 'value');
const sources = leaves.map(({ path, values }): SourceMapping => {
  const plain = { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0 };
  return values === undefined ? plain : { ...plain, map: Object.fromEntries(values.entries()) };
});

type Said = readonly (readonly [signal: number, value: number])[];

export type Happening =
  | { readonly says: Said }
  | { readonly passes: number }
  | { readonly steps: number }
  | { readonly knowsTime: boolean }
  | { readonly commits: true }
  | { readonly powerCut: true };

/** Clock of one run of the program. Its timers are lost with it. */
class RunClock implements Clock {
  /** Pending timers. */
  readonly pending = new Set<() => void>();
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(delay: number, due: () => void): () => void {
    const cancel = this.#clock.after(delay, () => {
      this.pending.delete(cancelled);
      due();
    });
    const cancelled = (): void => {
      this.pending.delete(cancelled);
      cancel();
    };
    this.pending.add(cancelled);
    return cancelled;
  }

  end(): void {
    for (const cancel of this.pending) cancel();
  }
}

/** A car whose signals can have any value. */
export class AnyCar {
  readonly errors: string[] = [];
  readonly #clock = new VirtualClock();
  readonly records = new MemoryRecords();
  readonly #memory = new KeptMemory();
  readonly #store = memoryOutboxStore();
  #boot = 0;
  #quality: ClockQuality = 'gnss';
  #run = this.#start();

  get agent(): Agent {
    return this.#run.agent;
  }

  async happen(happening: Happening): Promise<void> {
    if ('says' in happening) this.#run.says(happening.says);
    else if ('passes' in happening) await this.#clock.settle(happening.passes, 500);
    else if ('steps' in happening) this.#clock.step(happening.steps);
    else if ('knowsTime' in happening) this.#quality = happening.knowsTime ? 'gnss' : 'none';
    else if ('commits' in happening) this.#memory.commit();
    else {
      this.#run.clock.end();
      this.#run = this.#start();
    }
  }

  /** Stops in order. Returns the number of timers that are still pending. */
  async stop(): Promise<number> {
    const stopped = this.#run.agent.stop();
    await this.#clock.settle(1_000, 500);
    await stopped;
    return this.#run.clock.pending.size;
  }

  #start() {
    const clock = new RunClock(this.#clock);
    const agent = new Agent(
      bareProfile(sources),
      {
        clock,
        records: this.records,
        memory: this.#memory,
        log: {
          info: () => undefined,
          warn: () => undefined,
          error: (event, fields) => void this.errors.push(`${event}: ${JSON.stringify(fields)}`),
        },
        store: this.#store,
        link: { connected: true, publish: async () => undefined },
        actuator: { actions: new Set(), actuate: async () => undefined },
        verifier: { key: () => undefined, verify: () => false, digest: () => '' },
        ledger: { data: emptyLedger, write: async () => undefined },
      },
      {
        vin: 'VF3TEST0000000001',
        version: '1',
        boot: ++this.#boot,
        settings: agentSettings({ outbox: { limit: 1e9 }, power: { standbyFor: 60_000, busSilentAfter: 5_000 } }),
        quality: () => this.#quality,
        window: () => 100,
      },
    );
    agent.start();
    let said: Said = [];
    const decode = (_: FrameBatch, sink: ReadingSink): void => {
      for (const [signal, value] of said) sink.reading(signal, value, value, clock.now());
      sink.settled(clock.now());
    };
    const take = agent.intake(() => ({ decode }));
    /** Sends all signals in one frame. */
    const says = (all: Said): void => {
      said = all;
      take({
        count: 1,
        at: Float64Array.of(clock.now()),
        id: Uint32Array.of(1),
        bus: Uint8Array.of(0),
        flags: Uint8Array.of(0),
        length: Uint8Array.of(8),
        offset: Uint32Array.of(0),
        data: new Uint8Array(8),
      });
    };
    return { agent, clock, says };
  }
}

const extreme = fc.constantFrom(
  -1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 51 + 1,
  2 ** 53,
  2 ** 64 - 1,
  -(2 ** 63),
  1e30,
  Number.NaN,
  Infinity,
);
const value = fc.oneof(fc.integer({ min: 0, max: 15 }), fc.integer({ min: -5_000, max: 5_000 }), fc.double(), extreme);
const says = fc.oneof(
  fc.array(fc.tuple(fc.nat(sources.length - 1), value), { minLength: 1, maxLength: 20 }),
  value.map((all) => sources.map((_, index): [number, number] => [index, all])),
);
const passes = fc.oneof(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 2_000, max: 600_000 }));
const YEARS = 20 * 31_557_600_000;
/** Values of signals, clock steps and power cuts. */
export const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ says }) },
  { weight: 8, arbitrary: fc.record({ passes }) },
  { weight: 1, arbitrary: fc.record({ steps: fc.integer({ min: -YEARS, max: YEARS }) }) },
  { weight: 1, arbitrary: fc.record({ knowsTime: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ commits: true }) },
  { weight: 1, arbitrary: fc.constant({ powerCut: true }) },
);
