/** The configuration of an agent: the unit's own file, or one that was sent, with fallback to the previous one. */

import { dirname, join } from 'node:path';
import { contentsOf, fingerprint, GenerationFiles } from '../adapters/service/generation-files.ts';
import { openDocument } from '../adapters/store/index.ts';
import {
  current,
  type Generations,
  helloConfiguration,
  holds,
  LOCAL,
  needed,
  noGenerations,
  PARKED_TRIAL_DAYS,
  proven,
  readGenerations,
  returned,
  start,
  TRIAL,
  take,
  withDelivered,
} from '../agent/configuration/generations.ts';
import {
  type DeliveringSource,
  judgeTrial,
  type TrialObservation,
  type TrialVerdict,
} from '../agent/configuration/trial.ts';
import type { Clock, Document, Log } from '../agent/ports.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import {
  type Configuration,
  type IdentifiedConfiguration,
  loadConfiguration,
  type SentConfiguration,
} from '../config/configuration.ts';
import type { Environment } from '../config/environment.ts';
import { checkInputs } from '../config/inputs.ts';
import { DAY } from '../protocol/calendar.ts';
import { decodeBody } from '../protocol/command.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { shortened, VigieError } from '../protocol/errors.ts';
import type { HelloConfiguration } from '../protocol/schema/hello.ts';
import { checkKeys } from './checked-keys.ts';
import { isUnreadable } from './read-again.ts';
import { FilesRefused } from './refused.ts';
import { digestOf, unpackFiles } from './sent-files.ts';
import { inspectVehicle, type Vehicle } from './vehicle.ts';

/** Delay of a restart in ms, so that the response to the command is sent first. */
const COURTESY = 3_000;

/** State that the disk failed to store, for the next start in the same process. */
export interface Unwritten {
  state?: Generations;
}

interface ConfigurationsParts {
  /** The unit's own configuration file. */
  readonly file: string;
  /** Directory of the records. */
  readonly data: string;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly unwritten: Unwritten;
  /** True if the disk fails to return some of the records: then nothing is written to their directory. */
  readonly unreadable?: boolean;
  /** VIN for configurations that contain none. If omitted, the unit's own file contains it. */
  readonly vin?: string;
}

/** Time in ms after which a `hello` reports why a trial lasts. */
const REPORT_TRIAL_MS = 60_000;
const NOTHING: TrialObservation = { sources: [], inUse: false, asleep: false, faults: {} };

const UNIDENTIFIED = {
  line: 0,
  severity: 'error',
  message: 'vin is missing',
  fix: 'add vin: and its 17 characters',
} as const;

interface Chosen {
  readonly configuration: IdentifiedConfiguration;
  readonly vehicle: Vehicle;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Checks the files that `vigie check -c` checks and that a start needs. `files`: whether those of the broker, the
 * interface, commands and callbacks must exist. `ofCar`: VIN of the car, for a configuration that contains none.
 */
export function inspect(
  path: string,
  environment: Environment,
  folder?: string,
  files: 'needed' | 'awaited' = 'needed',
  ofCar?: string,
  sent?: SentConfiguration,
): Partial<Chosen> {
  const { configuration, diagnostics } = loadConfiguration(path, environment, folder, files, sent);
  if (configuration === undefined) return { diagnostics };
  const { vin = ofCar } = configuration;
  const { vehicle, diagnostics: faults } = inspectVehicle(configuration.profile);
  const all = [
    ...diagnostics,
    ...faults,
    ...(vehicle === undefined ? [] : checkInputs(configuration, vehicle.profile)),
    ...checkKeys(configuration, files === 'needed' ? 'error' : 'warning'),
    ...(vin === undefined ? [{ ...UNIDENTIFIED, file: path }] : []),
  ];
  const usable = !failed(all) && vehicle !== undefined && vin !== undefined;
  return { ...(usable ? { configuration: { ...configuration, vin }, vehicle } : {}), diagnostics: all };
}

export class Configurations {
  readonly #parts: ConfigurationsParts;
  readonly #files: GenerationFiles;
  readonly #document: Document<Generations>;
  #state: Generations;
  #running: Configuration | undefined;
  /** Number of the running configuration. Another one may have been sent since this one was chosen. */
  #number = LOCAL;
  #observe: () => TrialObservation | undefined = () => NOTHING;
  /** The broker was reached with the running configuration. */
  #reached = false;
  /** Last verdict on the running configuration. */
  #verdict: TrialVerdict | undefined;
  /** Monotonic ms: start of the trial, the last look at it, and how long it was wrong so far. */
  #triedSince = 0;
  #lookedAt = 0;
  #wrongMs = 0;
  /** State of the verdict that the last hello reported. */
  #told: TrialVerdict['state'] | undefined;
  #again: (why: string) => void = () => undefined;
  #cancel: () => void = () => undefined;
  /** Resolves when the agent must restart, with the reason. */
  readonly changed: Promise<string>;

