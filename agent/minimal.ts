import type { Hello } from '../protocol/schema/hello.ts';
import type { ClockQuality } from '../protocol/schema/message.ts';
import { PROTOCOL_VERSION } from '../protocol/schema/message.ts';
import type { CommandKind } from '../protocol/schema/remote.ts';
import type { AgentSettings } from '../protocol/settings.ts';
import { downKind } from '../protocol/topics.ts';
import { Outbox } from './outbox/outbox.ts';
import type { Clock, Document, Link, LinkEvents, Log, Memory, OutboxStore, SignatureVerifier } from './ports.ts';
import type { AgentCommand } from './remotes/agent-command.ts';
import { CommandIntake } from './remotes/command-intake.ts';
import { Ledger, type LedgerData } from './remotes/ledger.ts';
import { FAREWELL, within } from './within.ts';

/** Tick interval in ms. */
const TICK = 1_000;
/** Rate limit, because a unit that keeps crashing must do little work. */
const RATE = { perSecond: 5, maximum: 2_000 };

interface MinimalPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly link: Link;
  readonly store: OutboxStore;
  readonly memory: Memory;
  readonly verifier: SignatureVerifier;
  readonly ledger: Document<LedgerData>;
  /** Commands that are still carried out in this mode, by kind. */
  readonly agentCommands: ReadonlyMap<CommandKind, AgentCommand>;
  /** Called after each tick. */
  readonly ticked: () => void;
}

interface MinimalOptions {
  readonly vin: string;
  readonly version: string;
  readonly boot: number;
  readonly profile: string;
  /** Reason for this mode. */
  readonly reason: string;
  readonly quality: () => ClockQuality;
  readonly window: () => number;
  readonly settings: Pick<AgentSettings, 'outbox' | 'commands'>;
  /** Content of a hello in addition to the identity. */
  readonly more: () => Partial<Hello>;
}

/**
 * Reduced agent after repeated crashes: no source, no Status, no recorder. It connects, reports the reason for this
 * mode, empties the outbox, and accepts the commands that may repair it; it answers all others with a failure.
 */
export class MinimalAgent implements LinkEvents {
  readonly #ports: MinimalPorts;
  readonly #options: MinimalOptions;
  readonly #outbox: Outbox;
  readonly #ledger: Ledger;
  readonly #startedAt: number;
  readonly #intake: CommandIntake;
  #cancelTick: (() => void) | undefined;
  /** True once the agent has tried to store on disk that the ledger has lost something. */
  #noted = false;
  #stopping = false;

  constructor(ports: MinimalPorts, options: MinimalOptions) {
    const { clock, log, link, store } = ports;
    this.#ports = ports;
    this.#options = options;
    this.#startedAt = Math.round(clock.now());
    this.#outbox = new Outbox(store, link, clock, log, { ...options, ...options.settings.outbox }, ports.memory);
    this.#ledger = new Ledger(ports.ledger);
    this.#ledger.recall(ports.memory);
    // Programs and similar state stay as the normal agent stored them.
    this.#ledger.keep(() => this.#ledger.kept);
    this.#intake = new CommandIntake({
      ...ports,
      ...options,
      limits: options.settings.commands,
      ledger: this.#ledger,
      copied: false,
      publisher: this.#outbox,
      rate: RATE,
      car: `the agent is in its minimal mode: ${options.reason}`,
    });
  }

  /** Number of messages not yet acknowledged by the broker. */
  get waiting(): number {
    return this.#outbox.waiting;
  }

  /** Starts the ticks. */
  start(): void {
    this.#cancelTick = this.#ports.clock.after(TICK, () => {
      this.start();
      this.#makeUp().catch((error: Error) => this.#ports.log.error('command.lossUnwritten', { error: error.message }));
      this.#ports.ticked();
    });
  }

  up(): void {
    if (this.#stopping) return;
    this.hello();
    this.#outbox.linkUp();
    this.#ports.log.info('link.up', { waiting: this.waiting });
  }

  down(reason: string): void {
    if (!this.#stopping) this.#ports.log.warn('link.down', { reason, waiting: this.waiting });
  }

  message(topic: string, payload: Uint8Array, correlation: Uint8Array | undefined): void {
    const kind = downKind(this.#options.vin, topic);
    const isCommand = kind !== undefined && kind !== 'ack' && kind !== 'watch';
    if (!this.#stopping && isCommand && this.#intake.admits()) this.#intake.message(payload, correlation);
  }

  /** Sends the hello with the reason for minimal mode. */
  hello(): void {
    const { version, boot, profile, reason, more } = this.#options;
    this.#outbox.put('hello', {
      version,
      protocol: PROTOCOL_VERSION,
      boot,
      profile,
      startedAt: this.#startedAt,
      numbers: this.#outbox.sent,
      ...more(),
      mode: 'minimal',
      reason: reason.slice(0, 256),
    });
  }

  /** Resolves when all open changes are on disk and, while connected, acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#intake.stop();
    this.#cancelTick?.();
    const settled = this.#outbox.settled().catch((error: Error) => {
      this.#ports.log.error('outbox.unsettled', { error: error.message });
    });
    await within(FAREWELL, settled, this.#ports.clock);
    this.#outbox.close();
  }

  /** Settles a doubtful ledger even without a command, so that the first one is accepted once the time is known. */
  async #makeUp(): Promise<void> {
    if (!this.#ledger.doubtful || (this.#noted && this.#options.quality() === 'none')) return;
    this.#noted = true;
    await this.#intake.makeUp();
  }
}
