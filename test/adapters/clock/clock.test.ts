import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ReplayClock } from '../../../adapters/clock/replay.ts';
import { SystemClock } from '../../../adapters/clock/system.ts';

describe('the replay clock', () => {
  test('runs timers in order, each at its own time, including timers set by timers', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 30 });
    fc.assert(
      fc.property(delays, fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 10 }), (timers, steps) => {
        const clock = new ReplayClock();
        clock.advanceTo(1_000_000);
        const fired: [number, number][] = [];
        for (const delay of timers) {
          clock.after(delay, () => {
            fired.push([delay, clock.now() - 1_000_000]);
            if (delay % 2 === 0) clock.after(100, () => fired.push([delay + 100, clock.now() - 1_000_000]));
          });
        }
        let now = 1_000_000;
        for (const step of [0, ...steps]) {
          now += step;
          clock.advanceTo(now);
        }
        for (const [due, at] of fired) expect(at).toBe(due);
        expect(fired.map(([, at]) => at)).toEqual(fired.map(([, at]) => at).sort((a, b) => a - b));
        const elapsed = now - 1_000_000;
        const expected = timers.flatMap((delay) => [delay, ...(delay % 2 === 0 ? [delay + 100] : [])]);
        expect(fired).toHaveLength(expected.filter((due) => due <= elapsed).length);
        expect(clock.nextDue).toBeGreaterThan(now);
      }),
    );
  });

  test('does not go back when a log jumps back, and a cancelled timer does not fire', () => {
    const clock = new ReplayClock();
    clock.advanceTo(5_000);
    const cancel = clock.after(10, () => expect.unreachable());
    clock.advanceTo(4_000);
    expect(clock.now()).toBe(5_000);
    cancel();
    clock.advanceTo(6_000);
    expect(clock.now()).toBe(6_000);
  });

  test('passes a gap of years without running a timer for each second', () => {
    const clock = new ReplayClock();
    clock.advanceTo(0);
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      clock.after(1_000, tick);
    };
    clock.after(1_000, tick);
    const years = 30 * 365 * 86_400_000;
    clock.advanceTo(years);
    expect(ticks).toBe(600);
    expect(clock.now()).toBe(years);
    // The timer due during the gap fires late, and the next one a second after it.
    clock.advanceTo(years + 1_000);
    expect(ticks).toBe(602);
    expect(clock.now()).toBe(years + 1_000);
  });
});

describe('the system clock', () => {
  test('supports delays longer than the longest system timer', () => {
    vi.useFakeTimers();
    try {
      const due = vi.fn();
      const cancelled = vi.fn();
      const clock = new SystemClock();
      const month = 30 * 86_400_000;
      clock.after(month, due);
      const cancel = clock.after(month, cancelled);
      vi.advanceTimersByTime(month - 1);
      expect(due).not.toHaveBeenCalled();
      cancel();
      vi.advanceTimersByTime(1);
      expect(due).toHaveBeenCalledOnce();
      expect(cancelled).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  test('reports an unknown time if the time is before any build', () => {
    vi.useFakeTimers({ now: 0 });
    try {
      expect(new SystemClock().quality()).toBe('none');
      vi.setSystemTime(Date.UTC(2026, 0, 1));
      expect(new SystemClock().quality()).toBe('ntp');
    } finally {
      vi.useRealTimers();
    }
  });

  test("follows a receiver, and then ignores the system's time", () => {
    vi.useFakeTimers({ now: 0 });
    try {
      const stepped = vi.fn();
      const clock = new SystemClock({ stepped });
      const told = Date.UTC(2026, 0, 1);
      for (let ago = 4_000; ago >= 0; ago -= 1_000) clock.discipline(told - ago, clock.monotonic() - ago);
      expect([clock.quality(), clock.state]).toEqual(['gnss', 'gnss']);
      expect(stepped).toHaveBeenCalledOnce();
      for (const system of [told + 86_400_000, 0]) {
        vi.setSystemTime(system);
        // The monotonic clock belongs to the machine and runs on meanwhile.
        expect(clock.now()).toBeGreaterThanOrEqual(told);
        expect(clock.now()).toBeLessThan(told + 60_000);
      }
    } finally {
      vi.useRealTimers();
    }
  });
});