  private constructor(parts: ConfigurationsParts, files: GenerationFiles, document: Document<Generations>) {
    this.#parts = parts;
    this.#files = files;
    this.#document = document;
    this.#state = parts.unwritten.state ?? readGenerations(document.data) ?? noGenerations;
    this.changed = new Promise((resolve) => {
      this.#again = resolve;
    });
  }

  /**
   * Rejects with `store.failed` if the folder for configurations cannot be created, and with `store.unreadable` if the
   * disk fails to return which one is in effect. With `unreadable`, the unit's own file is in effect instead.
   */
  static async open(parts: ConfigurationsParts): Promise<Configurations> {
    const { data, log, unreadable = false } = parts;
    const files = new GenerationFiles(join(data, 'configuration'), !unreadable);
    const read = (): Promise<Document<Generations>> =>
      openDocument(join(data, 'configuration.json'), noGenerations, { log, accept: readGenerations });
    if (!unreadable) return new Configurations(parts, files, await read());
    const unwritten = (generations: Generations): Document<Generations> => ({
      data: generations,
      write: async () => undefined,
    });
    try {
      return new Configurations(parts, files, unwritten((await read()).data));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return new Configurations(parts, files, unwritten(noGenerations));
    }
  }

  /**
   * Returns the configuration to start with. If it is unusable, falls back to the last usable one and logs an error.
   * `crashed`: reason for minimal mode, in which even a configuration that crashes the full agent reaches the broker.
   * @throws VigieError `configuration.wrong` if no configuration is usable
   */
  async choose(crashed?: string): Promise<Chosen> {
    const { file, log } = this.#parts;
    await this.#keep(start(this.#state, this.#edited()));
    const { starts = 0 } = this.#state.trial ?? {};
    if (crashed !== undefined && starts > 1) await this.giveUp(`the agent did not stay up with it: ${crashed}`);
    if (current(this.#state) !== LOCAL) {
      const { diagnostics, ...sent } = this.#inspect(this.#files.path(current(this.#state)));
      if (usable(sent)) return this.#run({ ...sent, diagnostics: diagnostics ?? [] });
      log.error('configuration.refused', { error: said(diagnostics) });
      if (this.#state.trial !== undefined) {
        await this.giveUp(`it cannot be used any more: ${said(diagnostics)}`);
        return this.choose();
      }
    }
    const { diagnostics = [], ...local } = this.#inspect(file);
    if (usable(local)) return this.#run({ ...local, diagnostics });
    const { diagnostics: _older, ...copy } = this.#inspect(this.#files.localCopy);
    if (!usable(copy)) return this.#waiting() ?? this.#refuse(diagnostics);
    log.error('configuration.fallback', { error: said(diagnostics) });
    return this.#run({ ...copy, diagnostics });
  }

  /** Sets the function that returns the state of the running agent, or undefined if the agent runs in part only. */
  attend(observe: () => TrialObservation | undefined): void {
    this.#observe = observe;
  }

  /** Call when the running configuration has reached the broker. Resolves as {@link look}. */
  async reached(): Promise<boolean> {
    this.#cancel();
    if (this.#parts.unreadable === true) return false;
    this.#reached = true;
    // If another configuration has been sent but has not run yet, reaching the broker proves nothing about it.
    if (this.#running?.file !== this.#parts.file) return this.look();
    const text = contentsOf(this.#parts.file);
    if (text !== undefined && text !== this.#files.read(this.#files.localCopy)) {
      this.#files.write(this.#files.localCopy, text);
    }
    return false;
  }

  /** Judges a configuration on trial. Call at each tick. Resolves with true if a `hello` must report the result. */
  async look(): Promise<boolean> {
    const { trial, delivered = [] } = this.#state;
    const observed = trial?.number === this.#number ? this.#observe() : undefined;
    if (trial === undefined || observed === undefined) return false;
    const now = this.#parts.clock.monotonic();
    const verdict = judgeTrial(observed, delivered, trial.faults ?? []);
    if (verdict.state === 'wrong' && this.#verdict?.state === 'wrong') this.#wrongMs += now - this.#lookedAt;
    this.#verdict = verdict;
    this.#lookedAt = now;
    if (verdict.state === 'good') return this.#reached && (await this.#apply(observed));
    const age = this.#parts.clock.now() - (trial.since ?? Number.POSITIVE_INFINITY);
    if (this.#wrongMs >= TRIAL || age >= PARKED_TRIAL_DAYS * DAY) {
      const { why } = verdict;
      await this.#revert(this.#wrongMs >= TRIAL ? why : `${why} within ${PARKED_TRIAL_DAYS} days`);
      return false;
    }
    if (!this.#reached || now - this.#triedSince < REPORT_TRIAL_MS || this.#told === verdict.state) return false;
    this.#told = verdict.state;
    return true;
  }

  async #apply({ sources }: TrialObservation): Promise<boolean> {
    const delivered = sources.filter(({ readings }) => readings > 0).map(({ kind, name }) => ({ kind, name }));
    await this.#keep(proven(this.#state, delivered));
    this.#parts.log.info('configuration.applied', { generation: this.#state.good });
    this.#files.keepOnly(needed(this.#state));
    return true;
  }

  async #revert(why: string): Promise<void> {
    try {
      await this.giveUp(why);
      this.#again('the last good configuration');
    } catch (error) {
      this.#parts.log.error('configuration.revertFailed', { error: (error as Error).message });
    }
  }

  /** Call when a source delivers its first reading: later configurations must read it too. */
  async delivered(source: DeliveringSource): Promise<void> {
    if (this.trying || this.#parts.unreadable === true) return;
    await this.#keep(withDelivered(this.#state, source));
  }

  /** True if the running configuration is on trial. */
  get trying(): boolean {
    return this.#state.trial !== undefined && this.#state.trial.number === this.#number;
  }

  /** Abandons the configuration on trial, because it does not work. */
  async giveUp(why: string): Promise<void> {
    this.#cancel();
    this.#parts.log.error('configuration.reverted', { why });
    await this.#keep(returned(this.#state, why));
  }

  /** Ends the wait for the broker. */
  close(): void {
    this.#cancel();
  }

  /** The configuration as `hello` reports it. */
  get hello(): HelloConfiguration {
    const hello = helloConfiguration(this.#state);
    if (!this.trying || this.#verdict === undefined || this.#verdict.state === 'good') return hello;
    return { ...hello, detail: shortened(this.#verdict.why, 256) };
  }

  /** Executes a command of kind `Configuration`: checks it like `vigie check`, stores it, and restarts to try it. */
  readonly agentCommand: AgentCommand = async (body) => {
    const { configuration: text, files: packed = [] } = decodeBody('Configuration', body);
    const { log, clock } = this.#parts;
    const digest = digestOf(body);
    // After a power cut the command can arrive again although it was executed.
    if (holds(this.#state, digest)) return;
    const files = unpackFiles(packed);
    this.#files.write(this.#files.candidate, text);
    this.#files.writeFiles(this.#files.candidate, files);
    const { configuration, diagnostics } = this.#inspect(this.#files.candidate);
    if (configuration === undefined) throw new VigieError('configuration.wrong', said(diagnostics));
    const { vin, data } = this.#running ?? configuration;
    if (configuration.vin !== vin || configuration.data !== data) {
      throw new VigieError(
        'configuration.wrong',
        'vin and data cannot be changed; only a person at the unit sets them',
      );
    }
    const faults = Object.keys(this.#observe()?.faults ?? {});
    const next = take(this.#state, this.#local, digest, { since: Math.round(clock.now()), faults });
    const path = this.#files.path(current(next));
    this.#files.writeFiles(path, files);
    this.#files.write(path, text);
    await this.#write(next);
    this.#state = next;
    // The remaining trial time of the previous configuration does not apply to the new one.
    this.#cancel();
    log.info('configuration.received', { generation: current(next) });
    // The response must be sent first.
    clock.after(COURTESY, () => this.#again('another configuration'));
  };

  /** Resolves relative paths against the folder of the unit's own file. */
  #inspect(path: string, files?: 'needed' | 'awaited'): Partial<Chosen> {
    const { file, environment, vin, data } = this.#parts;
    const unit = { data: this.#running?.data ?? data, ...defined({ vin }) };
    const isOfUnit = path === file || path === this.#files.localCopy;
    const sent = isOfUnit ? undefined : { files: this.#files.filesOf(path), unit };
    return inspect(path, environment, dirname(file), files, vin, sent);
  }

  #run(chosen: Chosen): Chosen {
    const { clock } = this.#parts;
    this.#running = chosen.configuration;
    this.#number = current(this.#state);
    if (this.#state.trial !== undefined) {
      const minutes = TRIAL / 60_000;
      this.#triedSince = clock.monotonic();
      this.#cancel = clock.after(
        TRIAL,
        () => void this.#revert(`the broker was not reached within ${minutes} minutes`),
      );
    }
    return chosen;
  }

  /** If no configuration is usable, returns one that only lacks files such as certificates: the car is recorded. */
  #waiting(): Chosen | undefined {
    const { file, log } = this.#parts;
    const number = current(this.#state);
    const sent = number === LOCAL ? [] : [this.#files.path(number)];
    for (const path of [...sent, file, this.#files.localCopy]) {
      const { diagnostics = [], ...found } = this.#inspect(path, 'awaited');
      if (!usable(found)) continue;
      log.error('configuration.filesMissing', {
        files: diagnostics.map(({ file: of, message }) => (of === path ? message : `${of}: ${message}`)).join('; '),
      });
      return this.#run({ ...found, diagnostics });
    }
    return undefined;
  }

  #refuse(diagnostics: readonly Diagnostic[]): never {
    throw new FilesRefused('the configuration has errors', diagnostics, this.#parts.file);
  }

  /** Returns the fingerprint of the unit's own file if that is valid. If it has errors, it replaces nothing. */
  #edited(): string {
    const { file } = this.#parts;
    const { local = this.#local } = this.#state;
    if (current(this.#state) === LOCAL || local === this.#local) return local;
    return this.#inspect(file).configuration === undefined ? local : this.#local;
  }

  get #local(): string {
    return fingerprint(contentsOf(this.#parts.file));
  }

  async #write(state: Generations): Promise<void> {
    await this.#document.write(state);
    delete this.#parts.unwritten.state;
  }

  /** Stores the state. If the disk fails, the agent still runs: this process remembers which one is in effect. */
  async #keep(state: Generations): Promise<void> {
    if (state === this.#state) return;
    this.#state = state;
    try {
      await this.#write(state);
    } catch (error) {
      this.#parts.unwritten.state = state;
      this.#parts.log.error('configuration.numberUnwritten', {
        error: (error as Error).message,
      });
    }
  }
}

function usable(found: Omit<Partial<Chosen>, 'diagnostics'>): found is Omit<Chosen, 'diagnostics'> {
  return found.configuration !== undefined && found.vehicle !== undefined;
}

function failed(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Returns the errors among the findings as one string. */
function said(diagnostics: readonly Diagnostic[] = []): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return errors
    .map(({ file, line, message, fix }) => {
      // The path on the unit means nothing to the person who sent the file.
      const [, sent = ''] = /\/candidate\/(.*)$/.exec(file) ?? [];
      const where = line === 0 ? sent || file : `${sent === '' ? '' : `${sent} `}line ${line}`;
      return `${where}: ${message}${fix === undefined ? '' : ` (${fix})`}`;
    })
    .join('; ');
}
