/** The custom signals of the car, as monitors see them; agent/signals/watch.ts is one. */
import type { SignalRules } from '../../protocol/schema/monitor/signals.ts';

export interface MonitorSignals extends SignalRules {
  /** Calls `changed` at each change of the signal that privacy does not hide; undefined: the car has no such signal. */
  watch(name: string, changed: (at: number) => void): WatchedSignal | undefined;
}

export interface WatchedSignal {
  hidden(): boolean;
  /** Undefined: it has no value, or privacy hides it. */
  read(): number | string | undefined;
  /** Ends the watch. */
  end(): void;
}
