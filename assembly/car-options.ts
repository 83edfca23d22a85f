/** Options of the agent in a car, including the adapters around it. */
import type { CallbackChannels } from '../adapters/callbacks/index.ts';
import type { CarClock } from '../adapters/clock/system.ts';
import type { MqttAddress } from '../adapters/mqtt/index.ts';
import type { FileSystem } from '../adapters/store/index.ts';
import type { Agent } from '../agent/agent.ts';
import type { BackoffOptions } from '../agent/backoff.ts';
import type { GivenMonitor } from '../agent/monitors/desk.ts';
import type { AgentOptions, AgentPorts } from '../agent/options.ts';
import type { Actuator, Clock, FrameSource, Log, ReadingSource } from '../agent/ports.ts';
import type { UnitRest } from '../agent/power/rest.ts';
import type { AgentSettings } from '../protocol/settings.ts';
import type { Ways } from './actuation.ts';
import type { CloudLink } from './cloud-link.ts';
import type { CollectSurroundings } from './collector.ts';
import type { CarExits } from './exits.ts';
import type { FaultCodes } from './faults.ts';
import type { InterfaceOptions } from './interface.ts';
import type { OwnStore } from './records.ts';
import type { CarService } from './service.ts';
import type { Vehicle } from './vehicle.ts';

/** Parts of an agent to start. */
export interface CarOptions extends Ways {
  readonly vin: string;
  readonly vehicle: Vehicle;
  /**
   * Directory of records and state, used by only one agent at a time. If omitted, they are in memory and are lost when
   * the agent ends. The HTTP interface needs a directory.
   */
  readonly data?: string;
  /** File system for messages, state and records; default: the machine's. */
  readonly files?: FileSystem;
  /** Opens the program's own store; cannot be combined with `data`. Executed commands are remembered only in memory. */
  readonly store?: () => Promise<OwnStore>;
  /** Sources of frames, with bus names as in the profile. */
  readonly sources?: readonly FrameSource[];
  /** Sources of readings that are not frames. */
  readonly readings?: readonly ReadingSource[];
  /** Address of the broker. */
  readonly mqtt?: MqttAddress;
  /** Link to the cloud that replaces `mqtt`. With neither, nothing is published, and messages stay in the outbox. */
  readonly link?: CloudLink;
  /** Delays in ms between attempts to reach the broker; default 1 s to 2 min, for fleets and mobile networks. */
  readonly backoff?: BackoffOptions;
  /** Path of the file with the keys that may sign commands. */
  readonly trust?: string;
  /** IANA time zone for scheduled commands. */
  readonly zone?: string;
  /** Default: the defaults of a configuration. */
  readonly settings?: AgentSettings;
  readonly log: Log;
  readonly clock: CarClock;
  /** Limits how long a stop waits for acknowledgements; default: `clock`. */
  readonly stopTimer?: Pick<Clock, 'after'>;
  /** Sleep state of the unit, to which the link and the sources subscribe. */
  readonly rest?: UnitRest;
  /** Channels for notifications; default: no channel. */
  readonly notificationChannels?: CallbackChannels;
  /** The HTTP interface of the car. */
  readonly http?: InterfaceOptions['http'];
  /** The broker for plain topics. */
  readonly exits?: CarExits;
  /** Monitors from the configuration. If omitted, the previous monitors stay active. */
  readonly monitors?: readonly GivenMonitor[];
  readonly service?: CarService;
  /** Actuators that precede those of the profile. */
  readonly actuators?: readonly Actuator[];
  /** Recorders in addition to the agent's own. */
  readonly recorders?: AgentPorts['recorders'];
  /** Called with the agent before it starts, so before any value changes. */
  readonly built?: (agent: Agent) => void;
  /** Called with each message when it gets its number. Must not throw. */
  readonly numbered?: AgentOptions['numbered'];
  /** Lets additional frames pass the kernel filter, besides those of the profile. If omitted, all frames pass. */
  readonly listen?: CollectSurroundings['listen'];
  /** Reads and records fault codes. If omitted, the agent reads no fault codes. */
  readonly faults?: FaultCodes;
  /** Called for each message that the broker has acknowledged. */
  readonly published?: (topic: string, payload: Uint8Array) => void;
}
