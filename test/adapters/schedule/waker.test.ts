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

test('wakes at the moment, once', () => {
  const due = vi.fn();
  wakeAt(NOW + 5_000, due);
  vi.advanceTimersByTime(4_990);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(20);
  expect(due).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10 * DAY);
  expect(due).toHaveBeenCalledTimes(1);
});

test.each([0, -1, -DAY])('a moment that has passed (%d ms) is woken for soon, and not within the call', (by) => {
  const due = vi.fn();
  wakeAt(NOW + by, due);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(due).toHaveBeenCalledTimes(1);
});

test('beyond the longest timer of the platform', () => {
  const due = vi.fn();
  wakeAt(NOW + 60 * DAY, due);
  vi.advanceTimersByTime(59 * DAY);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(DAY + 10);
  expect(due).toHaveBeenCalledTimes(1);
});

test('a clock that is set back is waited for', () => {
  const due = vi.fn();
  wakeAt(NOW + 10_000, due);
  vi.setSystemTime(NOW - 60_000);
  vi.advanceTimersByTime(10_010);
  expect(due).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(due).toHaveBeenCalledTimes(1);
});

test('cancelled, it never wakes, also when the moment has passed', () => {
  const due = vi.fn();
  wakeAt(NOW + 1_000, due)();
  wakeAt(NOW - 1_000, due)();
  vi.advanceTimersByTime(DAY);
  expect(due).not.toHaveBeenCalled();
});
