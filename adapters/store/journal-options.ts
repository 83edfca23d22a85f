/** Options of a journal and their defaults. */
import type { Clock, Log } from '../../agent/ports.ts';
import type { FileSystem } from './files.ts';

export interface JournalOptions {
  /** Size in bytes from which the next segment is created; default 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
  /** Maximum size of all files in bytes; default 512 MiB. Other limits apply to what they contain. */
  readonly diskBytes?: number;
  /** Bytes per day that the medium should endure (see wear.ts); default 4 GiB. */
  readonly bytesPerDay?: number;
  /** Returns the time in UTC ms, or undefined while it is unknown; default: the system's clock. */
  readonly now?: () => number | undefined;
  /** Returns the UTC ms by which kept segments age, or undefined while uncertain; default: always undefined. */
  readonly agreed?: () => number | undefined;
  /** Maximum size in bytes of the segments kept for their acknowledged messages; default 0. */
  readonly keptBytes?: number;
  /** Timer for flushes and waits; default: the system's. */
  readonly timer?: StoreTimer;
}

export type StoreTimer = Pick<Clock, 'monotonic' | 'after'>;

/** System timer that does not keep the process alive. */
export const systemTimer: StoreTimer = {
  monotonic: () => performance.now(),
  after(delay, due) {
    const timer = setTimeout(due, delay).unref();
    return () => clearTimeout(timer);
  },
};

export const defaultSegmentBytes = 1 << 20;
export const defaultDiskBytes = 512 * 2 ** 20;
export const defaultBytesPerDay = 4 * 2 ** 30;
