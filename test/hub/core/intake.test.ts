import { expect, test } from 'vitest';
import { Intake } from '../../../hub/core/intake.ts';
import { HubMeasures } from '../../../hub/core/measures.ts';
import type { CarMessage, RefusedMessage } from '../../../hub/core/message.ts';
import type { MessageStore, Saved, Timer } from '../../../hub/core/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE, OTHER, payloadOf } from '../messages.ts';

const immediately: Timer = (_delay, due) => {
  const timer = setImmediate(due);
  return () => clearImmediate(timer);
};

interface Commit {
  readonly messages: readonly CarMessage[];
  readonly refused: readonly RefusedMessage[];
  /** Ends the commit. `strangers`: VINs of cars that the registry rejects. `forgotten`: VINs of erased cars. */
  done(strangers?: ReadonlySet<string>, forgotten?: ReadonlySet<string>, conflicts?: readonly CarMessage[]): void;
  fail(error: Error): void;
}

/** A slow disk: each commit waits until the test ends it. */
class SlowDisk implements MessageStore {
  readonly commits: Commit[] = [];
  /** Part of the message of an error that marks the message itself as unstorable. */
  readonly refusal = 'cannot keep this';
  #asked: () => void = () => undefined;

  save(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Promise<Saved> {
    return new Promise((resolve, reject) => {
      this.commits.push({
        messages,
        refused,
        done: (strangers = new Set(), forgotten = new Set(), conflicts = []) =>
          resolve({
            strangers,
            forgotten,
            conflicts,
            removed: new Set(),
            fresh: messages.filter(({ vin }) => !strangers.has(vin) && !forgotten.has(vin)),
          }),
        fail: reject,
      });
      this.#asked();
    });
  }

  takeIn(): Promise<never> {
    throw new Error('nothing was kept aside');
  }

  refuses(error: unknown): boolean {
    return (error as Error).message.includes(this.refusal);
  }

  /** Resolves with the commit of this number once it has begun. */
  async commit(number: number): Promise<Commit> {
    while (this.commits.length <= number) {
      await new Promise<void>((resolve) => {
        this.#asked = resolve;
      });
    }
    return this.commits[number] as Commit;
  }
}

function begin(after: Timer = immediately) {
  const disk = new SlowDisk();
  const log = new MemoryLog();
  const clock = { now: () => NOON };
  const measures = new HubMeasures(clock);
  const reported: string[][] = [];
  const intake = new Intake({
    store: disk,
    clock,
    log,
    measures,
    after,
    soon: (work) => setImmediate(work),
    forgotten: (vins) => reported.push([...vins]),
  });
  const send = (seq: number): Promise<void> =>
    intake.accept(upTopic(ONE, 'gap'), payloadOf('gap', { class: 5, count: 1 }, { seq }));
  return { disk, log, intake, measures, reported, send };
}

const numbersOf = ({ messages }: Commit): number[] => messages.map(({ message }) => message.seq);

test('messages that arrive together share one commit; messages that arrive during it share the next', async () => {
  const { disk, send, intake } = begin();
  const first = [send(0), send(1), send(2)];
  const one = await disk.commit(0);
  expect(numbersOf(one)).toEqual([0, 1, 2]);
  const second = [send(3), send(4)];
  one.done();
  await Promise.all(first);
  const two = await disk.commit(1);
  expect(numbersOf(two)).toEqual([3, 4]);
  two.done();
  await Promise.all(second);
  await intake.settled();
  expect(disk.commits).toHaveLength(2);
});

/** A timer under the test's control: `next` ends the current wait and resolves when the intake waits again. */
class Looks {
  count = 0;
  #due: () => void = () => undefined;
  #looked: () => void = () => undefined;

  readonly after: Timer = (_delay, due) => {
    this.count++;
    this.#due = due;
    this.#looked();
    return () => undefined;
  };

