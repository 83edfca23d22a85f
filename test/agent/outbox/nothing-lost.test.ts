/**
 * Whatever happens to outbox, link, disk and power: each number belongs to a message that arrived, or to a gap message
 * that arrived. The store is real, on a simulated disk with power cuts. The broker is part of the test.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import { Outbox } from '../../../agent/outbox/outbox.ts';
import type { OutboxEntry, OutboxStore } from '../../../agent/ports.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { classes, classOf } from '../../../protocol/classes.ts';
import type { Gap } from '../../../protocol/schema/gap.ts';
import { SimulatedDisk } from '../../adapters/store/simulated-disk.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { WireLink } from '../../rig/link.ts';
import { MemoryLog } from '../../rig/log.ts';

const VIN = 'VF3VGEBENCH000001';
const turn = () => new Promise((resolve) => setImmediate(resolve));
const nameOf = (priority: number, seq: number) => `${priority}/${seq}`;

type Put = Pick<OutboxEntry, 'kind' | 'at'> & { readonly bytes: number };

/** Events of a history. */
type Event =
  | { readonly does: 'put'; readonly kind: PutKind; readonly times: number; readonly size: number }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'acknowledge'; readonly count: number }
  | { readonly does: 'lose'; readonly arrived: number }
  | { readonly does: 'cut'; readonly arrived: number; readonly survives: readonly boolean[] }
  | { readonly does: 'up' | 'refuse' | 'damage' };
type PutKind = 'remote' | 'trip' | 'status' | 'newest' | 'monitor' | 'waypoint';

interface Loss {
  count: number;
  bytes: number;
  from: number;
  to: number;
}

/** A power cut. Only part of the unsynced data survives. */
function powerCut(disk: SimulatedDisk, survives: readonly boolean[]): SimulatedDisk {
  let asked = 0;
  return disk.powerCut(() => survives[asked++ % survives.length] ?? false);
}

/** Car and broker: the outbox on a disk, consecutive starts of the agent, and the messages that the broker received. */
class Ride {
  readonly clock = new VirtualClock();
  readonly link = new WireLink();
  readonly log = new MemoryLog();
  readonly #limit: number;
  #disk = new SimulatedDisk();
  #store: Store | undefined;
  #outbox: Outbox | undefined;
  #boot = 0;
  /** Last message per number. After a power cut, a number that was never sent is assigned again. */
  readonly put = new Map<string, Put>();
  readonly received = new Set<string>();
  readonly gaps: Gap[] = [];
  /** Messages that arrived although the car does not know it after a power cut. */
  readonly unsure = new Set<string>();
  readonly #damaged = new Set<string>();
  #seen = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get outbox(): Outbox {
    if (this.#outbox === undefined) throw new Error('not started');
    return this.#outbox;
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('not started');
    return this.#store;
  }

  async start(): Promise<void> {
    const store = await openStore('/outbox', {
      files: this.#disk,
      segmentBytes: 16_384,
      keptBytes: 100_000,
      now: () => this.clock.now(),
    });
    this.#store = store;
    for (const { class: priority, seq } of store.outbox.entries()) {
      if (this.received.has(nameOf(priority, seq))) this.unsure.add(nameOf(priority, seq));
    }
    this.#outbox = new Outbox(
      this.#noting(store.outbox),
      this.link,
      this.clock,
      this.log,
      { vin: VIN, boot: ++this.#boot, quality: () => 'ntp', window: () => 3, limit: this.#limit },
      store.memory,
    );
  }

