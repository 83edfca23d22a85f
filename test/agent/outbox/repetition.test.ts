/** Acknowledged messages that a receiver requests again, with the real store. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import { Outbox } from '../../../agent/outbox/outbox.ts';
import type { OutgoingMessage } from '../../../agent/ports.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { classOf } from '../../../protocol/classes.ts';
import { type Run, Runs } from '../../../protocol/runs.ts';
import type { Gap } from '../../../protocol/schema/gap.ts';
import { SimulatedDisk } from '../../adapters/store/simulated-disk.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { WireLink } from '../../rig/link.ts';
import { MemoryLog } from '../../rig/log.ts';
import { runs } from '../../rig/runs.ts';

const VIN = 'VF3VGEBENCH000001';
const TRIP = classOf('trip');
const hex = (payload: Uint8Array) => Buffer.from(payload).toString('hex');
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A car with a disk. Its broker loses the messages that the test chooses. */
class Car {
  readonly clock = new VirtualClock();
  readonly link = new WireLink();
  readonly log = new MemoryLog();
  readonly disk = new SimulatedDisk();
  store!: Store;
  outbox!: Outbox;
  #boot = 0;
  readonly #keptBytes: number;

  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes;
  }

  static async started(keptBytes = 1 << 20): Promise<Car> {
    const car = new Car(keptBytes);
    await car.start();
    return car;
  }

  async start(): Promise<void> {
    const waits = { settleWithin: 3_600_000, now: () => undefined };
    const store = await openStore('/outbox', {
      files: this.disk,
      segmentBytes: 1_000,
      keptBytes: this.#keptBytes,
      ...waits,
    });
    const options = { vin: VIN, boot: ++this.#boot, quality: () => 'ntp' as const, window: () => 4, limit: 1 << 20 };
    this.store = store;
    this.outbox = new Outbox(store.outbox, this.link, this.clock, this.log, options, store.memory);
  }

  async end(): Promise<void> {
    this.outbox.close();
    this.link.lose();
    await this.settle();
    await this.store.close();
  }

  say(id = 'a'): void {
    const at = this.clock.now();
    this.outbox.put('trip', { id, createdAt: at, startedAt: at, done: false });
  }

  async settle(): Promise<void> {
    for (let turns = 0; turns < 4; turns++) await turn();
  }

  up(): void {
    this.link.connected = true;
    this.outbox.linkUp();
  }

  /** Advances time while everything is sent and the broker acknowledges it. */
  async pass(rounds = 80): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      this.clock.advance(50);
      await this.settle();
      this.link.acknowledge();
      await this.settle();
    }
  }

  /** Messages published since `from`. */
  since(from: number): readonly OutgoingMessage[] {
    return this.link.published.slice(from);
  }
}

/** A car that has delivered `count` trips. */
async function delivered(count: number, keptBytes?: number): Promise<Car> {
  const car = await Car.started(keptBytes);
  car.up();
  for (let i = 0; i < count; i++) {
    car.say(`a${i}`);
    await car.pass(2);
  }
  expect(car.outbox.waiting).toBe(0);
  return car;
}

const seqsOf = (messages: readonly OutgoingMessage[]) => messages.map(({ payload }) => decodeMessage(payload).seq);
const gapsIn = (messages: readonly OutgoingMessage[]): Gap[] =>
  messages.flatMap(({ payload }) => {
    const message = decodeMessage(payload);
    return message.kind === 'gap' ? [message.body] : [];
  });

test('requested messages are repeated once with the same bytes, and no others', async () => {
  const car = await delivered(30);
  const before = [...car.link.published];
  const wanted: Run[] = [
    [3, 5],
    [20, 20],
  ];
  car.outbox.repetition.ask({ class: TRIP, numbers: wanted });
  await car.pass();
  expect(car.since(before.length)).toEqual([3, 4, 5, 20].map((seq) => before[seq]));
  expect(car.outbox.waiting).toBe(0);
});

test('messages are repeated after a restart of the agent', async () => {
  const car = await delivered(30);
  const before = [...car.link.published];
  await car.end();
  await car.start();
  car.up();
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 29]] });
  await car.pass();
  expect(car.since(before.length)).toEqual(before);
});

test('a gap message reports once the requested messages that the car no longer has', async () => {
  const car = await delivered(60, 3_000);
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 59]] });
  await car.pass();
  const again = car.since(before);
  const gaps = gapsIn(again);
  const first = seqsOf(again.filter(({ topic }) => topic.endsWith('/trip')))[0] ?? 0;
  expect(first).toBeGreaterThan(0);
  expect(gaps).toEqual([{ class: TRIP, count: first, numbers: [[0, first - 1]] }]);
  expect(again).toHaveLength(60 - first + 1);
  await car.pass();
  expect(car.since(before)).toHaveLength(again.length);
});

test('a car that keeps no messages answers with a gap message', async () => {
  const car = await delivered(3, 0);
  await car.end();
  await car.start();
  const store = car.store.outbox;
  Object.defineProperty(store, 'find', { value: undefined });
  car.up();
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 2]] });
  await car.pass();
  expect(gapsIn(car.since(before))).toEqual([{ class: TRIP, count: 3, numbers: [[0, 2]] }]);
});

