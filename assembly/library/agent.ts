/** The agent as part of another program. */

import { type CarClock, SystemClock } from '../../adapters/clock/system.ts';
import type { Agent } from '../../agent/agent.ts';
import type { FrameSender, FrameSource, Log, OutgoingFrame, ReadingSource } from '../../agent/ports.ts';
import { UnitRest } from '../../agent/power/rest.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { StatusPaths } from '../../protocol/generated/status-paths.ts';
import { type LogEvent, type LogLevel, type LogSink, logEvents } from '../../protocol/log-events.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { slotByPath } from '../../protocol/slots.ts';
import { type Car, startCar } from '../car.ts';
import type { CarOptions } from '../car-options.ts';
import type { InputsOfCar } from '../control-units.ts';
import { FilesRefused } from '../refused.ts';
import { loadVehicle, type Vehicle } from '../vehicle.ts';
import { checkRecordings, inputsOf, loadPackages } from './inputs.ts';
import { type CreateAgentOptions, checkOptions } from './options.ts';
import { type InputDescription, isFrameSource, isPort } from './source.ts';

export type StatusPath = keyof StatusPaths;

/** A change of one value of Status at `at` in UTC ms. `value` is undefined if it is no longer known. */
export type StatusChange = {
  readonly [P in StatusPath]: { readonly path: P; readonly value: StatusPaths[P] | undefined; readonly at: number };
}[StatusPath];

export interface AgentEvents {
  /** A value of Status has changed. */
  readonly change: StatusChange;
  /** The agent has created a message (a union by `kind`), which will soon be on disk and be published when possible. */
  readonly record: Message;
}

