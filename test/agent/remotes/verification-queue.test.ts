/** Bursts of commands: the first are verified at once, others wait in a bounded queue, and the rest is refused or dropped. */
import { beforeEach, expect, test } from 'vitest';
import { VerificationQueue } from '../../../agent/remotes/verification-queue.ts';
import { openCommand } from '../../../protocol/command.ts';
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
let queue: VerificationQueue;

beforeEach(() => {
  clock.advance(1_000 - (clock.monotonic() % 1_000));
  log = new MemoryLog();
  taken = [];
  queue = new VerificationQueue({
    clock,
    log,
    rate: RATE,
    take: (_command, correlation, crowded) => {
      const n = new DataView((correlation as Uint8Array).buffer).getUint32(0);
      taken.push({ n, crowded, at: Math.floor(clock.monotonic() / 1_000) });
    },
  });
});

/** Puts commands from `from` on, each with its number; says for how many there was no place. */
const put = (count: number, from = 0, bytes = 200): void => {
  for (let n = from; n < from + count; n++) {
    const number = new Uint8Array(4);
    new DataView(number.buffer).setUint32(0, n);
    queue.put(opened, number, bytes);
  }
};
const numbers = (crowded: boolean): number[] => taken.filter((one) => one.crowded === crowded).map(({ n }) => n);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

test('commands that come together are verified in their order, as many in a second as may be', () => {
  put(220);
  expect([taken.length, queue.length]).toEqual([RATE, 170]);
  for (const seconds of [1, 2, 3, 4]) {
    clock.advance(1_000);
    expect(taken).toHaveLength(Math.min(220, RATE * (1 + seconds)));
  }
  expect(numbers(false)).toEqual(range(0, 220));
  expect([queue.length, clock.pending, log.lines]).toEqual([0, 0, []]);
});

test('a command that comes while others wait comes after them', () => {
  put(60);
  clock.advance(990);
  put(1, 60);
  clock.advance(10);
  expect(numbers(false)).toEqual(range(0, 61));
  // What was verified of the queue counts: no more than the rate in this second.
  put(60, 61);
  expect(taken).toHaveLength(61 + RATE - 11);
});

test('a queue that is full refuses some and drops the rest, which the log tells', () => {
  put(RATE + WAITING + REFUSED + 25);
  expect(queue.length).toBe(WAITING);
  expect(numbers(false)).toEqual(range(0, RATE));
  expect(numbers(true)).toEqual(range(RATE + WAITING, RATE + WAITING + REFUSED));
  expect(log.lines).toEqual([]);
  clock.advance(1_000);
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { dropped: 25 } }]);
  expect([numbers(false).length, queue.length]).toEqual([2 * RATE, WAITING - RATE]);
  // There is place again.
  put(RATE, 5_000);
  expect([queue.length, numbers(true).length]).toEqual([WAITING, REFUSED]);
  clock.advance(60_000);
  expect(numbers(false).slice(-RATE)).toEqual(range(5_000, 5_000 + RATE));
  expect([queue.length, clock.pending]).toEqual([0, 0]);
});

test('the bytes that wait are bounded, whatever the number of commands', () => {
  put(RATE, 0, 65_536);
  put(20, RATE, 65_536);
  expect(queue.length).toBe(BYTES / 65_536);
  expect(numbers(true)).toHaveLength(20 - BYTES / 65_536);
  clock.advance(1_000);
  put(16, 100, 65_536);
  expect(numbers(true)).toHaveLength(20 - BYTES / 65_536);
});

test('of all messages at most a thousand a second are taken apart', () => {
  const admitted = (count: number): number => range(0, count).filter(() => queue.admits()).length;
  expect(admitted(1_500)).toBe(1_000);
  clock.advance(1_000);
  expect(admitted(999)).toBe(999);
  expect(log.lines).toMatchObject([{ fields: { dropped: 500 } }]);
});

test('nothing is verified after the stop, and no timer is left', () => {
  put(60);
  queue.stop();
  put(60);
  clock.advance(5_000);
  expect([taken.length, queue.length, clock.pending]).toEqual([RATE, 0, 0]);
});

test('a command for which there is no place fails with its cause when it is authentic, and is else not answered', async () => {
  const car = carOf();
  const crowd = (payload: Uint8Array): Promise<void> => car.remotes.intake.take(openCommand(payload), undefined, true);
  const told = (): unknown[] => car.reports.map(({ remoteActionId, failureCause }) => [remoteActionId, failureCause]);
  const command = commandOf(car.clock, 'Doors', { state: 'Locked' });
  await crowd(signed(command, stranger.privateKey));
  expect(told()).toEqual([]);
  await crowd(signed(command));
  const refused = [[command.id, 'TooManyRequestInShortTime']];
  expect(told()).toEqual(refused);
  expect(car.log.lines.at(-1)?.fields).toMatchObject({ id: command.id, status: 'Failed' });
  // Whoever repeats old messages gets no answers from a car that has no time.
  await crowd(signed(command));
  await crowd(signed({ ...command, id: 'another' }));
  expect([told(), car.actuated]).toEqual([refused, []]);
  expect(car.remotes.intake.unsigned).toBe(2);
});
