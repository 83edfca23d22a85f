/** Service around a running agent: service manager, health reports, and how runs start and end. */

import { join } from 'node:path';
import {
  crashReport,
  moment,
  removeCrashReport,
  writeCrashReports,
  writeFatal,
} from '../adapters/service/crash-report.ts';
import { metricsPage } from '../adapters/service/metrics.ts';
import { openNotifier, type SystemdNotifier, watchdogInterval } from '../adapters/service/notify.ts';
import { processVitals } from '../adapters/service/process.ts';
import { type ListenAddress, type StatusServer, serve } from '../adapters/service/status-server.ts';
import { Watchdog } from '../adapters/service/watchdog.ts';
import { openDocument } from '../adapters/store/index.ts';
import type { TrialObservation } from '../agent/configuration/trial.ts';
import { Health, type HealthSnapshot, type JournalVitals, type LinkDetails } from '../agent/health/health.ts';
import type { Overseer } from '../agent/health/overseer.ts';
import { type AgentRun, backOff, begun, CRASHES, crashes, ended, readRuns } from '../agent/health/starts.ts';
import type { Clock, Document, FrameSource, LinkEvents, Log, OutboxStore, ReadingSource } from '../agent/ports.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import type { Listening } from '../config/service.ts';
import { defined } from '../protocol/defined.ts';
import type { ExitReport } from '../protocol/interface/own/exits.ts';
import type { HelloConfiguration, HelloMissing } from '../protocol/schema/hello.ts';
import type { CommandKind } from '../protocol/schema/remote.ts';
import type { Configurations } from './generation.ts';
import { nodeName } from './node-lines.ts';
import { version } from './version.ts';

/** Name of the socket that `vigie status` reads, in the folder of records. */
export const STATUS_SOCKET = 'agent.sock';

/** Reasons why parts of the agent wait for missing or damaged files. */
export interface Lacking {
  /** Reason why the interface is not served. */
  readonly interface?: string;
  /** Reason why commands are rejected if signed by keys in the trust file, or by any key. */
  readonly trust?: string;
  /** Reason why some or all notifications cannot be sent. */
  readonly callbacks?: string;
}

/** Response to `vigie status`. */
export interface StatusReport extends HealthSnapshot {
  readonly version: string;
  readonly vin: string;
  readonly profile: string;
  readonly pid: number;
  readonly configuration: HelloConfiguration;
  /** How the previous run ended, unless a command stopped it. */
  readonly before?: string;
  /** Reasons why parts wait until files are fixed. Omitted if all parts work. */
  readonly lacking?: Lacking;
  /** VIN that the car reports, if it differs from the configured one. */
  readonly carVin?: string;
  /** Entries of the data folder that were missing at startup, with the consequences. */
  readonly missing?: readonly HelloMissing[];
  /** State of the exits to other programs. Omitted if the car has no exits. */
  readonly exits?: readonly ExitReport[];
}

/** Parts of the service that an agent uses. */
export interface CarService {
  readonly agentCommands: ReadonlyMap<CommandKind, AgentCommand>;
  readonly overseer: Overseer;
  /** Returns a wrapper of the outbox store, for the agent to use instead. */
  store(store: { readonly outbox: OutboxStore; readonly metrics?: JournalVitals }): OutboxStore;
  /** Call with the reason why a part waits for its files, and with undefined once it no longer waits. */
  lacks(part: keyof Lacking, why: string | undefined): void;
  /** Call with the function that returns the state of the exits. */
  exits(report: () => readonly ExitReport[]): void;
  /** Returns event handlers that observe the link and forward its events to the agent. */
  events(agent: CoreAgent, link: Reporting): LinkEvents;
}

/** A link that reports its state. */
export interface Reporting {
  health(): LinkDetails;
}

/** Properties that the service observes of an agent, full or minimal. */
export interface CoreAgent extends LinkEvents {
  readonly readings?: number;
  readonly refused?: number;
  readonly faults?: number;
  /** Sends a `hello` with the identity and state of the unit. */
  hello?(): void;
  /** True if the car is in use, so that its buses should carry frames. */
  readonly inUse?: boolean;
  /** True while the unit sleeps. */
  readonly asleep?: boolean;
}

/** Records the starts of the agent in a folder of records. */
export class Starts {
  /** Number of crashes shortly before this start. */
  readonly crashes: number;
  /** How the previous run ended, unless a command stopped it. */
  readonly before: string | undefined;
  readonly #document: Document<readonly AgentRun[]>;
  readonly #data: string;
  readonly #log: Log;
  #forget: () => void = () => undefined;

