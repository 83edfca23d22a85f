import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { wakeAt } from '../../../adapters/schedule/index.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('the waker calls back once at the given time', () => {
  const due = vi.fn();
  wakeAt(NOW + 5_000, due);
  vi.advanceTimersByTime(4_990);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(20);
  expect(due).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10 * DAY);
  expect(due).toHaveBeenCalledTimes(1);
});

test.each([0, -1, -DAY])('the waker calls back soon, but not synchronously, for a time in the past (%d ms)', (by) => {
  const due = vi.fn();
  wakeAt(NOW + by, due);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(due).toHaveBeenCalledTimes(1);
});

test('the waker supports delays beyond the longest timer of the platform', () => {
  const due = vi.fn();
  wakeAt(NOW + 60 * DAY, due);
  vi.advanceTimersByTime(59 * DAY);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(DAY + 10);
  expect(due).toHaveBeenCalledTimes(1);
});

test('the waker waits for the given time even if the clock is set back', () => {
  const due = vi.fn();
  wakeAt(NOW + 10_000, due);
  vi.setSystemTime(NOW - 60_000);
  vi.advanceTimersByTime(10_010);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(due).toHaveBeenCalledTimes(1);
});

test('the waker does not call back once it is cancelled, even for a time in the past', () => {
  const due = vi.fn();
  wakeAt(NOW + 1_000, due)();
  wakeAt(NOW - 1_000, due)();
  vi.advanceTimersByTime(DAY);
  expect(due).not.toHaveBeenCalled();
});
