import { performance } from 'node:perf_hooks';
import type { Clock } from '../../agent/ports.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';

/** setTimeout counts in 32 bits: a longer delay would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** A unit whose battery was off starts in 1970; no unit runs a build from before this moment. */
const EARLIEST = Date.UTC(2025, 0, 1);

/** The machine's own clock. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  after(delay: number, due: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = (rest: number): void => {
      timer = setTimeout(() => (rest > LONGEST ? arm(rest - LONGEST) : due()), Math.min(Math.max(0, rest), LONGEST));
    };
    arm(delay);
    return () => clearTimeout(timer);
  }

  /** A plausible time came from the network; the system does not say more. */
  quality(): ClockQuality {
    return Date.now() >= EARLIEST ? 'ntp' : 'none';
  }
}