  private constructor(data: string, document: Document<readonly AgentRun[]>, log: Log) {
    this.#data = data;
    this.#document = document;
    this.#log = log;
    this.crashes = crashes(document.data, moment());
    const last = document.data.at(-1);
    const abrupt = last !== undefined && last.ended !== true;
    const cut = last?.boot === moment().boot ? 'it was killed' : 'the power was cut';
    this.before = abrupt ? (crashReport(data) ?? cut) : undefined;
  }

  static async open(data: string, log: Log): Promise<Starts> {
    const document = await openDocument<readonly AgentRun[]>(join(data, 'starts.json'), [], { log, accept: readRuns });
    return new Starts(data, document, log);
  }

  get minimal(): boolean {
    return this.crashes >= CRASHES;
  }

  /** Delay before the start in ms. */
  get backOff(): number {
    return backOff(this.crashes);
  }

  /** Counts this start, and ensures that an error that ends the run is recorded. */
  async begin(): Promise<void> {
    removeCrashReport(this.#data);
    this.#forget = writeCrashReports(this.#data);
    await this.#write(begun(this.#document.data, { ...moment() }));
  }

  /** Records that this run ends on request. */
  async end(): Promise<void> {
    this.#forget();
    await this.#write(ended(this.#document.data));
  }

  /** Clears the count of crashes: something was changed that may have fixed them. */
  async forgive(): Promise<void> {
    await this.#write([]);
  }

  /** Records an error that ended the run; it counts as a crash. */
  crashed(error: unknown): void {
    this.#forget();
    writeFatal(this.#data, error);
  }

  /** Writes the runs. If the disk fails, the agent must still record the car. */
  async #write(runs: readonly AgentRun[]): Promise<void> {
    try {
      await this.#document.write(runs);
    } catch (error) {
      this.#log.error('start.unrecorded', { error: (error as Error).message });
    }
  }
}

interface ServiceOptions {
  readonly vin: string;
  readonly profile: string;
  readonly data: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly configurations: Configurations;
  readonly starts: Pick<Starts, 'before'>;
  readonly metrics?: Listening;
  /** Reason for minimal mode. If omitted, the agent runs in full. */
  readonly minimal?: string;
  /** Missing entries of the data folder. */
  readonly missing?: readonly HelloMissing[];
}

/** Monitors one run of the agent. */
export class Service implements CarService {
  readonly health: Health;
  readonly agentCommands: ReadonlyMap<CommandKind, AgentCommand>;
  readonly #options: ServiceOptions;
  readonly #notifier: SystemdNotifier;
  readonly #watchdog: Watchdog;
  readonly #interval: number | undefined;
  readonly #servers: StatusServer[] = [];
  #every = 1_000;
  #carVin: string | undefined;
  readonly #lacking = new Map<keyof Lacking, string>();
  #exits: (() => readonly ExitReport[]) | undefined;
  #reached = false;
  #hello: () => void = () => undefined;
  readonly #unwritten = (error: Error): void =>
    this.#options.log.error('configuration.copyUnwritten', { error: error.message });