/** Current values of the car. */
export interface StatusValues {
  /** Returns undefined if the value is unknown or the agent has not started. */
  get<P extends StatusPath>(path: P): StatusPaths[P] | undefined;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Adds the sentence that explains each event as `message`. */
function explained(log: LogSink): Log {
  const write =
    (level: LogLevel) =>
    (event: LogEvent, fields: Record<string, unknown> = {}): void =>
      log[level](event, { message: logEvents[event][1], ...fields });
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/**
 * Reads the profile and checks that all options match; opens nothing until {@link VigieAgent.start}.
 * @throws VigieError `configuration.wrong` for a faulty profile or for inputs that do not match it (with
 * `diagnostics`),
 * `usage.wrong` for options that are missing, unknown, invalid or contradictory
 */
export async function createAgent(options: CreateAgentOptions): Promise<VigieAgent> {
  checkOptions(options);
  const { remotes, store, http, log = silent } = options;
  const directory = typeof store === 'object' && 'directory' in store ? store.directory : undefined;
  if (remotes !== undefined && directory === undefined) {
    throw new VigieError('usage.wrong', 'commands are carried out once, over restarts: give a directory as `store`');
  }
  if (http !== undefined && directory === undefined) {
    throw new VigieError('usage.wrong', 'the interface keeps its keys on disk: give a directory as `store`');
  }
  const vehicle = await vehicleOf(options.profile);
  const given = (options.sources ?? []).filter((source): source is InputDescription => !isPort(source));
  const own = (options.sources ?? []).filter(isPort);
  const inputs = inputsOf(given, own, vehicle, remotes !== undefined, ({ message, fix }) =>
    explained(log).warn('input.doubtful', { problem: message, fix }),
  );
  return new VigieAgent(options, vehicle, given.length === 0 ? undefined : inputs);
}

/** @throws VigieError `configuration.wrong`, whose message is the first finding: a program may show nothing else */
async function vehicleOf(profile: string): Promise<Vehicle> {
  try {
    // The simulated car stops for 30 s between its trips, so with the usual limits a trip would never end.
    return profile === 'bench' ? (await import('../simulation.ts')).benchVehicle('loop') : loadVehicle(profile);
  } catch (error) {
    if (!(error instanceof FilesRefused)) throw error;
    const [first] = error.diagnostics;
    const fix = first?.fix === undefined ? '' : ` (${first.fix})`;
    const reason = first === undefined ? '' : `: ${first.message}${fix}`;
    throw new FilesRefused(`${error.message}${reason}`, error.diagnostics, error.where);
  }
}

function storeOptions(store: CreateAgentOptions['store']): Pick<CarOptions, 'store' | 'data'> {
  if (store === undefined) return {};
  if (typeof store === 'function') return { store };
  if ('directory' in store) return { data: store.directory };
  // Only the program closes its store, because another agent may use it afterwards.
  return { store: async () => ({ ...store, close: async () => undefined }) };
}

/** The agent of one car. A process can run several agents. */
export class VigieAgent {
  readonly #options: CreateAgentOptions;
  readonly #vehicle: Vehicle;
  /** Undefined if all sources belong to the program. */
  readonly #inputs: InputsOfCar | undefined;
  readonly #listeners: { readonly [E in keyof AgentEvents]: Set<(event: AgentEvents[E]) => void> } = {
    change: new Set(),
    record: new Set(),
  };
  readonly #log: Log;
  #core: Agent | undefined;
  #car: Promise<Car> | undefined;
  #stopping: Promise<void> | undefined;
  #url: string | undefined;

  /** Use {@link createAgent}. */
  constructor(options: CreateAgentOptions, vehicle: Vehicle, inputs: InputsOfCar | undefined) {
    this.#options = options;
    this.#vehicle = vehicle;
    this.#inputs = inputs;
    this.#log = options.log === undefined ? silent : explained(options.log);
  }

  readonly status: StatusValues = {
    get: (path) => {
      const slot = slotByPath.get(path);
      if (slot === undefined) throw new VigieError('input.unknown', `Status has no ${path}`, { where: path });
      return this.#core?.status.value(slot) as StatusPaths[typeof path] | undefined;
    },
  };

  /** URL of the HTTP interface; undefined while the interface is not served. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Number of messages that no broker has acknowledged yet. */
  get waiting(): number {
    return this.#core?.waiting ?? 0;
  }

  /**
   * Calls `listener` for each event until the returned function is called. Errors of listeners are logged.
   * @throws VigieError `usage.wrong` for an event that does not exist
   */
  on<E extends keyof AgentEvents>(event: E, listener: (event: AgentEvents[E]) => void): () => void {
    if (!Object.hasOwn(this.#listeners, event)) {
      throw new VigieError('usage.wrong', `an agent has no event ${event}, only change and record`, { where: event });
    }
    if (typeof listener !== 'function') throw new VigieError('usage.wrong', 'a listener must be a function');
    const listeners = this.#listeners[event];
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /**
   * Opens the store, the link and the sources. Retries without an error if a broker or source is not available yet;
   * recordings, however, must exist.
   * @throws VigieError `usage.wrong` if the agent already runs or another one uses its directory, `configuration.wrong`
   * for unusable addresses and files, `input.unreadable` for a recording that does not exist, `package.missing` if an
   * optional package is not installed
   */
  async start(): Promise<void> {
    if (this.#car !== undefined) {
      const state = this.#stopping === undefined ? 'has been started already' : 'is stopping: wait for stop()';
      throw new VigieError('usage.wrong', `the agent ${state}`);
    }
    this.#car = this.#begin();
    try {
      this.#url = (await this.#car).interface?.url;
    } catch (error) {
      this.#car = undefined;
      this.#core = undefined;
      throw error;
    }
  }

  /**
   * Stops the sources, stores open records and closes the link. Resolves, for every caller, when everything is on disk,
   * or immediately if the agent does not run.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#end().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  async #end(): Promise<void> {
    const begun = this.#car;
    // start() has reported why the agent could not start.
    const car = await begun?.catch(() => undefined);
    this.#url = undefined;
    try {
      await car?.stop();
    } finally {
      if (this.#car === begun) this.#car = undefined;
    }
  }

  async #begin(): Promise<Car> {
    const { vin, link, store, remotes, recorders, http, timeZone, clock = new SystemClock() } = this.#options;
    const rest = new UnitRest();
    const own = (this.#options.sources ?? []).filter(isPort);
    if (this.#inputs !== undefined) {
      await checkRecordings(this.#inputs);
      await loadPackages(this.#inputs);
    }
    // Load the modules that open inputs only if there are inputs.
    const opened =
      this.#inputs === undefined
        ? undefined
        : (await import('../sources.ts')).sourcesOf(this.#inputs, this.#vehicle, clock, this.#log, rest);
    const sender = senderOf(own, opened?.sender);
    try {
      const car = await startCar({
        vin,
        vehicle: this.#vehicle,
        clock,
        // A program may stop advancing its clock when it stops the agent.
        stopTimer: firstOf(clock, new SystemClock()),
        log: this.#log,
        rest,
        settings: agentSettings(this.#options.settings),
        sources: [...own.filter(isFrameSource), ...(opened?.sources ?? [])],
        readings: [...own.filter(isReadingSource), ...(opened?.readings ?? [])],
        ...defined({ sender }),
        ...(opened === undefined ? {} : { requesters: opened.requesters, listen: opened.listen }),
        ...linkOptions(link),
        ...storeOptions(store),
        ...(remotes === undefined ? {} : { trust: remotes.trust }),
        ...(remotes?.actuators === undefined ? {} : { actuators: remotes.actuators }),
        ...defined({ recorders }),
        ...(http === undefined ? {} : http),
        ...defined({ zone: timeZone }),
        built: (agent) => this.#built(agent),
        numbered: (message) => this.#emit('record', message),
      });
      return {
        ...car,
        stop: async () => {
          await car.stop();
          opened?.close?.();
        },
      };
    } catch (error) {
      opened?.close?.();
      throw error;
    }
  }

  #built(agent: Agent): void {
    this.#core = agent;
    agent.status.observe({
      changed: ({ path }, value, _previous, at) => this.#emit('change', { path, value, at } as StatusChange),
      removed: ({ path }, _previous, at) => this.#emit('change', { path, value: undefined, at } as StatusChange),
    });
  }

  #emit<E extends keyof AgentEvents>(event: E, contents: AgentEvents[E]): void {
    for (const listener of this.#listeners[event]) {
      try {
        listener(contents);
      } catch (error) {
        this.#log.error('listener.failed', { listener: event, error: (error as Error).stack });
      }
    }
  }
}

/** Calls back when the first of two clocks does, and possibly again when the other one does. */
function firstOf(one: CarClock, other: CarClock): Pick<CarClock, 'after'> {
  return {
    after: (delay, due) => {
      const cancels = [one.after(delay, due), other.after(delay, due)];
      return () => {
        for (const cancel of cancels) cancel();
      };
    },
  };
}

function linkOptions(link: CreateAgentOptions['link']): Pick<CarOptions, 'link' | 'mqtt' | 'backoff'> {
  if (link === undefined) return {};
  return 'mqtt' in link ? link : { link };
}

function isReadingSource(source: FrameSource | ReadingSource): source is ReadingSource {
  return !isFrameSource(source);
}

/** Sends each frame to the program's own source of its bus if that source accepts frames, otherwise to the inputs. */
function senderOf(
  own: readonly (FrameSource | ReadingSource)[],
  inputs: FrameSender | undefined,
): FrameSender | undefined {
  const senders = own.filter(
    (source): source is FrameSource & FrameSender => isFrameSource(source) && 'send' in source,
  );
  if (senders.length === 0) return inputs;
  return {
    send: async (frame: OutgoingFrame) => {
      const sender = senders.find(({ buses }) => buses.includes(frame.bus)) ?? inputs;
      if (sender !== undefined) return sender.send(frame);
      throw new VigieError('command.actuation', `bus ${frame.bus} takes no frames`, { where: frame.bus });
    },
  };
}
