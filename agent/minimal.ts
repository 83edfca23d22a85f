import type { OpenedCommand } from '../protocol/command.ts';
import type { Hello } from '../protocol/schema/hello.ts';
import type { ClockQuality } from '../protocol/schema/message.ts';
import { PROTOCOL_VERSION } from '../protocol/schema/message.ts';
import type { CommandKind } from '../protocol/schema/remote.ts';
import { downKind } from '../protocol/topics.ts';
import { Outbox } from './outbox/outbox.ts';
import type { Clock, Document, Link, LinkEvents, Log, Memory, OutboxStore, SignatureVerifier } from './ports.ts';
import { admit, logUnanswered, open } from './remotes/admission.ts';
import { type Affair, failureOf } from './remotes/affair.ts';
import { late, SKEW } from './remotes/checks.ts';
import { final, Ledger, type LedgerData } from './remotes/ledger.ts';
import { defaultLimits } from './remotes/power.ts';
import { type Progress, Reports } from './remotes/reports.ts';
import { VerificationQueue } from './remotes/verification-queue.ts';
import { FAREWELL, within } from './within.ts';

/** It looks around this often, ms. */
const TICK = 1_000;
/** Commands that are verified in a second; more wait. */
const RATE = 5;

export interface MinimalPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly link: Link;
  readonly store: OutboxStore;
  readonly memory: Memory;
  readonly verifier: SignatureVerifier;
  readonly ledger: Document<LedgerData>;
  /** Commands that are carried out all the same, by kind. */
  readonly affairs: ReadonlyMap<CommandKind, Affair>;
  /** Called after each look around. */
  readonly ticked: () => void;
}

export interface MinimalOptions {
  readonly vin: string;
  readonly version: string;
  readonly boot: number;
  readonly profile: string;
  /** Why the agent is in this mode. */
  readonly reason: string;
  readonly quality: () => ClockQuality;
  readonly window: () => number;
  /** Bound of the outbox, bytes. */
  readonly limit: number;
  /** Longest time between issue and expiry of a command, ms; default: {@link defaultLimits}. */
  readonly validity?: number;
  /** What a hello says beside who speaks. */
  readonly more: () => Partial<Hello>;
}

/**
 * What is left of the agent when it does not stay up: no source, no Status, no recorder. It is connected, says why it
 * is so, empties the outbox, and takes the commands that may mend it; every other is answered with a failure.
 */
export class MinimalAgent implements LinkEvents {
  readonly #ports: MinimalPorts;
  readonly #options: MinimalOptions;
  readonly #outbox: Outbox;
  readonly #ledger: Ledger;
  readonly #reports: Reports;
  readonly #startedAt: number;
  /** Commands that are being carried out. */
  readonly #underWay = new Set<string>();
  #cancelTick: (() => void) | undefined;
  #greeted = false;
  /** That the ledger has lost something is on disk, or was refused there. */
  #noted = false;
  #stopping = false;
  readonly #queue: VerificationQueue;

