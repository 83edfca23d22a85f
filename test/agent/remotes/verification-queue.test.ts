/** Bursts and floods of commands: which ones are verified, in which order, and how many. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { CheckBudget } from '../../../agent/remotes/check-budget.ts';
import { RepeatedAnswers } from '../../../agent/remotes/repeated-answers.ts';
import { type SeenMessage, VerificationQueue } from '../../../agent/remotes/verification-queue.ts';
import { openCommand } from '../../../protocol/command.ts';
import { defined } from '../../../protocol/defined.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { carOf, commandOf, signed, stranger } from './rig.ts';

const RATE = 50;
const WAITING = 1_000;
const REFUSED = 200;
const BYTES = 2 ** 20;

const clock = new VirtualClock();
const opened = openCommand(signed(commandOf(clock, 'WakeUp', {})));
let log: MemoryLog;
let taken: { readonly n: number; readonly crowded: boolean; readonly at: number }[];
let checks: number;
let queue: VerificationQueue;

const queueOf = (maximum = RATE): VerificationQueue =>
  new VerificationQueue({
    clock,
    log,
    budget: new CheckBudget(clock, { perSecond: RATE, maximum }),
    verify: ({ seen, opened: { signature } }) => {
      checks++;
      const authentic = signature.length > 0;
      seen.verdict = authentic ? 'authentic' : 'forged';
      return authentic;
    },
    take: ({ correlation }, crowded) => {
      const n = new DataView((correlation as Uint8Array).buffer).getUint32(0);
      taken.push({ n, crowded, at: clock.monotonic() });
    },
  });

beforeEach(() => {
  clock.advance(1_000 - (clock.monotonic() % 1_000));
  log = new MemoryLog();
  taken = [];
  checks = 0;
  queue = queueOf();
});

afterEach(() => queue.stop());

interface Sort {
  readonly bytes?: number;
  readonly counter?: number;
  readonly forged?: boolean;
  readonly late?: boolean;
  readonly seen?: SeenMessage;
}

/** Adds the command with a number. */
const putOne = (
  n: number,
  { bytes = 200, counter = n, forged = false, late = false, seen }: Sort = {},
): SeenMessage => {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, n);
  const signature = forged ? new Uint8Array() : opened.signature;
  const message = seen ?? { copies: 0, waiting: false, verdict: undefined };
  message.copies++;
  const command = { ...opened.command, counter };
  queue.put({ opened: { ...opened, command, signature }, correlation: number, bytes, late, seen: message });
  return message;
};

/** Adds commands numbered from `from` on. */
const put = (count: number, from = 0, bytes = 200): void => {
  for (let n = from; n < from + count; n++) putOne(n, { bytes });
};
const numbers = (crowded: boolean): number[] => taken.filter((one) => one.crowded === crowded).map(({ n }) => n);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

test('commands that arrive together are verified in order, up to the rate per second', () => {
  put(220);
  expect([taken.length, queue.length]).toEqual([RATE, 170]);
  for (const seconds of [1, 2, 3, 4]) {
    clock.advance(1_000);
    expect(taken).toHaveLength(Math.min(220, RATE * (1 + seconds)));
  }
  expect(numbers(false)).toEqual(range(0, 220));
  expect([queue.length, clock.pending, log.lines]).toEqual([0, 0, []]);
});

test('a command that arrives while others wait is verified after them', () => {
  put(60);
  clock.advance(990);
  expect(numbers(false)).toEqual(range(0, 60));
  // Commands verified from the queue count towards the rate per second.
  put(60, 60);
  expect(taken).toHaveLength(60 + 39);
  put(1, 120);
  clock.advance(1_000);
  expect(numbers(false)).toEqual(range(0, 121));
});

test('a full queue refuses some commands, drops the rest and logs it', () => {
  put(RATE + WAITING + REFUSED + 25);
  expect(queue.length).toBe(WAITING);
  expect(numbers(false)).toEqual(range(0, RATE));
  expect(numbers(true)).toEqual(range(RATE + WAITING, RATE + WAITING + REFUSED));
  expect(log.lines).toEqual([]);
  clock.advance(1_000);
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { dropped: 25 } }]);
  expect([numbers(false).length, queue.length]).toEqual([2 * RATE, WAITING - RATE]);
  // The queue has room again.
  put(RATE, 5_000);
  expect([queue.length, numbers(true).length]).toEqual([WAITING, REFUSED]);
  clock.advance(60_000);
  expect(numbers(false).slice(-RATE)).toEqual(range(5_000, 5_000 + RATE));
  expect([queue.length, clock.pending]).toEqual([0, 0]);
});

test('the bytes that wait are limited, whatever the number of commands', () => {
  put(RATE, 0, 65_536);
  put(20, RATE, 65_536);
  expect(queue.length).toBe(BYTES / 65_536);
  expect(numbers(true)).toHaveLength(20 - BYTES / 65_536);
  clock.advance(1_000);
  put(16, 100, 65_536);
  expect(numbers(true)).toHaveLength(20 - BYTES / 65_536);
});

test('at most two thousand messages a second are parsed, with a log entry at most once a minute', () => {
  const admitted = (count: number): number => range(0, count).filter(() => queue.admits()).length;
  expect(admitted(2_500)).toBe(2_000);
  clock.advance(1_000);
  expect(admitted(999)).toBe(999);
  expect(log.lines).toMatchObject([{ fields: { dropped: 500 } }]);
  clock.advance(1_000);
  for (let second = 0; second < 58; second++) {
    admitted(2_001);
    clock.advance(1_000);
  }
  expect(log.lines).toHaveLength(1);
  clock.advance(1_000);
  admitted(1);
  expect(log.lines.slice(1)).toMatchObject([{ fields: { dropped: 58 } }]);
});