  next(): Promise<void> {
    const looked = new Promise<void>((resolve) => {
      this.#looked = resolve;
    });
    this.#due();
    return looked;
  }
}

/** Returns an intake that has committed message 0, has received message 1 and waits for more. */
async function withTwoSent() {
  const looks = new Looks();
  const { disk, send } = begin(looks.after);
  const sent = [send(0)];
  const one = await disk.commit(0);
  sent.push(send(1));
  const first = looks.next();
  one.done();
  await first;
  return { disk, send, sent, looks };
}

test('the next commit waits for more messages only while they keep arriving', async () => {
  const { disk, send, sent, looks } = await withTwoSent();
  sent.push(send(2));
  await looks.next();
  // Nothing has arrived since the previous poll.
  void looks.next();
  const two = await disk.commit(1);
  expect(numbersOf(two)).toEqual([1, 2]);
  two.done();
  await Promise.all(sent);
});

test('an endless stream of messages is committed after twenty polls', async () => {
  const { disk, send, sent, looks } = await withTwoSent();
  for (let seq = 2; looks.count < 20; seq++) {
    sent.push(send(seq));
    await looks.next();
  }
  sent.push(send(21));
  void looks.next();
  const two = await disk.commit(1);
  expect(numbersOf(two)).toEqual(Array.from({ length: 21 }, (_, place) => place + 1));
  two.done();
  await Promise.all(sent);
});

test('a message is acknowledged only after its commit has ended', async () => {
  const { disk, send } = begin();
  let acknowledged = false;
  const sent = send(0).then(() => {
    acknowledged = true;
  });
  const commit = await disk.commit(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(acknowledged).toBe(false);
  commit.done();
  await sent;
  expect(acknowledged).toBe(true);
});

test('a backlog of thousands is committed in bounded batches', async () => {
  const { disk, send } = begin();
  const sent = Array.from({ length: 1_200 }, (_, seq) => send(seq));
  for (const [number, size] of [500, 500, 200].entries()) {
    const commit = await disk.commit(number);
    expect(commit.messages).toHaveLength(size);
    commit.done();
  }
  await Promise.all(sent);
});

test('if the disk fails, every message of the commit is rejected and later messages are accepted', async () => {
  const { disk, send, log } = begin();
  const sent = [send(0), send(1)].map((one) => one.then(() => 'kept').catch((error: VigieError) => error.code));
  (await disk.commit(0)).fail(new VigieError('store.failed', 'disk full'));
  expect(await Promise.all(sent)).toEqual(['store.failed', 'store.failed']);
  expect(log.lines.map(({ event }) => event)).toContain('hub.store.failed');
  const later = send(2);
  (await disk.commit(1)).done();
  await later;
});

test.each([
  ['bytes that are not messages', upTopic(ONE, 'trip'), Uint8Array.of(1, 2, 3)],
  ['a message under the topic of another kind', upTopic(ONE, 'trip'), payloadOf('gap', { class: 5, count: 1 })],
  ['a topic of another protocol version', `vigie/9/${ONE}/up/gap`, payloadOf('gap', { class: 5, count: 1 })],
])('%s are quarantined with the reason and acknowledged', async (_what, topic, payload) => {
  const { disk, intake, log } = begin();
  const sent = intake.accept(topic, payload);
  const commit = await disk.commit(0);
  expect(commit.messages).toEqual([]);
  expect(commit.refused).toMatchObject([{ topic, payload, received: NOON }]);
  expect(log.lines).toMatchObject([{ event: 'hub.message.refused', fields: { topic } }]);
  commit.done();
  await sent;
});

test('a message of an unregistered car is refused with a log entry, and the others of its commit are stored', async () => {
  const { disk, intake, log, measures } = begin();
  const body = payloadOf('gap', { class: 5, count: 1 }, { seq: 0 });
  const [own, other, garbage] = [
    intake.accept(upTopic(ONE, 'gap'), body),
    intake.accept(upTopic(OTHER, 'gap'), body),
    intake.accept(upTopic(OTHER, 'gap'), Uint8Array.of(1)),
  ];
  (await disk.commit(0)).done(new Set([OTHER]));
  await own;
  for (const refused of [other, garbage]) await expect(refused).rejects.toMatchObject({ code: 'request.forbidden' });
  expect(log.lines.filter(({ event }) => event === 'hub.car.refused')).toMatchObject([{ fields: { vin: OTHER } }]);
  expect(measures.snapshot()).toMatchObject({ refusedCars: { unregistered: 2 }, repeated: 0, refused: 0 });
});

test('a message that the database rejects is quarantined and acknowledged, and the others of its commit are stored', async () => {
  const { disk, log, measures, send } = begin();
  const sent = Promise.all([0, 1, 2, 3, 4].map(send)).then(() => undefined);
  const stored: number[] = [];
  const aside: RefusedMessage[] = [];
  for (let number = 0; ; number++) {
    const commit = await Promise.race([disk.commit(number), sent]);
    if (commit === undefined) break;
    if (numbersOf(commit).includes(3)) commit.fail(new VigieError('store.failed', disk.refusal));
    else {
      stored.push(...numbersOf(commit));
      aside.push(...commit.refused);
      commit.done();
    }
  }
  expect(stored).toEqual([0, 1, 2, 4]);
  expect(aside).toMatchObject([{ topic: upTopic(ONE, 'gap'), received: NOON }]);
  expect(aside[0]?.reason).toContain(disk.refusal);
  expect(log.lines).toMatchObject([{ event: 'hub.message.refused', fields: { topic: upTopic(ONE, 'gap') } }]);
  expect(measures.snapshot()).toMatchObject({ refused: 1, failedCommits: 0 });
});

/** Sends a message of another car. Resolves with the number of commits that ended before it is acknowledged. */
async function commitsUntilStored(disk: SlowDisk, intake: Intake, end: (commit: Commit) => void): Promise<number> {
  const before = disk.commits.length;
  const stored = intake.accept(upTopic(OTHER, 'gap'), payloadOf('gap', { class: 5, count: 1 })).then(() => undefined);
  for (let number = before - 1; ; number++) {
    const commit = await Promise.race([disk.commit(number), stored]);
    if (commit === undefined) return number - before;
    end(commit);
  }
}

test('a car that sends 10,000 messages at once is reported, and the next commit has a message of another car', async () => {
  const { disk, intake, log, measures, send } = begin();
  for (let seq = 0; seq < 10_000; seq++) void send(seq);
  await disk.commit(0);
  expect(await commitsUntilStored(disk, intake, (commit) => commit.done())).toBe(1);
  expect(disk.commits[1]?.messages.map(({ vin }) => vin)).toContain(OTHER);
  expect(measures.snapshot().limited.messages).toBe(9_000);
  const reports = log.lines.filter(({ event }) => event === 'hub.car.limit');
  expect(reports.map(({ fields }) => fields)).toEqual(
    Array.from({ length: 14 }, (_, power) => ({ vin: ONE, limit: 'messages', count: 2 ** power })),
  );
});

test('a commit has at most 8 MiB of messages', async () => {
  const { disk, intake } = begin();
  const payload = new Uint8Array(1_048_576);
  for (let count = 0; count < 20; count++) void intake.accept(upTopic(ONE, 'gap'), payload);
  expect((await disk.commit(0)).refused).toHaveLength(8);
});

test('while the database rejects hundreds of messages of a car, another car waits for few commits', async () => {
  const { disk, intake, send } = begin();
  for (let seq = 0; seq < 400; seq++) void send(seq);
  const end = (commit: Commit): void => {
    if (commit.messages.some(({ vin }) => vin === ONE)) commit.fail(new VigieError('store.failed', disk.refusal));
    else commit.done();
  };
  await disk.commit(0);
  expect(await commitsUntilStored(disk, intake, end)).toBeLessThanOrEqual(4);
});

test('of hundreds of unreadable messages of a car, one hundred are logged one by one and all are stored', async () => {
  const { disk, intake, log, measures } = begin();
  const sent = Array.from({ length: 300 }, () => intake.accept(upTopic(ONE, 'gap'), new Uint8Array([1])));
  (await disk.commit(0)).done();
  await Promise.all(sent);
  expect(disk.commits[0]?.refused).toHaveLength(300);
  expect(log.lines.filter(({ event }) => event === 'hub.message.refused')).toHaveLength(100);
  expect(measures.snapshot().limited.faults).toBe(200);
});

test('messages of a forgotten car are acknowledged, counted and reported so that the broker can be cleared', async () => {
  const { disk, log, measures, send, reported } = begin();
  const sent = [send(0), send(1)];
  (await disk.commit(0)).done(new Set(), new Set([ONE]));
  await Promise.all(sent);
  expect(reported).toEqual([[ONE]]);
  expect(measures.snapshot()).toMatchObject({ refusedCars: { forgotten: 2 }, repeated: 0, heard: 0 });
  expect(log.lines).toMatchObject([{ event: 'hub.car.refused', fields: { vin: ONE } }]);
});

test('an empty retained message clears its topic and is not stored as a message of the car', async () => {
  const { disk, intake, log } = begin();
  await intake.accept(upTopic(ONE, 'status'), new Uint8Array());
  expect([disk.commits, log.lines]).toEqual([[], []]);
});

test('a retained message does not update when the car was last heard', async () => {
  const { disk, intake, measures } = begin();
  const accepted = intake.accept(upTopic(ONE, 'gap'), payloadOf('gap', { class: 5, count: 1 }), true);
  const commit = await disk.commit(0);
  expect(commit.messages).toMatchObject([{ retained: true }]);
  commit.done();
  await accepted;
  expect(measures.snapshot()).toMatchObject({ heard: 0 });
});

test('the log names a message that reuses the number of another', async () => {
  const { disk, log, send } = begin();
  const sent = send(7);
  const commit = await disk.commit(0);
  commit.done(new Set(), new Set(), commit.messages);
  await sent;
  expect(log.lines).toMatchObject([
    { level: 'warn', event: 'hub.number.conflict', fields: { vin: ONE, class: 3, seq: 7, boot: 1 } },
  ]);
});