test('a waiting message is sent once, and unassigned numbers are in no gap message', async () => {
  const car = await delivered(2);
  car.link.lose();
  await car.settle();
  car.say('ab');
  await car.pass(3);
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[1, 9]] });
  car.up();
  await car.pass();
  expect(seqsOf(car.since(before)).sort()).toEqual([1, 2]);
  expect(gapsIn(car.since(before))).toEqual([]);
});

test('a new message is sent before all repetitions', async () => {
  const car = await delivered(30);
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 29]] });
  while (car.link.published.length === before) {
    car.clock.advance(50);
    await car.settle();
  }
  const sent = car.link.published.length;
  car.say('ac');
  car.clock.advance(100);
  await car.settle();
  car.link.acknowledge();
  await car.settle();
  expect(seqsOf(car.since(sent))[0]).toBe(30);
});

test('repetitions in flight when the link is lost are sent again when it returns', async () => {
  const car = await delivered(12);
  const before = [...car.link.published];
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 11]] });
  while (car.link.published.length === before.length) {
    car.clock.advance(50);
    await car.settle();
  }
  car.link.lose();
  await car.pass(5);
  const lost = car.link.published.length;
  car.up();
  await car.pass();
  expect(seqsOf(car.since(lost)).sort((a, b) => a - b)).toEqual(before.map((_, seq) => seq));
});

test('a repetition that the broker refuses is skipped, and the others arrive', async () => {
  const car = await delivered(3);
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 2]] });
  while (car.link.published.length === before) {
    car.clock.advance(50);
    await car.settle();
  }
  car.link.refuse();
  await car.pass();
  expect(seqsOf(car.since(before))).toEqual([0, 1, 2]);
  expect(car.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test('repetitions that the disk cannot read now are sent on a later request', async () => {
  const car = await delivered(30);
  const before = car.link.published.length;
  car.disk.readFault = () => 'EIO';
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 1]] });
  await car.pass();
  expect(car.since(before)).toEqual([]);
  expect(car.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  car.disk.readFault = () => undefined;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 1]] });
  await car.pass();
  expect(seqsOf(car.since(before))).toEqual([0, 1]);
});

test('a request of more than 1,024 runs is refused, and earlier requests continue', async () => {
  const car = await delivered(3);
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[1, 1]] });
  const many = Array.from({ length: 1024 }, (_, i): Run => [2 * i, 2 * i]);
  expect(() => car.outbox.repetition.ask({ class: TRIP, numbers: many })).toThrow(
    expect.objectContaining({ code: 'command.tooFast' }),
  );
  await car.pass();
  expect(seqsOf(car.since(before))).toEqual([1]);
});

test('a closed outbox repeats nothing', async () => {
  const car = await delivered(3);
  const before = car.link.published.length;
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 2]] });
  car.outbox.close();
  car.outbox.repetition.ask({ class: TRIP, numbers: [[0, 2]] });
  await car.pass();
  expect(car.since(before)).toEqual([]);
});

const happenings = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ does: fc.constant('say' as const) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constant('pass' as const),
        loses: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constantFrom('restart' as const, 'ask' as const, 'lose link' as const) }),
    },
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
);

test('whatever the broker loses, repeated requests yield each message or a gap message', async () => {
  await fc.assert(
    fc.asyncProperty(happenings, fc.constantFrom(0, 3_000, 1 << 20), async (todo, keptBytes) => {
      const car = await Car.started(keptBytes);
      const received = new Map<number, string>();
      const given = new Map<number, string>();
      const gone = new Runs();
      const missing = (): readonly Run[] => {
        const open = new Runs();
        const end = car.store.outbox.nextSeq(TRIP);
        if (end > 0) open.add(0, end - 1);
        for (const seq of received.keys()) open.remove(seq);
        for (const [first, last] of gone.all) open.remove(first, last);
        return open.all;
      };
      let seen = 0;
      /** Delivers published messages to the receiver. The broker loses trips according to `loses`. */
      const take = (loses: readonly boolean[]): void => {
        for (; seen < car.link.published.length; seen++) {
          const { payload } = car.link.published[seen]!;
          const message = decodeMessage(payload);
          if (message.kind === 'gap') {
            for (const [first, last] of message.body.numbers ?? []) gone.add(first, last);
            continue;
          }
          expect(given.get(message.seq) ?? hex(payload)).toBe(hex(payload));
          given.set(message.seq, hex(payload));
          if (!loses[seen % loses.length]) received.set(message.seq, hex(payload));
        }
      };
      car.up();
      for (const happening of todo) {
        if (happening.does === 'say') car.say(`a${car.link.published.length}`);
        if (happening.does === 'ask' && missing().length > 0)
          car.outbox.repetition.ask({ class: TRIP, numbers: missing() });
        if (happening.does === 'lose link') car.link.lose();
        if (happening.does === 'restart') {
          await car.end();
          await car.start();
        }
        if (happening.does === 'pass') {
          car.up();
          await car.pass(2);
          take(happening.loses);
        }
      }
      car.up();
      await car.pass(5);
      take([false]);
      for (let asked = 0; missing().length > 0; asked++) {
        expect(asked).toBeLessThan(3);
        car.outbox.repetition.ask({ class: TRIP, numbers: missing() });
        await car.pass(60);
        take([false]);
      }
      for (const [seq, payload] of received) expect(payload).toBe(given.get(seq));
    }),
    { numRuns: runs(8, 150) },
  );
});
