/** History of waiting messages on the page: bounded samples, and one outage until the next. */
import { expect, test } from 'vitest';
import { Backlog } from '../../page/car/backlog.ts';

test('an outage stays with its peak until the next one begins', () => {
  const backlog = new Backlog();
  backlog.take(0, { state: 'up', waiting: 0 });
  expect(backlog.outage).toBeUndefined();
  backlog.take(20_000, { state: 'connecting', waiting: 2 });
  backlog.take(30_000, { state: 'connecting', waiting: 57 });
  expect(backlog.outage).toEqual({ from: 20_000, to: undefined, most: 57 });
  expect(backlog.span(31_000)).toEqual([10_000, 31_000]);
  backlog.take(32_000, { state: 'up', waiting: 57 });
  // The link fails again before all messages are sent, so this is the same outage.
  backlog.take(33_000, { state: 'connecting', waiting: 40 });
  backlog.take(34_000, { state: 'up', waiting: 40 });
  backlog.take(36_000, { state: 'up', waiting: 0 });
  const ended = { from: 20_000, to: 34_000, drained: 36_000, most: 57 };
  expect(backlog.outage).toEqual(ended);
  for (let at = 37_000; at < 3_600_000; at += 1_000) backlog.take(at, { state: 'up', waiting: 2 });
  expect(backlog.outage).toEqual(ended);
  expect(backlog.span(3_600_000)).toEqual([10_000, 46_000]);
  expect(backlog.samples.at(-1)?.[0]).toBe(46_000);
  backlog.take(3_600_000, { state: 'connecting', waiting: 3 });
  expect(backlog.outage).toEqual({ from: 3_600_000, most: 3 });
  expect(backlog.samples.every(([at]) => at >= 3_590_000)).toBe(true);
});

test('an outage of days keeps a bounded number of samples, and its peak', () => {
  const backlog = new Backlog();
  let longest = 0;
  for (let index = 0; index < 10_000; index++) {
    backlog.take(index * 20_000, { state: 'connecting', waiting: index === 1_235 ? 999_999 : index });
    longest = Math.max(longest, backlog.samples.length);
  }
  expect(longest).toBeLessThanOrEqual(600);
  expect(backlog.samples.length).toBeGreaterThanOrEqual(300);
  expect(backlog.samples.some(([, waiting]) => waiting === 999_999)).toBe(true);
  expect(backlog.outage?.most).toBe(999_999);
});

test('without an outage the last two minutes are kept', () => {
  const backlog = new Backlog();
  for (let at = 0; at < 600_000; at += 250) backlog.take(at, { state: 'up', waiting: (at / 250) % 3 });
  expect(backlog.samples[0]?.[0]).toBeGreaterThanOrEqual(479_000);
  expect(backlog.samples.length).toBeGreaterThan(470);
});

test('a clock set back by an hour restarts the history', () => {
  const backlog = new Backlog();
  const hour = 3_600_000;
  backlog.take(hour, { state: 'up', waiting: 3 });
  backlog.take(hour + 1_000, { state: 'connecting', waiting: 5 });
  // Whole seconds of the car's clock.
  backlog.take(hour, { state: 'connecting', waiting: 6 });
  expect(backlog.outage).toMatchObject({ from: hour + 1_000, most: 6 });
  backlog.take(1_000, { state: 'connecting', waiting: 7 });
  backlog.take(2_000, { state: 'up', waiting: 0 });
  expect(backlog.outage).toEqual({ from: 1_000, to: 2_000, drained: 2_000, most: 7 });
  expect(backlog.samples.every(([at]) => at <= 2_000)).toBe(true);
});
