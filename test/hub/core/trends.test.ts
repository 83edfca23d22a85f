/** Lag of the last minutes and forecast for the disk. */
import { expect, test } from 'vitest';
import { type DiskUsage, forecast, Trends } from '../../../hub/core/trends.ts';
import { DAY } from '../../../protocol/calendar.ts';

const HOUR = 3_600_000;

test('the disk is full when the growth of the observed time has used the free space', () => {
  const first = { at: 0, bytes: 1_000 };
  expect(forecast(first, DAY, { bytes: 3_000, free: 20_000 })).toEqual({
    bytes: 3_000,
    free: 20_000,
    observed: DAY,
    growth: 2_000,
    days: 10,
  });
});

test.each([
  ['after less than an hour', HOUR - 1, { bytes: 3_000, free: 20_000 }],
  ['if the disk is on another machine', DAY, { bytes: 3_000 }],
  ['if the database shrinks', DAY, { bytes: 500, free: 20_000 }],
])('the day on which the disk is full is unknown %s', (_when, now, usage) => {
  expect(forecast({ at: 0, bytes: 1_000 }, now, usage).days).toBeUndefined();
});

test('lag counts the messages since the oldest of five samples, and the size is sampled again after an outage', async () => {
  let now = 0;
  let usage: DiskUsage | undefined = { bytes: 1_000, free: 4_000 };
  const counted = { messages: [0, 0], lag: [0, 0] };
  let due: (() => void) | undefined;
  const trends = new Trends({
    disk: { usage: async () => usage ?? Promise.reject(new Error('away')) },
    counted: () => counted,
    monotonic: () => now,
    after: (_delay, look) => {
      due = look;
      return () => undefined;
    },
  });
  const minute = async (): Promise<void> => {
    now += 60_000;
    due = undefined;
    trends.begin();
    while (due === undefined) await new Promise(setImmediate);
  };
  usage = undefined;
  await minute();
  usage = { bytes: 1_000, free: 4_000 };
  for (let count = 0; count < 8; count++) {
    counted.messages[1] = (counted.messages[1] ?? 0) + 10;
    counted.lag[1] = (counted.lag[1] ?? 0) + 10 * count * 100;
    await minute();
  }
  expect(trends.lag()).toEqual([{ class: 1, messages: 40, mean: 550 }]);
  now += DAY;
  usage = { bytes: 2_000, free: 4_000 };
  const disk = await trends.disk();
  expect(disk.observed).toBe(DAY + 7 * 60_000);
  expect(disk.days).toBeCloseTo(4.02, 1);
  await trends.stop();
});