  constructor(ports: MinimalPorts, options: MinimalOptions) {
    const { clock, log, link, store } = ports;
    this.#ports = ports;
    this.#options = options;
    this.#startedAt = Math.round(clock.now());
    this.#outbox = new Outbox(store, link, clock, log, options, ports.memory);
    this.#ledger = new Ledger(ports.ledger);
    this.#ledger.recall(ports.memory);
    // Programs and the like stay as the whole agent left them.
    this.#ledger.keep(() => this.#ledger.kept);
    this.#reports = new Reports({
      ledger: this.#ledger,
      copied: false,
      publisher: this.#outbox,
      log,
      clock,
    });
    this.#queue = new VerificationQueue({
      clock,
      log,
      rate: RATE,
      take: (command, correlation, crowded) => {
        this.#receive(command, correlation, crowded).catch((error: Error) =>
          log.error('a command ended in an error', { error: error.message }),
        );
      },
    });
  }

  /** Messages not yet acknowledged by the broker. */
  get waiting(): number {
    return this.#outbox.waiting;
  }

  /** Looks around from now on. */
  start(): void {
    this.#cancelTick = this.#ports.clock.after(TICK, () => {
      this.start();
      this.#makeUp().catch((error: Error) =>
        this.#ports.log.error('what the ledger has lost could not be written down', { error: error.message }),
      );
      this.#ports.ticked();
    });
  }

  up(): void {
    if (this.#stopping) return;
    if (!this.#greeted) this.hello();
    this.#greeted = true;
    this.#outbox.linkUp();
    this.#ports.log.info('link up', { waiting: this.waiting });
  }

  down(reason: string): void {
    if (!this.#stopping) this.#ports.log.warn('link down', { reason, waiting: this.waiting });
  }

  message(topic: string, payload: Uint8Array, correlation: Uint8Array | undefined): void {
    const kind = downKind(this.#options.vin, topic);
    const isCommand = kind !== undefined && kind !== 'ack' && kind !== 'watch';
    if (this.#stopping || !isCommand || !this.#queue.admits()) return;
    const opened = open(payload, { vin: this.#options.vin, verifier: this.#ports.verifier });
    if ('code' in opened) logUnanswered(this.#ports.log, opened);
    else this.#queue.put(opened, correlation, payload.byteLength);
  }

  /** Says who speaks, and why so little. */
  hello(): void {
    const { version, boot, profile, reason, more } = this.#options;
    this.#outbox.put('hello', {
      version,
      protocol: PROTOCOL_VERSION,
      boot,
      profile,
      startedAt: this.#startedAt,
      ...more(),
      mode: 'minimal',
      reason: reason.slice(0, 256),
    });
  }

  /** Resolves when what is open is on disk and, while connected, acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#queue.stop();
    this.#cancelTick?.();
    this.#reports.stop();
    const settled = this.#outbox.settled().catch((error: Error) => {
      this.#ports.log.error('the outbox could not be settled', { error: error.message });
    });
    await within(FAREWELL, settled, this.#ports.clock);
    this.#outbox.close();
  }

  /**
   * As the whole agent does: a ledger that has lost something refuses every command until it is known, and on disk, from
   * when on nothing is lost.
   */
  async #makeUp(): Promise<void> {
    const isTimeKnown = this.#options.quality() !== 'none';
    if (!this.#ledger.doubtful || (this.#noted && !isTimeKnown)) return;
    this.#noted = true;
    if (isTimeKnown) this.#ledger.settle(this.#ports.clock.now() + SKEW);
    await this.#ledger.write();
  }

  /** The checks of the whole agent, in its order (docs/commands.md), as far as they concern the agent itself. */
  async #receive(opened: OpenedCommand, correlation: Uint8Array | undefined, crowded: boolean): Promise<void> {
    const { log, affairs, clock, verifier } = this.#ports;
    const { quality, validity = defaultLimits.validity } = this.#options;
    const admitted = admit(opened, verifier);
    if ('code' in admitted) return logUnanswered(log, admitted);
    const { command, key, rights } = admitted;
    const { id, kind, issued, expires } = command;
    const progress = (record: Progress['record']): Progress => ({ record, correlation, untold: new Set() });
    const known = this.#ledger.find(id);
    if (known !== undefined) {
      if (crowded) return;
      if (final(known.status) || this.#underWay.has(id) || !affairs.has(known.type)) {
        return this.#reports.tell(progress(known));
      }
      const detail = 'the agent was restarted while it was carried out';
      return this.#reports.fail(progress(known), { code: 'command.interrupted', detail });
    }
    if (this.#ledger.forgot(issued) || !this.#ledger.use(key, command.counter)) {
      return logUnanswered(log, { code: 'command.replayed', detail: `${id}: its counter was used, or may have been` });
    }
    const now = clock.now();
    const blank = progress({ id, type: kind, action: '', status: 'Accepted', at: now });
    const affair = affairs.get(kind);
    if (!rights.includes(kind)) {
      return this.#reports.fail(blank, { code: 'command.forbidden', detail: `the key has no right to ${kind}` });
    }
    if (crowded) {
      return this.#reports.fail(blank, { code: 'command.tooFast', detail: 'too many commands wait already' });
    }
    if (affair === undefined) {
      const detail = `the agent is in its minimal mode: ${this.#options.reason}`;
      return this.#reports.fail(blank, { code: 'command.unsupported', detail });
    }
    const tooLate = late({ issued, expires }, validity, now, quality());
    if (tooLate !== undefined) return this.#reports.fail(blank, tooLate);
    this.#underWay.add(id);
    try {
      // A counter that is not marked on disk would let the same happen again after a power cut.
      this.#ledger.set(blank.record);
      await this.#ledger.write();
      await affair(command.body, now);
    } catch (error) {
      return await this.#reports.fail(blank, { code: failureOf(error), detail: (error as Error).message });
    } finally {
      this.#underWay.delete(id);
    }
    await this.#reports.advance(blank, 'Success');
  }
}