test('forged messages with one counter use up only their own checks: a valid command is verified within a second', () => {
  const begun = clock.monotonic();
  for (let slice = 0; slice < 100; slice++) {
    for (let n = 0; n < 100; n++) putOne(slice * 100 + n, { counter: 7, forged: true });
    if (slice % 10 === 5) putOne(1_000_000 + slice, { counter: 1_000 + slice });
    clock.advance(100);
  }
  expect(taken).toHaveLength(10);
  for (const [index, { at }] of taken.entries()) expect(at - begun).toBeLessThanOrEqual(index * 1_000 + 1_500);
  expect(checks).toBeLessThanOrEqual(RATE * 11 + taken.length);
});

test('a repeated command is verified among forged messages with new counters, even on the slowest unit', () => {
  let valid: SeenMessage | undefined;
  let repeated = 0;
  for (let slice = 0; taken.length === 0; slice++) {
    for (let n = 0; n < 100; n++) putOne(slice * 100 + n, { forged: true });
    if (slice % 10 === 5) {
      valid = putOne(1_000_000, defined({ seen: valid }));
      repeated++;
    }
    clock.advance(100);
    if (slice > 100) throw new Error('it was never verified');
  }
  // By then it counts as one of the messages that arrived twice.
  expect(repeated).toBeLessThanOrEqual(2);
});

test('forged messages repeated equally often delay a repeated command only while they are many', () => {
  // The same 1,000 messages each second, until they are verified.
  const forged = range(0, WAITING).map((): SeenMessage => ({ copies: 0, waiting: false, verdict: undefined }));
  const valid: SeenMessage = { copies: 0, waiting: false, verdict: undefined };
  let seconds = 0;
  for (; taken.length === 0; seconds++) {
    for (const [n, seen] of forged.entries()) if (seen.verdict === undefined) putOne(n, { forged: true, seen });
    putOne(1_000_000, { seen: valid });
    clock.advance(1_000);
    if (seconds > 60) throw new Error('it was never verified');
  }
  expect(seconds).toBeLessThanOrEqual(1 + WAITING / RATE);
});

test('late commands are verified after all others, five a second', () => {
  for (let n = 0; n < 100; n++) putOne(n, { late: true });
  put(10, 200);
  clock.advance(1_000);
  expect(numbers(false)).toEqual([...range(0, 5), ...range(200, 210), ...range(5, 10)]);
});

test('a unit with fast signature checks verifies a whole flood', () => {
  queue = queueOf(2_000);
  for (let n = 0; n < 1_000; n++) putOne(n, { forged: true });
  expect([checks, queue.length]).toEqual([1_000, 0]);
  // A valid command costs more than its signature check.
  put(200);
  expect(taken).toHaveLength(RATE);
});

test('commands without room during a flood are dropped, not refused, so that a repetition can succeed', () => {
  for (let n = 0; n < 2_000; n++) putOne(n, { forged: true });
  expect([checks, queue.length, numbers(true)]).toEqual([RATE, WAITING, []]);
});

test('256 finished commands replayed for a day are answered fewer than 10,000 times', () => {
  const repeated = new RepeatedAnswers();
  let answers = 0;
  for (let second = 0; second < 86_400; second += 10) {
    for (const id of range(0, 256).map(String)) {
      if (!repeated.due(id, second * 1_000)) continue;
      repeated.given(id, second * 1_000);
      answers++;
    }
  }
  // Each answer has about 1 kB, so less than 10 MB are written.
  expect(answers).toBeLessThan(10_000);
});

test('a repeated command is answered at once, then at most once a minute', () => {
  const repeated = new RepeatedAnswers();
  expect(repeated.due('a', 5)).toBe(true);
  repeated.given('a', 5);
  expect([repeated.due('a', 60_004), repeated.due('b', 6)]).toEqual([false, true]);
  expect(repeated.due('a', 60_005)).toBe(true);
});

test('after stop nothing is verified and no timer remains', () => {
  put(60);
  queue.stop();
  put(60);
  clock.advance(5_000);
  expect([taken.length, queue.length, clock.pending]).toEqual([RATE, 0, 0]);
});

test('a command without room fails with its cause if it is authentic, and is otherwise not answered', async () => {
  const car = carOf();
  const crowd = (payload: Uint8Array): Promise<void> => car.remotes.intake.receive(payload, undefined, true);
  const told = (): unknown[] => car.reports.map(({ remoteActionId, failureCause }) => [remoteActionId, failureCause]);
  const command = commandOf(car.clock, 'Doors', { state: 'Locked' });
  await crowd(signed(command, stranger.privateKey));
  expect(told()).toEqual([]);
  await crowd(signed(command));
  const refused = [[command.id, 'TooManyRequestInShortTime']];
  expect(told()).toEqual(refused);
  expect(car.log.lines.at(-1)?.fields).toMatchObject({ id: command.id, status: 'Failed' });
  // Replayed old messages are not answered by a car under load.
  await crowd(signed(command));
  await crowd(signed({ ...command, id: 'another' }));
  expect([told(), car.actuated]).toEqual([refused, []]);
  expect(car.remotes.intake.unanswered).toBe(2);
});