  #noting(store: OutboxStore): OutboxStore {
    return Object.defineProperties(Object.create(store) as OutboxStore, {
      bytes: { get: () => store.bytes },
      append: {
        value: (entry: OutboxEntry) => {
          const { class: priority, seq, kind, at, payload } = entry;
          this.put.set(nameOf(priority, seq), { kind, at, bytes: payload.length });
          store.append(entry);
        },
      },
      load: {
        value: (priority: number, seq: number) =>
          this.#damaged.has(nameOf(priority, seq)) ? undefined : store.load(priority, seq),
      },
    });
  }

  /** Waits for pending promises, without advancing time. */
  async #settle(): Promise<void> {
    for (let turns = 0; turns < 4; turns++) await turn();
  }

  /** The broker receives the oldest `count` messages in flight. */
  #receive(count: number): void {
    const { published, inFlight } = this.link;
    for (const { payload } of published.slice(published.length - inFlight).slice(0, count)) {
      const message = decodeMessage(payload);
      const name = nameOf(classOf(message.kind), message.seq);
      if (this.received.has(name)) continue;
      this.received.add(name);
      if (message.kind === 'gap') this.gaps.push(message.body);
    }
  }

  async do(event: Event): Promise<void> {
    switch (event.does) {
      case 'put':
        for (let i = 0; i < event.times; i++) this.#say(event.kind, event.size);
        break;
      case 'wait':
        this.clock.advance(event.ms);
        break;
      case 'acknowledge':
        this.#receive(event.count);
        this.link.acknowledge(event.count);
        break;
      case 'lose':
        this.#receive(event.arrived);
        this.link.lose();
        break;
      case 'up':
        this.link.connected = true;
        this.outbox.linkUp();
        break;
      case 'refuse': {
        const oldest = this.link.published.at(-this.link.inFlight);
        // The broker never refuses a message that it has accepted before.
        if (this.link.inFlight > 0 && oldest !== undefined && !this.#took(oldest.payload)) this.link.refuse();
        break;
      }
      case 'damage':
        // A message that was sent once is read again for each repetition. Here it must be undamaged.
        for (const { class: priority, seq } of this.store.outbox.entries()) {
          if (seq % 3 === 0 && !this.#wentOut(priority, seq)) this.#damaged.add(nameOf(priority, seq));
        }
        break;
      case 'cut':
        this.#receive(event.arrived);
        this.#disk = powerCut(this.#disk, event.survives);
        this.outbox.close();
        this.link.lose();
        await this.#settle();
        await this.start();
        break;
    }
    await this.#settle();
  }

  #took(payload: Uint8Array): boolean {
    const { kind, seq } = decodeMessage(payload);
    return this.received.has(nameOf(classOf(kind), seq));
  }

  #wentOut(priority: number, seq: number): boolean {
    for (; this.#seen < this.link.published.length; this.#seen++) {
      const { kind, seq: number } = decodeMessage(this.link.published[this.#seen]!.payload);
      this.#out.add(nameOf(classOf(kind), number));
    }
    return this.#out.has(nameOf(priority, seq));
  }
  readonly #out = new Set<string>();

  #say(kind: PutKind, size: number): void {
    const at = this.clock.now();
    const words = 'x'.repeat(size);
    const { outbox } = this;
    if (kind === 'remote') outbox.put(kind, { remoteActionId: 'a', type: 'Doors', status: 'Accepted', detail: words });
    if (kind === 'trip')
      outbox.put(kind, {
        id: `a${words.slice(0, 60).replaceAll('x', '0')}`,
        createdAt: at,
        startedAt: at,
        done: false,
      });
    if (kind === 'status') outbox.put(kind, { full: false, status: {} });
    if (kind === 'newest') outbox.put('status', { full: true, status: {} }, { first: true, retain: true });
    if (kind === 'monitor') outbox.put(kind, { version: size, monitors: [] });
    if (kind === 'waypoint') {
      outbox.put(kind, { points: [{ at, latitude: 48.8, longitude: 2.3, type: 'Acquire' }] });
    }
  }

  /** Restores the link and sends everything that waits. */
  async finish(): Promise<void> {
    for (let rounds = 0; this.outbox.waiting > 0 || !this.link.connected || this.link.inFlight > 0; rounds++) {
      if (rounds > 5_000) throw new Error('it does not come to an end');
      await this.do({ does: 'up' });
      this.clock.advance(5_000);
      await this.#settle();
      await this.do({ does: 'acknowledge', count: 3 });
    }
  }

  /** Descriptions of everything that is wrong. */
  faults(): string[] {
    const faults: string[] = [];
    const lost = new Set<string>();
    for (const { class: priority, numbers = [] } of this.gaps) {
      for (const [first, last] of numbers) for (let seq = first; seq <= last; seq++) lost.add(nameOf(priority, seq));
    }
    for (let priority = 0; priority < classes.length; priority++) {
      for (let seq = 0; seq < this.store.outbox.nextSeq(priority); seq++) {
        const name = nameOf(priority, seq);
        if (!this.received.has(name) && !lost.has(name)) faults.push(`${name} neither arrived nor is told to be lost`);
        if (this.received.has(name) && lost.has(name) && !this.unsure.has(name)) faults.push(`${name} is both`);
        lost.delete(name);
      }
    }
    for (const name of lost) faults.push(`${name} is told to be lost and never was`);
    const [is, said] = [new Map<string, Loss>(), new Map<string, Loss>()];
    for (const { class: priority, numbers = [] } of this.gaps) {
      for (const [first, last] of numbers) {
        for (let seq = first; seq <= last; seq++) this.#lose(is, nameOf(priority, seq));
      }
    }
    for (const { lost: kind = 'unknown', count, bytes = 0, from = 0, to = 0 } of this.gaps) {
      add(said, kind, { count, bytes, from, to });
    }
    for (const kind of new Set([...is.keys(), ...said.keys()])) {
      const [a, b] = [JSON.stringify(is.get(kind)), JSON.stringify(said.get(kind))];
      if (a !== b) faults.push(`of ${kind} were lost ${a}, told is ${b}`);
    }
    return faults;
  }

  readonly #counted = new Set<string>();
  #lose(into: Map<string, Loss>, name: string): void {
    const put = this.put.get(name);
    if (put === undefined || this.#counted.has(name)) return;
    this.#counted.add(name);
    add(into, put.kind, { count: 1, bytes: put.bytes, from: put.at, to: put.at });
  }
}

function add(all: Map<string, Loss>, kind: string, { count, bytes, from, to }: Loss): void {
  const one = all.get(kind) ?? { count: 0, bytes: 0, from, to };
  one.count += count;
  one.bytes += bytes;
  one.from = Math.min(one.from, from);
  one.to = Math.max(one.to, to);
  all.set(kind, one);
}

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant('put' as const),
      kind: fc.constantFrom<PutKind>('remote', 'trip', 'status', 'status', 'newest', 'monitor', 'waypoint'),
      times: fc.integer({ min: 1, max: 12 }),
      size: fc.nat(200),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(10, 100, 1_000, 6_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('acknowledge' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('lose' as const), arrived: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('up' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('refuse' as const, 'damage' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('cut' as const),
      arrived: fc.nat(3),
      survives: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    }),
  },
);

describe('reporting of lost messages', () => {
  test('every lost number is reported, at any size limit, with evictions, damage, refusals and power cuts at any time', async () => {
    let told = 0;
    let ofGaps = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 200, max: 4_000 }),
        fc.array(event, { maxLength: 60, size: 'max' }),
        async (limit, events) => {
          const ride = new Ride(limit);
          await ride.start();
          for (const one of events) await ride.do(one);
          await ride.finish();
          expect(ride.faults()).toEqual([]);
          told += ride.gaps.length;
          ofGaps += ride.gaps.filter(({ lost }) => lost === 'gap').length;
        },
      ),
      { numRuns: 150 },
    );
    expect(told).toBeGreaterThan(100);
    expect(ofGaps).toBeGreaterThan(0);
  });
});
