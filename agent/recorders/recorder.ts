import type { StatusObserver } from '../status.ts';

/** Turns changes of Status into records. */
export interface Recorder extends StatusObserver {
  /** Called about once a second of the car's time, also while nothing changes. */
  tick(now: number): void;
  /** The agent stops: what is still open is handed over. */
  flush(now: number): void;
}
