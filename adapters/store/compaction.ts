/** Which segment to empty, so that the journal takes at most about twice what lives in it. */
import type { Segment } from './segments.ts';

/** Part of a full segment that a small one counts for, so that many restarts do not leave many small files. */
const smallest = 1 / 4;

/**
 * The segment whose live records are to be moved on, or undefined when it is not worth it yet. `sealed` are the
 * segments no longer written, oldest first; the newest of them is kept as a second copy of the counters.
 *
 * With more than half of the space dead, some segment is at most half alive: moving its m bytes frees at least
 * 2 m, so moving on as much as is written keeps pace.
 */
export function chooseVictim(sealed: readonly Segment[], segmentBytes: number): Segment | undefined {
  let space = 0;
  let live = 0;
  let victim: Segment | undefined;
  let lowest = 0.5;
  sealed.forEach((segment, i) => {
    const cost = Math.max(segment.used, segmentBytes * smallest);
    space += cost;
    live += segment.live;
    const part = segment.live / cost;
    if (i === sealed.length - 1 || segment.live === 0 || part > lowest) return;
    lowest = part;
    victim = segment;
  });
  return space > 2 * live + 2 * segmentBytes ? victim : undefined;
}
