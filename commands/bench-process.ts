/** Separate process for a bench's agent, started when the user wants to kill the agent. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { FrameBatch } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';
import type { OutboxReport } from '../protocol/interface/own/outbox.ts';
import type { BenchCable } from './bench-cable.ts';
import type { Told } from './bench-report.ts';
import { type AgentOrder, copyOf, type FromAgent, type ToAgent } from './bench-words.ts';
import { ownProgram } from './own-program.ts';

/** Largest number of unconfirmed batches. A slower agent misses further batches, as it would on a real bus. */
const MOST_ON_THE_WAY = 100;

export interface AgentProcessOptions {
  readonly order: AgentOrder;
  readonly cable: BenchCable;
  /** Last report of the agent about its outbox. */
  readonly outbox: OutboxReport;
  readonly published: (topic: string, payload: Uint8Array) => void;
  readonly told: (told: Told) => void;
}

export class AgentProcess {
  readonly #options: AgentProcessOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #onTheWay = 0;
  #outbox: OutboxReport;
  /** Port of its interface; undefined while it does not run. */
  port: number | undefined;
  /** The agent's response for `/vigie/v1/car`. */
  description: string | undefined;

  constructor(options: AgentProcessOptions) {
    this.#options = options;
    this.#outbox = options.outbox;
  }

  /** Last report, even if the agent was killed since. Requests a new report from a running agent. */
  get outbox(): OutboxReport {
    this.ask('outbox');
    return this.#outbox;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  ask(what: 'outbox' | 'status'): void {
    if (this.port !== undefined) this.#say({ ask: what });
  }

  /** Starts the process. Resolves when the agent is ready; rejects if the process ends before. */
  async start(): Promise<void> {
    if (this.#child !== undefined) return;
    const child = spawn(process.execPath, ownProgram(['bench', '--agent']), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#child = child;
    this.#onTheWay = 0;
    const exit = new Promise<unknown>((resolve) => {
      child.once('exit', resolve);
      // If the process could not be started, there is no `exit` event.
      child.once('error', () => child.pid === undefined && resolve(undefined));
    });
    this.#ended = exit.then(() => {
      this.#child = undefined;
      this.port = undefined;
    });
    const ready = new Promise<void>((resolve, reject) => {
      child.on('message', (said: FromAgent) => {
        if ('ready' in said) {
          this.port = said.ready;
          this.description = said.car;
          resolve();
        } else if ('fault' in said) reject(new VigieError('usage.wrong', said.fault));
        else this.#hear(said);
      });
      child.once('error', reject);
    });
    this.#say({ begin: this.#options.order });
    const died = this.#ended.then(() => {
      throw new VigieError('internal', 'the process of the agent ended before it was ready');
    });
    await Promise.race([ready, died]);
  }

  frames(batch: FrameBatch): void {
    if (this.port === undefined || this.#onTheWay >= MOST_ON_THE_WAY) return;
    this.#onTheWay++;
    this.#say({ batch: copyOf(batch) }, () => this.#onTheWay--);
  }

  /** Ends the process as in a power cut: it writes nothing more. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  /** Ends the process after the agent has stored open records. */
  async stop(): Promise<void> {
    if (this.#child?.connected === true) this.#child.disconnect();
    await this.#ended;
  }

  #say(words: ToAgent, done: () => void = () => undefined): void {
    // A process that has ended cannot receive anything. Its end settles all waiting requests.
    if (this.#child?.connected === true) this.#child.send(words, () => done());
    else done();
  }

  #hear(said: FromAgent): void {
    const { cable, published, told } = this.#options;
    if ('outbox' in said) this.#outbox = said.outbox;
    else if ('status' in said) told({ status: { contents: () => said.status }, waiting: said.waiting });
    else if ('published' in said) published(said.published, said.payload);
    else if ('send' in said) {
      const { number } = said;
      cable.send(said.send).then(
        () => this.#say({ sent: number }),
        (error: Error) => this.#say({ sent: number, fault: error.message }),
      );
    }
  }
}
