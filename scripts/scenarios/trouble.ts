/** Troubles of the connection during a soak, and their times, which the seed determines. */
import { Random } from '../fuzz/random.ts';

/** A trouble. Times are in ms of car time since the start of the soak. */
export interface Trouble {
  readonly at: number;
  /**
   * `cut`: the connection closes abruptly. `stall`: nothing passes for a while, as when packets are lost and sent
   * again, then all data passes. `tunnel`: nothing passes, new connections fail, and existing ones are lost afterwards.
   * `restart`: the broker is shut down properly and started again after a while.
   */
  readonly kind: 'cut' | 'stall' | 'tunnel' | 'restart';
  readonly lasts: number;
}

export interface TroubleOptions {
  readonly seed: number;
  /** Duration of the soak in ms. */
  readonly length: number;
  /** Mean time in ms from one trouble to the next. */
  readonly every: number;
  /** A tunnel that lasts long enough to overflow the outbox. */
  readonly outage: { readonly at: number; readonly lasts: number };
}

const SECOND = 1000;

/** Returns troubles that do not overlap, in the order of time. */
export function troubles({ seed, length, every, outage }: TroubleOptions): readonly Trouble[] {
  const random = new Random('soak', seed);
  const planned: Trouble[] = [
    { at: outage.at, kind: 'tunnel', lasts: outage.lasts },
    { at: length * 0.9, kind: 'restart', lasts: 30 * SECOND },
  ];
  for (let at = every; at < length * 0.97; ) {
    const kind = random.of(['cut', 'cut', 'stall', 'stall', 'tunnel'] as const);
    const lasts = kind === 'cut' ? 0 : (5 + random.below(kind === 'stall' ? 20 : 60)) * SECOND;
    planned.push({ at, kind, lasts });
    at += lasts + every * (0.5 + random.below(1000) / 1000);
  }
  planned.sort((a, b) => a.at - b.at);
  const kept: Trouble[] = [];
  const important = new Set(planned.filter(({ at, kind }) => kind === 'restart' || at === outage.at));
  for (const one of planned) {
    const end = one.at + one.lasts;
    const clash = [...important].some((other) => other !== one && one.at < other.at + other.lasts && end >= other.at);
    const last = kept.at(-1);
    if (clash || (last !== undefined && last.at + last.lasts >= one.at)) continue;
    kept.push(one);
  }
  return kept;
}
