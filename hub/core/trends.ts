/** Recent measurements of a hub: lag of the last minutes, and growth of its database. In memory since its start. */
import { DAY } from '../../protocol/calendar.ts';
import { defined } from '../../protocol/defined.ts';
import type { DiskStatus, HubStatus } from '../../protocol/interface/own/hub-status.ts';
import { Looks } from './looks.ts';
import type { HubMeasurements } from './measures.ts';
import type { Timer } from './ports.ts';

/** Time in ms between two samples. */
const SAMPLE_INTERVAL_MS = 60_000;
/** Number of samples from which the recent lag follows: five minutes. */
const MAX_LAG_SAMPLES = 5;
/** Time in ms between two samples of the size of the database, and number of these: a week. */
const SIZE_INTERVAL_MS = 600_000;
const MAX_SIZE_SAMPLES = 1_008;
/** Shortest time in ms of observation for a forecast. A shorter one measures how the database makes room in advance. */
const MIN_OBSERVED_MS = 3_600_000;

/** Size of the database in bytes, and size and free space of its disk if it is on this machine. */
export interface DiskUsage {
  readonly bytes: number;
  readonly free?: number;
  readonly total?: number;
}

/** Reads the size of the database. */
export interface DiskReader {
  /** Rejects with `store.failed` if the database does not answer. */
  usage(): Promise<DiskUsage>;
}

/** Size of the database at a time of the monotonic clock in ms. */
export interface SizeSample {
  readonly at: number;
  readonly bytes: number;
}

/** @param first oldest sample that is known */
export function forecast(first: SizeSample, now: number, { bytes, free }: DiskUsage): DiskStatus {
  const observed = Math.max(0, now - first.at);
  if (observed < MIN_OBSERVED_MS) return { bytes, observed, ...defined({ free }) };
  const growth = Math.round(((bytes - first.bytes) / observed) * DAY);
  const days = growth > 0 && free !== undefined ? free / growth : undefined;
  return { bytes, observed, growth, ...defined({ free, days }) };
}

type LagSample = Pick<HubMeasurements, 'messages' | 'lag'>;

interface TrendsParts {
  readonly disk: DiskReader;
  readonly counted: () => LagSample;
  readonly monotonic: () => number;
  readonly after: Timer;
}

export class Trends {
  readonly #parts: TrendsParts;
  readonly #looks: Looks;
  readonly #sums: LagSample[] = [];
  readonly #sizes: SizeSample[] = [];

  constructor(parts: TrendsParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: SAMPLE_INTERVAL_MS, look: () => this.#sample() });
  }

  begin(): void {
    this.#looks.wake();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** New messages of the last five minutes with their mean lag, without classes that had none. */
  lag(): HubStatus['lag'] {
    const now = this.#parts.counted();
    const before = this.#sums[0];
    return now.messages.flatMap((sum, priority) => {
      const messages = sum - (before?.messages[priority] ?? 0);
      const lag = (now.lag[priority] ?? 0) - (before?.lag[priority] ?? 0);
      return messages === 0 ? [] : [{ class: priority, messages, mean: Math.round(lag / messages) }];
    });
  }

  /** Rejects as {@link DiskReader.usage} does. */
  async disk(): Promise<DiskStatus> {
    const { disk, monotonic } = this.#parts;
    const usage = await disk.usage();
    const now = monotonic();
    return forecast(this.#sizes[0] ?? { at: now, bytes: usage.bytes }, now, usage);
  }

  async #sample(): Promise<void> {
    const { disk, counted, monotonic } = this.#parts;
    const { messages, lag } = counted();
    keepNewest(this.#sums, { messages: [...messages], lag: [...lag] }, MAX_LAG_SAMPLES);
    const last = this.#sizes.at(-1);
    if (last !== undefined && monotonic() - last.at < SIZE_INTERVAL_MS) return;
    // While the database is away there is no sample; the next minute tries again.
    const usage = await disk.usage().catch(() => undefined);
    if (usage !== undefined) keepNewest(this.#sizes, { at: monotonic(), bytes: usage.bytes }, MAX_SIZE_SAMPLES);
  }
}

function keepNewest<T>(samples: T[], sample: T, limit: number): void {
  samples.push(sample);
  if (samples.length > limit) samples.shift();
}
