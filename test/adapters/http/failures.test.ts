import { describe, expect, test } from 'vitest';
import { Failures, TooManyRequests } from '../../../adapters/http/access/failures.ts';
import { VirtualClock } from '../../rig/clock.ts';

const ADDRESS = '192.0.2.1';

/** Seconds that the address has to wait now; 0: none. */
function waits(failures: Failures): number {
  try {
    failures.check(ADDRESS);
    return 0;
  } catch (error) {
    if (error instanceof TooManyRequests) return error.retryAfter;
    throw error;
  }
}

describe('after ten failed logins within a minute an address must wait', () => {
  test('also when the first of them was the end of a quiet minute', () => {
    const clock = new VirtualClock();
    const failures = new Failures(clock);
    failures.failed(ADDRESS);
    clock.advance(59_000);
    for (let attempt = 0; attempt < 8; attempt++) failures.failed(ADDRESS);
    clock.advance(6_500);
    expect(waits(failures)).toBe(0);
    for (let attempt = 0; attempt < 2; attempt++) failures.failed(ADDRESS);
    expect(waits(failures)).toBeGreaterThan(50);
  });

  test('and is let in again after the wait that it was told', () => {
    const clock = new VirtualClock();
    const failures = new Failures(clock);
    for (let attempt = 0; attempt < 10; attempt++) failures.failed(ADDRESS);
    const wait = waits(failures);
    expect(wait).toBeGreaterThanOrEqual(60);
    clock.advance(wait * 1_000 - 1_500);
    expect(waits(failures)).toBeGreaterThan(0);
    clock.advance(1_500);
    expect(waits(failures)).toBe(0);
  });
});
