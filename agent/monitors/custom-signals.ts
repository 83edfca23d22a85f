/** The custom signals of the car as monitors see them, implemented by agent/signals/watch.ts. */
import type { SignalRules } from '../../protocol/schema/monitor/signals.ts';

export interface MonitorSignals extends SignalRules {
  /** Calls `changed` at each change that privacy does not hide. Returns undefined if the car has no such signal. */
  watch(name: string, changed: (at: number) => void): WatchedSignal | undefined;
}

export interface WatchedSignal {
  hidden(): boolean;
  /** Returns the value, or undefined if there is none or privacy hides it. */
  read(): number | string | undefined;
  /** Stops watching. */
  end(): void;
}