  private constructor(options: ServiceOptions, notifier: SystemdNotifier) {
    const { clock, log, environment, minimal } = options;
    this.#options = options;
    this.#notifier = notifier;
    this.#interval = watchdogInterval(environment);
    this.#watchdog = new Watchdog(notifier, clock, log, this.#interval);
    this.health = new Health({
      clock,
      process: processVitals(),
      mode: minimal === undefined ? 'normal' : 'minimal',
      ...defined({ reason: minimal }),
      delivered: (source) => {
        options.configurations.delivered(source).catch(this.#unwritten);
      },
    });
    this.agentCommands = new Map([['Configuration', options.configurations.agentCommand]]);
  }

  /** Opens the endpoints that report the agent's health. If an address cannot be used, logs and skips it. */
  static async open(options: ServiceOptions): Promise<Service> {
    const { environment, log, data, metrics } = options;
    const service = new Service(options, await openNotifier(environment, log));
    const metricsText = metricsPage(() => service.health.snapshot());
    const status = async (): Promise<{ type: string; body: string }> => ({
      type: 'application/json',
      body: `${JSON.stringify(service.report())}\n`,
    });
    const places: readonly ListenAddress[] = [
      { kind: 'unix', path: join(data, STATUS_SOCKET) },
      ...(metrics === undefined ? [] : [metrics]),
    ];
    for (const place of places) {
      try {
        service.#servers.push(await serve(place, { '/status': status, '/metrics': metricsText }));
      } catch (error) {
        log.error('health.unavailable', { error: (error as Error).message });
      }
    }
    return service;
  }

  readonly overseer: Overseer = {
    looksEvery: (ms) => {
      if (ms === this.#every) return;
      this.#every = ms;
      this.health.pulse.expectEvery(ms);
      if (this.#interval === undefined) return;
      if (ms > this.#interval / 3) this.#watchdog.slacken(ms);
      else this.#watchdog.tighten(this.#interval);
    },
    ticked: () => {
      this.health.pulse.ticked();
      this.#watchdog.beat(this.health.pulse);
      const { configurations } = this.#options;
      if (configurations.trying) this.#judged(configurations.look());
    },
    hello: () => {
      const { starts, configurations, missing = [] } = this.#options;
      const trust = this.#lacking.get('trust');
      return {
        ...(starts.before === undefined ? {} : { reason: `the run before: ${starts.before}`.slice(0, 256) }),
        health: this.health.hello(),
        configuration: configurations.hello,
        runtime: nodeName(process.versions.node),
        ...(trust === undefined ? {} : { trust: trust.slice(0, 256) }),
        ...defined({ carVin: this.#carVin }),
        ...(missing.length === 0 ? {} : { missing: [...missing] }),
      };
    },
  };

  store({ outbox, metrics }: { readonly outbox: OutboxStore; readonly metrics?: JournalVitals }): OutboxStore {
    return metrics === undefined ? outbox : this.health.store(outbox, metrics);
  }

  exits(report: () => readonly ExitReport[]): void {
    this.#exits = report;
  }

  lacks(part: keyof Lacking, why: string | undefined): void {
    if (why === undefined) this.#lacking.delete(part);
    else this.#lacking.set(part, why);
  }

  /** Compares the car's VIN with the configured one. Reports a difference until the car returns the configured VIN. */
  readonly vinRead = (carVin: string): void => {
    const { vin, log } = this.#options;
    const differs = carVin !== vin;
    if (differs && this.#carVin !== carVin) {
      log.error('vin.differs', {
        configured: vin,
        car: carVin,
        fix: 'correct `vin`, or give another car a folder of records of its own',
      });
    }
    this.#carVin = differs ? carVin : undefined;
  };

  events(agent: CoreAgent, link: Reporting): LinkEvents {
    this.#hello = () => agent.hello?.();
    const count = (name: 'readings' | 'refused' | 'faults') => () => agent[name] ?? 0;
    const counters = { readings: count('readings'), refused: count('refused'), faults: count('faults') };
    this.health.attach(
      {
        get readings() {
          return counters.readings();
        },
        get refused() {
          return counters.refused();
        },
        get faults() {
          return counters.faults();
        },
      },
      () => agent.inUse === true,
    );
    const { minimal, configurations } = this.#options;
    const observe = (): TrialObservation => ({
      sources: this.health.activity,
      inUse: agent.inUse === true,
      asleep: agent.asleep === true,
      faults: this.#faults(),
    });
    // The minimal mode reads nothing, so that nothing can be judged.
    configurations.attend(() => (minimal === undefined ? observe() : undefined));
    return this.health.events(agent, () => link.health());
  }

  frames(sources: readonly FrameSource[]): FrameSource[] {
    return sources.map((source, index) => this.health.frames(source.buses[0] ?? `bus ${index + 1}`, source));
  }

  readings(sources: readonly ReadingSource[]): ReadingSource[] {
    return sources.map((source) => this.health.readings(source.apart === true ? 'receiver' : 'requests', source));
  }

  /** Call when the broker has acknowledged a message, which proves that the broker was reached. */
  readonly published = (_topic: string, payload: Uint8Array): void => {
    this.health.published(payload.byteLength);
    if (this.#reached) return;
    this.#reached = true;
    this.#judged(this.#options.configurations.reached());
  };

  /** Sends a `hello` if the trial of a configuration has a result: the sender of the configuration waits for it. */
  #judged(result: Promise<boolean>): void {
    result.then((isReported) => isReported && this.#hello(), this.#unwritten);
  }

  /** Faults that `hello` reports, by their part. */
  #faults(): Readonly<Record<string, string>> {
    const { health } = this;
    return {
      ...Object.fromEntries(this.#lacking),
      ...defined({ stuck: health.pulse.stuck() }),
      ...(health.faults > 0 && { agent: 'a defect keeps the agent from processing what it reads' }),
    };
  }

  ready(status: string): void {
    this.#notifier.ready(status);
  }

  report(): StatusReport {
    const { vin, profile, configurations, starts, missing = [] } = this.#options;
    return {
      version,
      vin,
      profile,
      pid: process.pid,
      configuration: configurations.hello,
      ...defined({ before: starts.before, carVin: this.#carVin }),
      ...(missing.length === 0 ? {} : { missing }),
      ...(this.#lacking.size === 0 ? {} : { lacking: Object.fromEntries(this.#lacking) }),
      ...defined({ exits: this.#exits?.() }),
      ...this.health.snapshot(),
    };
  }

  /** @param ends true if the process ends with this run; otherwise the agent restarts */
  async close(ends: boolean): Promise<void> {
    for (const server of this.#servers) await server.close();
    if (ends) this.#notifier.stopping('stopped');
    this.#notifier.close();
  }
}
