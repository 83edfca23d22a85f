/**
 * Configurations sent to a unit: the real states and judgement, with contents of the world. As in
 * `assembly/generation.ts`.
 */
import { type FileSystem, openDocument } from '../../adapters/store/index.ts';
import {
  current,
  type Generations,
  helloConfiguration,
  holds,
  LOCAL,
  noGenerations,
  proven,
  readGenerations,
  returned,
  start,
  TRIAL,
  take,
  withDelivered,
} from '../../agent/configuration/generations.ts';
import { judgeTrial, type TrialObservation, type TrialVerdict } from '../../agent/configuration/trial.ts';
import type { Clock, Document, Log } from '../../agent/ports.ts';
import type { AgentCommand } from '../../agent/remotes/agent-command.ts';
import { digestOf } from '../../assembly/sent-files.ts';
import { decodeBody, encodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { HelloConfiguration } from '../../protocol/schema/hello.ts';

/** Content of the file on the unit. */
const OWN = 'own';
/** Delay of a restart, ms. */
const COURTESY = 3_000;

/** Outcome of a configuration: it works, has errors, reads no signal, or does not reach the broker. */
export type ConfigurationKind = 'good' | 'faulty' | 'deaf' | 'lost';

/** Command body of a configuration, which starts with its kind. */
export function configurationBody(text: string): Uint8Array {
  return encodeBody('Configuration', { configuration: text });
}

export interface ConfigurationsParts {
  readonly folder: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly log: Log;
  /** Restarts the agent. */
  readonly restart: () => void;
}

export class WorldConfigurations {
  readonly #parts: ConfigurationsParts;
  readonly #document: Document<Generations>;
  readonly #texts: Document<Readonly<Record<number, string>>>;
  #state: Generations;
  /** Generation of this run. */
  readonly #number: number;
  #isReached = false;
  #verdict: TrialVerdict | undefined;
  #lookedAt = 0;
  #wrongMs = 0;

  private constructor(
    parts: ConfigurationsParts,
    document: Document<Generations>,
    texts: Document<Readonly<Record<number, string>>>,
  ) {
    this.#parts = parts;
    this.#document = document;
    this.#texts = texts;
    this.#state = start(document.data, OWN);
    this.#number = current(this.#state);
  }

  static async open(parts: ConfigurationsParts): Promise<WorldConfigurations> {
    const { folder, files, clock, log } = parts;
    const accept = readGenerations;
    const document = await openDocument(`${folder}/configuration.json`, noGenerations, { log, files, accept });
    const texts = await openDocument<Readonly<Record<number, string>>>(`${folder}/texts.json`, {}, { log, files });
    const opened = new WorldConfigurations(parts, document, texts);
    await opened.#keep(opened.#state);
    if (opened.#isTrying)
      clock.after(TRIAL, () => opened.#isReached || void opened.#revert('the broker was not reached'));
    return opened;
  }

  /** Content of the configuration of this run. */
  get text(): string {
    return this.#number === LOCAL ? OWN : (this.#texts.data[this.#number] ?? 'missing');
  }

  /** Content of the configuration on trial at the next start. */
  get next(): string | undefined {
    return this.#texts.data[current(this.#state)];
  }

  /** Digest of the configuration of this run. Undefined for the file on the unit. */
  get digest(): string | undefined {
    return this.#number === LOCAL ? undefined : digestOf(configurationBody(this.text));
  }

  get hello(): HelloConfiguration {
    return helloConfiguration(this.#state);
  }

  /** Whether this run reads no signal, and no earlier one in this folder has: such a configuration counts as good. */
  get isBlind(): boolean {
    return this.text.startsWith('deaf') && (this.#state.delivered ?? []).length === 0;
  }

  get #isTrying(): boolean {
    return this.#state.trial !== undefined && this.#state.trial.number === this.#number;
  }

  /** Whether a configuration is or will be on trial. */
  get trying(): boolean {
    return this.#state.trial !== undefined;
  }

  /** The broker has acknowledged a message. */
  reached(): void {
    this.#isReached = true;
  }

  /** Resolves with true if a `hello` must report the result. Called at each tick. */
  async look(observed: TrialObservation): Promise<boolean> {
    const { trial, delivered = [] } = this.#state;
    const reading = observed.sources.filter(({ readings }) => readings > 0).map(({ kind, name }) => ({ kind, name }));
    if (trial === undefined) for (const source of reading) await this.#keep(withDelivered(this.#state, source));
    if (trial?.number !== this.#number) return false;
    const now = this.#parts.clock.monotonic();
    const verdict = judgeTrial(observed, delivered, trial.faults ?? []);
    if (verdict.state === 'wrong' && this.#verdict?.state === 'wrong') this.#wrongMs += now - this.#lookedAt;
    this.#verdict = verdict;
    this.#lookedAt = now;
    if (verdict.state !== 'good' && this.#wrongMs >= TRIAL) await this.#revert(verdict.why);
    if (verdict.state !== 'good' || !this.#isReached) return false;
    await this.#keep(proven(this.#state, reading));
    return true;
  }

  readonly order: AgentCommand = async (body) => {
    const { clock, restart } = this.#parts;
    const { configuration: text } = decodeBody('Configuration', body);
    const digest = digestOf(body);
    if (holds(this.#state, digest)) return;
    if (text.startsWith('faulty')) throw new VigieError('configuration.wrong', 'it has errors');
    const next = take(this.#state, OWN, digest, { since: Math.round(clock.now()), faults: [] });
    await this.#texts.write({ ...this.#texts.data, [current(next)]: text });
    await this.#document.write(next);
    this.#state = next;
    clock.after(COURTESY, restart);
  };

  async #revert(why: string): Promise<void> {
    await this.#keep(returned(this.#state, why));
    this.#parts.restart();
  }

  /** If the disk refuses the state, this run continues with it. */
  async #keep(state: Generations): Promise<void> {
    if (state === this.#document.data) return;
    this.#state = state;
    try {
      await this.#document.write(state);
    } catch (error) {
      this.#parts.log.error('configuration.numberUnwritten', { error: (error as Error).message });
    }
  }
}
