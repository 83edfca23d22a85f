/** Parts and settings of an agent. */
import type { Deflate } from '../protocol/columns/deflate.ts';
import type { MonitorEvent } from '../protocol/schema/event.ts';
import type { ClockQuality, Message } from '../protocol/schema/message.ts';
import type { CommandKind } from '../protocol/schema/remote.ts';
import type { VehicleFacts } from '../protocol/schema/vehicle.ts';
import type { AgentSettings, CaptureSettings } from '../protocol/settings.ts';
import type { Notifier } from './callbacks/notifier.ts';
import type { Overseer } from './health/overseer.ts';
import type { AnyColumnSink, ColumnSink } from './model/column-intake.ts';
import type { SourceGroup } from './model/mapping.ts';
import type { StatusReader } from './model/status.ts';
import type { RefusalListener } from './model/target.ts';
import type { MonitorSignals } from './monitors/custom-signals.ts';
import type {
  Actuator,
  Clock,
  Document,
  FrameBatch,
  Link,
  Log,
  Memory,
  OutboxStore,
  Publisher,
  RecordStore,
  SignatureVerifier,
  TrustKeeper,
  WantedSignal,
} from './ports.ts';
import type { BusActivity } from './power/bus-activity.ts';
import type { MakeRecorder, Patience, Recorder } from './recorders/recorder.ts';
import type { Records } from './records.ts';
import type { AgentCommand } from './remotes/agent-command.ts';
import type { LedgerData } from './remotes/ledger.ts';
import type { Limits } from './remotes/power.ts';
import type { Signer } from './remotes/requests.ts';
import type { SignalNumbers } from './signals/numbers.ts';
import type { SignalView } from './signals/view.ts';

export interface AgentPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly link: Link;
  readonly store: OutboxStore;
  readonly actuator: Actuator;
  /** Detects bus activity. If omitted, the agent assumes that this unit sends no frames, as when it plays a log. */
  readonly activity?: BusActivity;
  readonly verifier: SignatureVerifier;
  /** The unit's own key, for commands submitted at its interface. */
  readonly signer?: Signer;
  /** Changes the keys of `verifier`. If omitted, commands cannot change keys. */
  readonly keys?: TrustKeeper;
  readonly ledger: Document<LedgerData>;
  /** Persists Status, channels and the recorders' state, in the same commits as `store`. */
  readonly memory: Memory;
  /** Stores records that clients read, in the same commits as `store`. */
  readonly records: RecordStore;
  /** Sends notifications. If omitted, callbacks are refused. */
  readonly notifier?: Notifier;
  /** Commands to other parts of the unit, by kind. */
  readonly agentCommands?: ReadonlyMap<CommandKind, AgentCommand>;
  /** Supervises the agent: checks that it makes progress, and reports its health in the `hello` message. */
  readonly overseer?: Overseer;
  /** Compresses telemetry and messages; default: the portable one. */
  readonly deflate?: Deflate;
  /** Calls `due` at the wall-clock time `at`. If omitted, the agent checks once a second while it runs. */
  readonly waker?: (at: number, due: () => void) => () => void;
  /** Notified when the unit falls asleep or wakes: parts with their own schedule pause while it sleeps. */
  readonly rest?: (asleep: boolean) => void;
  /** Receives the reason for each reading that is rejected, for engineers who map a car. Default: no listener. */
  readonly refusals?: RefusalListener;
  /** Returns the bytes to and from the broker since the start, to measure the cost of sleep. */
  readonly traffic?: () => number;
  /** Recorders in addition to the agent's own. Each is stored under its unique name. */
  readonly recorders?: readonly MakeRecorder[];
  /** Creates the custom signals of the profile. Omitted if the profile has none. */
  readonly signals?: (parts: SignalParts) => CustomSignalsPart;
  /** Stores raw frames around events. If omitted, captures are not configured. */
  readonly captures?: (parts: CaptureParts) => CapturesPart;
}

/** Dependencies of captures on the agent. */
export interface CaptureParts {
  readonly records: Records;
  readonly settings: CaptureSettings;
  /** UTC ms. */
  readonly now: () => number;
  /** Returns the highest level of privacy since the previous call: 0 hides nothing, 1 positions, 2 everything. */
  readonly highestPrivacy: () => number;
  readonly log: Log;
  readonly deflate?: Deflate | undefined;
}

/** Captures, in the form that the agent uses. A unit whose profile has no captures does not load the implementation. */
export interface CapturesPart {
  readonly recorder: Recorder;
  /** Receives frames that were applied to Status. `batch.bus` contains indexes into `buses`. */
  take(batch: FrameBatch, buses: readonly string[]): void;
  event(event: MonitorEvent): void;
  /** Carries out commands of kind `Capture`. Undefined if the profile allows none. */
  readonly order: AgentCommand | undefined;
  /** Call after the clock was stepped forward by `by` ms. */
  stepped(by: number): void;
}

/** Dependencies of custom signals on the agent. */
export interface SignalParts {
  readonly status: StatusReader;
  readonly records: Records;
  /** Store from which recorded signals are read. */
  readonly kept: RecordStore;
  readonly memory: Memory;
  readonly log: Log;
  readonly clock: Clock;
  readonly quality: () => ClockQuality;
  /** Returns the level of privacy, now or for readings made at `at`: 0 hides nothing, 1 positions, 2 everything. */
  readonly privacy: (at?: number) => number;
  readonly deflate?: Deflate | undefined;
  readonly batch?: number | undefined;
  readonly patience?: Patience | undefined;
}

/** Custom signals, in the form that the agent uses. A unit whose profile has none does not load the implementation. */
export interface CustomSignalsPart {
  /** Signals that the decoder must deliver in addition to those of the mapping. */
  readonly wanted: readonly WantedSignal[];
  readonly recorder: Recorder;
  readonly numbers: SignalNumbers;
  readonly view: SignalView;
  /** Values that monitors observe. */
  readonly watched: MonitorSignals;
  readonly readings: number;
  readonly rejected: number;
  /**
   * Publishes the current catalog and those of earlier profiles that telemetry in `store` may refer to. A receiver
   * needs them all if it started later or its broker lost the retained messages.
   */
  announce(publisher: Pick<Publisher, 'put'>, store: Pick<OutboxStore, 'entries'>): void;
  states(): Iterable<readonly [key: string, value: unknown]>;
  /** Call after the clock was stepped forward by `by` ms. */
  stepped(by: number): void;
  /** Returns a sink for the `first` signals of `mapping`, followed by the {@link wanted} ones. */
  behind(mapping: ColumnSink<SourceGroup>, first: number): AnyColumnSink;
}

export interface AgentOptions {
  readonly vin: string;
  readonly version: string;
  /** Number of starts of this agent. */
  readonly boot: number;
  readonly quality: () => ClockQuality;
  readonly window: () => number;
  readonly settings: AgentSettings;
  /** Description of the car. If omitted, the agent publishes none, as for a log. */
  readonly vehicle?: VehicleFacts;
  /** Limits on commands in addition to those of the settings. */
  readonly limits?: Pick<Limits, 'burst' | 'daily'>;
  /** Default IANA time zone for programs that do not specify one. */
  readonly zone?: string;
  /** Called when a message gets its number, before it is on disk. Must not throw. */
  readonly numbered?: (message: Message) => void;
}
