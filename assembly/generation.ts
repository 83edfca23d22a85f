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
  proven,
  readGenerations,
  returned,
  start,
  TRIAL,
  take,
} from '../agent/configuration/generations.ts';
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
import { decodeBody } from '../protocol/command.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';
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

  /** Call when the running configuration has reached the broker. Resolves with true if that ended its trial. */
  async reached(): Promise<boolean> {
    this.#cancel();
    if (this.#parts.unreadable === true) return false;
    // If another configuration has been sent but has not run yet, reaching the broker proves nothing about it.
    const { trying } = this;
    if (trying) {
      await this.#keep(proven(this.#state));
      this.#parts.log.info('configuration.applied', { generation: this.#state.good });
      this.#files.keepOnly(needed(this.#state));
    }
    if (this.#running?.file !== this.#parts.file) return trying;
    const text = contentsOf(this.#parts.file);
    if (text !== undefined && text !== this.#files.read(this.#files.localCopy)) {
      this.#files.write(this.#files.localCopy, text);
    }
    return trying;
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
    return helloConfiguration(this.#state);
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
    const next = take(this.#state, this.#local, digest);
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
      this.#cancel = clock.after(TRIAL, () => {
        this.giveUp(`the broker was not reached within ${minutes} minutes`).then(
          () => this.#again('the last good configuration'),
          (error: Error) => this.#parts.log.error('configuration.revertFailed', { error: error.message }),
        );
      });
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
