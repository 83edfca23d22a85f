/** Options of a hub, and the parts that all steps of its start share. */
import type { EnergyClient } from '../../adapters/http/access/user.ts';
import type { Notifier } from '../../agent/callbacks/notifier.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import type { Teardown } from '../../assembly/teardown.ts';
import type { CallbacksConfiguration } from '../../config/callbacks.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import type { SignInConfiguration } from '../../config/hub.ts';
import type { MapTiles } from '../../protocol/interface/own/car-description.ts';
import type { HubCommands } from '../core/commands.ts';
import type { Erasures } from '../core/erasures.ts';
import type { HubMeasures } from '../core/measures.ts';
import type { MonitorSync } from '../core/monitor-sync.ts';
import type { Timer } from '../core/ports.ts';
import type { RegistryStates } from '../core/registry-state.ts';
import type { RetentionDays } from '../core/retention.ts';
import type { ExternalBroker } from './broker.ts';
import type { HubDatabase } from './database.ts';
import type { HubCertificates, SecureHub } from './enrolment.ts';
import type { HubKeys } from './hub-keys.ts';
import type { VehicleDefaults } from './vehicles.ts';

/** Default address to listen on: only this machine. */
export const LOCAL = '127.0.0.1';

export interface HubOptions {
  /** Directory of the database and the keys. */
  readonly data: string;
  /** URL of PostgreSQL for the messages. If omitted, the hub uses an SQLite file in the directory. */
  readonly database?: string;
  /** File of the secret that encrypts the keys in PostgreSQL. If omitted, `keys/group.secret` in the directory. */
  readonly secretFile?: string;
  /** An external broker. If omitted, the hub runs a broker in this process. */
  readonly broker?: ExternalBroker;
  /** Name of this hub at the broker. If omitted, derived from its key. */
  readonly name?: string;
  /** Port of the embedded broker; 0 for any free port. */
  readonly port: number;
  /** Port of the interface; 0 for any free port. */
  readonly http: number;
  /** Port of metrics and health on this machine; 0 for any free port. If omitted, there is no port. */
  readonly metrics?: number;
  /** TLS for broker and interface, and enrolment of cars. If omitted, the hub uses no TLS. */
  readonly secure?: SecureHub;
  /** Rules for notifications of callbacks. If omitted, only public addresses, only `https`, and no push messages. */
  readonly callbacks?: Partial<CallbacksConfiguration>;
  /** Addresses to listen on. If omitted, 127.0.0.1. Other addresses need `secure` and a registry in use. */
  readonly hosts?: { readonly broker?: string; readonly http?: string; readonly metrics?: string };
  /** Addresses and networks of proxies in front of the interface. If omitted, the hub ignores forwarded addresses. */
  readonly trustedProxies?: readonly string[];
  /** Description of cars that send no description themselves. */
  readonly vehicle?: VehicleDefaults;
  /** Form of `energy` for clients of the user side. If omitted, an object, as published. */
  readonly clients?: readonly EnergyClient[];
  /** Tiles of the maps of the page. If omitted, the page loads no tiles. */
  readonly tiles?: MapTiles;
  /** Identity provider for the page. If omitted, people need a token. */
  readonly signIn?: SignInConfiguration;
  /** Receivers of the values of all cars. */
  readonly exits?: ExitsConfiguration;
  /** Days to keep readings as rows for SQL. If omitted, there are no such rows. */
  readonly readings?: number;
  /** Retention of messages. If omitted, messages are kept for ever. */
  readonly retention?: RetentionDays;
  readonly clock: Clock;
  readonly log: Log;
}

/** State of a hub while it starts. */
export interface HubStart {
  readonly options: HubOptions;
  readonly clock: Clock;
  readonly log: Log;
  readonly after: Timer;
  /** Functions that stop the started parts. Each step adds its functions to the front. */
  readonly teardowns: Teardown[];
}

/** Parts that a hub has before it can receive messages. */
export interface HubParts {
  readonly database: HubDatabase;
  readonly states: RegistryStates;
  readonly keys: HubKeys;
  /** Certificates. A hub without TLS has none. */
  readonly own: HubCertificates | undefined;
  readonly commands: HubCommands;
  readonly erasures: Erasures;
  readonly monitors: MonitorSync;
  readonly measures: HubMeasures;
  readonly notifier: Notifier;
}
