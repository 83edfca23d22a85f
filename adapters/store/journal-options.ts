/** Options of a journal and their defaults. */
import type { Clock, Log } from '../../agent/ports.ts';
import type { FileSystem } from './files.ts';

export interface JournalOptions {
  /** Bytes after which the next segment is begun; 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
  /** Bytes that all files may take; 512 MiB. What is kept in them is bounded elsewhere. */
  readonly diskBytes?: number;
  /** Bytes a day that the medium is meant to take (see wear.ts); 4 GiB. */
  readonly bytesPerDay?: number;
  /** UTC milliseconds, undefined while the time is unknown; default: the system's clock. */
  readonly now?: () => number | undefined;
  /** UTC milliseconds for the age of what is kept, undefined while no time is sure; default: always undefined. */
  readonly agreed?: () => number | undefined;
  /** Bytes of segments that are kept for the acknowledged messages in them; 0. */
  readonly keptBytes?: number;
  /** Times flushes and waits; the system's. */
  readonly timer?: StoreTimer;
}

export type StoreTimer = Pick<Clock, 'monotonic' | 'after'>;

/** Keeps no process from ending. */
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
