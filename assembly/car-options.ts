/** Options of the agent in a car, with the adapters around it. */
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
import type { FaultCodes } from './faults.ts';
import type { InterfaceOptions } from './interface.ts';
import type { OwnStore } from './records.ts';
import type { CarService } from './service.ts';
import type { Vehicle } from './vehicle.ts';

/** Parts of a running agent. */
export interface CarOptions extends Ways {
  readonly vin: string;
  readonly vehicle: Vehicle;
  /**
   * Directory of records and state, used by one agent at a time; absent: they are in memory, and end with the agent. The
   * interface needs one.
   */
  readonly data?: string;
  /** Where messages, state and records are kept; the file system of the machine unless given. */
  readonly files?: FileSystem;
  /** Opens a store of the program's own; not together with `data`. Commands are then remembered in memory only. */
  readonly store?: () => Promise<OwnStore>;
  /** Sources of frames; each knows what its buses are called in the profile. */
  readonly sources?: readonly FrameSource[];
  /** Sources of readings that are not frames. */
  readonly readings?: readonly ReadingSource[];
  /** The broker. */
  readonly mqtt?: MqttAddress;
  /** Another way to the cloud, instead of `mqtt`. With neither nothing is published, and what would be waits. */
  readonly link?: CloudLink;
  /** Waits between attempts to reach the broker, ms; default 1 s to 2 min, for fleets and mobile networks. */
  readonly backoff?: BackoffOptions;
  /** File of the keys that may sign commands. */
  readonly trust?: string;
  /** Time zone of programs, a name of the IANA data base. */
  readonly zone?: string;
  /** Default: the defaults of a configuration. */
  readonly settings?: AgentSettings;
  readonly log: Log;
  readonly clock: CarClock;
  /** Ends the wait of a stop for acknowledgements; default: `clock`. */
  readonly stopTimer?: Pick<Clock, 'after'>;
  /** Sleep state of the unit; the link and the sources subscribe to it. */
  readonly rest?: UnitRest;
  /** How far notifications may go; default: no channel at all. */
  readonly notificationChannels?: CallbackChannels;
  /** The interface that the car serves. */
  readonly http?: InterfaceOptions['http'];
  /** Monitors that are written in the configuration; absent: those that were before go on. */
  readonly monitors?: readonly GivenMonitor[];
  readonly service?: CarService;
  /** Ways to carry out commands that go before those of the profile. */
  readonly actuators?: readonly Actuator[];
  /** Recorders in addition to the agent's own. */
  readonly recorders?: AgentPorts['recorders'];
  /** Called with the agent before it starts, and so before anything changes. */
  readonly built?: (agent: Agent) => void;
  /** Called with each message as it is numbered. Must not throw. */
  readonly numbered?: AgentOptions['numbered'];
  /** Lets further frames pass the kernel, in addition to those of the profile. If omitted, all frames pass. */
  readonly listen?: CollectSurroundings['listen'];
  /** Reads and records fault codes; absent: the agent does not read them. */
  readonly faults?: FaultCodes;
  /** Called with each message the broker has acknowledged. */
  readonly published?: (topic: string, payload: Uint8Array) => void;
}
