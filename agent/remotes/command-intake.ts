import { type Command, type OpenedCommand, openCommand } from '../../protocol/command.ts';
import { attempt, VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { CommandSettings } from '../../protocol/settings.ts';
import type { Clock, Log, Publisher, SignatureVerifier } from '../ports.ts';
import { type AgentCommand, failureOf } from './agent-command.ts';
import { CheckBudget, type CheckRate } from './check-budget.ts';
import { firstRefusal, isLate, type Order, SKEW } from './checks.ts';
import { type ActionRecord, final, type Ledger } from './ledger.ts';
import { RecentMap } from './recent-map.ts';
import { RefusalLog } from './refusal-log.ts';
import { RepeatedAnswers } from './repeated-answers.ts';
import { type Progress, Reports } from './reports.ts';
import { type SeenMessage, type UnverifiedCommand, VerificationQueue } from './verification-queue.ts';

const CHECK_RATE: CheckRate = { perSecond: 250, maximum: 2_000 };
/** Number of messages for which the agent stores how often they arrived and whether they were authentic. */
const MAX_SEEN = 2_048;

/** Carries out commands to the car, and completes those that the previous run left open. */
export interface CarCommands {
  /** Called when an authentic command arrives that is not a repetition. */
  commandArrived(): void;
  /** Returns the reason why commands of this kind are not carried out, or undefined. */
  unsupported(type: CommandKind): string | undefined;
  /** Returns the states of commands of this kind that are not published. */
  unreported(type: CommandKind): ReadonlySet<RemoteStatus>;
  /** Resolves when the outcome has been reported. */
  carryOut(order: Order, progress: Progress): Promise<void>;
}

export interface CommandIntakeParts {
  readonly vin: string;
  readonly verifier: SignatureVerifier;
  readonly ledger: Ledger;
  /** True if the commits of the publisher contain a copy of the ledger. */
  readonly copied: boolean;
  readonly publisher: Publisher;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
  readonly quality: () => ClockQuality;
  readonly log: Log;
  readonly limits: CommandSettings;
  /** Default: {@link CHECK_RATE}. */
  readonly rate?: CheckRate;
  /** Commands that concern the agent itself, by kind. */
  readonly agentCommands?: ReadonlyMap<CommandKind, AgentCommand> | undefined;
  /** Carries out commands to the car; or the reason why this agent carries out none. */
  readonly car: string | CarCommands;
  /** Called with each authentic new command before its first state. */
  readonly arrived?: ((command: ArrivedCommand) => void) | undefined;
}

/** A command that was received, for display to people. */
export interface ArrivedCommand extends Pick<Command, 'id' | 'kind' | 'body'> {
  /** Name of the key that signed it, or its id in hexadecimal. */
  readonly signer: string;
}

interface TakeOptions {
  readonly crowded?: boolean;
  readonly always?: boolean;
}

/**
 * Processes signed commands, each at most once: the steps common to all commands before they are carried out, and the
 * complete processing of those that concern the agent itself. checks.ts defines the order of the checks.
 */
export class CommandIntake {
  readonly reports: Reports;
  readonly #parts: CommandIntakeParts;
  readonly #queue: VerificationQueue;
  readonly #refusals: RefusalLog;
  /** Seen messages by fingerprint. */
  readonly #seen = new RecentMap<SeenMessage>(MAX_SEEN);
  readonly #repeated = new RepeatedAnswers();
  /** Commands for the agent itself that are being carried out. */
  readonly #underWay = new Set<string>();

  constructor(parts: CommandIntakeParts) {
    const { clock, log } = parts;
    this.#parts = parts;
    this.reports = new Reports(parts);
    this.#refusals = new RefusalLog(clock, log);
    this.#queue = new VerificationQueue({
      clock,
      log,
      budget: new CheckBudget(clock, parts.rate ?? CHECK_RATE),
      verify: (candidate) => this.#verify(candidate),
      take: ({ opened, correlation }, crowded) => void this.#take(opened, { correlation, crowded }),
    });
  }

  /** Number of messages without an answer: not a command of a trusted key, or a repetition of an old message. */
  get unanswered(): number {
    return this.#refusals.count;
  }

  /** Counts a message of any down topic. Returns false if too many arrived within this second: the caller drops it. */
  admits(): boolean {
    return this.#queue.admits();
  }

  /** Processes a message of a down topic of commands, from any sender. */
  message(payload: Uint8Array, correlation: Uint8Array | undefined): void {
    const opened = this.#open(payload);
    if (opened === undefined || this.reports.stopped) return;
    const { verifier, ledger, clock, quality } = this.#parts;
    const { command, keyId } = opened;
    const seen = this.#seenBefore(verifier.digest(payload));
    const refusal = firstRefusal('repetition', {
      opened,
      key: hex(keyId),
      ledger,
      verdict: seen.verdict,
      answerDue: this.#repeated.due(command.id, clock.monotonic()),
      quality: quality(),
    });
    if (refusal !== undefined) this.#refusals.add(refusal);
    else if (seen.verdict === 'authentic') void this.#take(opened, { correlation });
    else {
      const order: Order = { ...command, type: command.kind, correlation, own: false };
      const late = isLate(this.timeliness(order));
      this.#queue.put({ opened, correlation, bytes: payload.byteLength, seen, late });
    }
  }

  /** Stops accepting messages. */
  stop(): void {
    this.#queue.stop();
    this.reports.stop();
  }

  /** Processes a command from within the unit. `crowded`: the queue is full, so it is only answered. Never rejects. */
  async receive(payload: Uint8Array, correlation?: Uint8Array, crowded = false): Promise<void> {
    const { verifier } = this.#parts;
    const opened = this.#open(payload);
    if (opened === undefined) return;
    const forged = firstRefusal('signature', { opened, verifier });
    if (forged !== undefined) return this.#refusals.add(forged);
    await this.#take(opened, { correlation, crowded, always: true });
  }

  /** Counts the message and returns its entry. */
  #seenBefore(digest: string): SeenMessage {
    const seen = this.#seen.get(digest) ?? { copies: 0, waiting: false, verdict: undefined };
    seen.copies++;
    this.#seen.set(digest, seen);
    return seen;
  }

  #verify({ opened, seen }: UnverifiedCommand): boolean {
    const { verifier } = this.#parts;
    const forged = firstRefusal('signature', { opened, verifier });
    if (forged === undefined) seen.verdict = 'authentic';
    // A key may be trusted again later; until then its messages are dropped here.
    else if (verifier.key(opened.keyId) !== undefined) seen.verdict = 'forged';
    if (forged !== undefined) this.#refusals.add(forged);
    return forged === undefined;
  }

  /**
   * Processes an authentic command; only answers it if `crowded` (the queue is full). `always`: a repetition is always
   * answered, however often it occurs. Never rejects.
   */
  async #take(
    opened: OpenedCommand,
    { correlation, crowded = false, always = false }: TakeOptions & { correlation: Uint8Array | undefined },
  ): Promise<void> {
    const { verifier, ledger, car, clock, arrived } = this.#parts;
    if (this.reports.stopped) return;
    await this.guarded(async () => {
      const { id, kind: type, body, issued, expires } = opened.command;
      const { kinds: rights = [], name } = verifier.key(opened.keyId) ?? {};
      // Admit nothing else until the first state is recorded: two commands with one id may arrive together.
      if (ledger.find(id) === undefined) await this.makeUp();
      const known = ledger.find(id);
      if (known !== undefined) {
        if (crowded || !(always || this.#repeated.due(id, clock.monotonic()))) return;
        await this.#answerAgain(this.progress(known, correlation));
        return;
      }
      const replayed = firstRefusal('replay', { opened, key: hex(opened.keyId), ledger });
      if (replayed !== undefined) return this.#refusals.add(replayed);
      if (typeof car !== 'string') car.commandArrived();
      arrived?.({ id, kind: type, body, signer: name ?? hex(opened.keyId) });
      await this.carryOut({ id, type, body, issued, expires, correlation, own: false }, rights, crowded);
    });
  }

  /** Checks and carries out a command with a new id and counter. */
  async carryOut(order: Order, rights: readonly string[], crowded = false): Promise<void> {
    const { id, type, body, correlation } = order;
    const { agentCommands, car, clock } = this.#parts;
    const progress = this.progress({ id, type, action: '', status: 'Accepted', at: clock.now() }, correlation);
    const agentCommand = agentCommands?.get(type);
    const missing = typeof car === 'string' ? car : car.unsupported(type);
    const unsupported = agentCommand === undefined ? missing : undefined;
    const refusal = firstRefusal('order', { ...this.timeliness(order), rights, crowded, unsupported });
    if (refusal !== undefined) return this.reports.fail(progress, refusal);
    if (agentCommand !== undefined) await this.#attend(agentCommand, body, progress);
    else if (typeof car !== 'string') await car.carryOut(order, progress);
  }

  progress(record: ActionRecord, correlation?: Uint8Array): Progress {
    const { car } = this.#parts;
    return { record, correlation, unreported: typeof car === 'string' ? new Set() : car.unreported(record.type) };
  }

  /** Returns the current inputs of the expiry check. */
  timeliness(order: Order) {
    const { limits, clock, quality } = this.#parts;
    return { order, limits, now: clock.now(), quality: quality() };
  }

  /** Once the time is known, settles a ledger that has lost something; until then, stores that it is doubtful. */
  async makeUp(): Promise<void> {
    const { ledger, clock, quality } = this.#parts;
    if (!ledger.doubtful) return;
    if (quality() !== 'none') ledger.settle(clock.now() + SKEW);
    await ledger.write();
  }

  async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.log.error('command.defect', { error: (error as Error).message });
    }
  }

  /** Sends the recorded answer to a repeated command; does nothing else. */
  #answerAgain(progress: Progress): Promise<void> {
    const { agentCommands, car, clock } = this.#parts;
    const { id, type, status } = progress.record;
    const open = !final(status) && !this.#underWay.has(id) && agentCommands?.has(type) === true;
    if (typeof car !== 'string' || !open) {
      this.#repeated.given(id, clock.monotonic());
      return this.reports.publish(progress);
    }
    const detail = 'the agent was restarted while it was carried out';
    return this.reports.fail(progress, { code: 'command.interrupted', detail });
  }

  /** Carries out a command that does not concern the car, without a check of its state or battery. */
  async #attend(agentCommand: AgentCommand, body: Uint8Array, progress: Progress): Promise<void> {
    const { ledger, clock } = this.#parts;
    const { id } = progress.record;
    this.#underWay.add(id);
    try {
      // A counter that is not marked on disk would allow a repetition after a power cut.
      ledger.set(progress.record);
      await ledger.write();
      // The next start reports it as interrupted.
      if (this.reports.stopped) return;
      await agentCommand(body, clock.now());
    } catch (error) {
      await this.reports.fail(progress, { code: failureOf(error), detail: (error as Error).message });
      return;
    } finally {
      this.#underWay.delete(id);
    }
    await this.reports.advance(progress, 'Success');
  }

  /** Opens a command that is addressed to this car. Counts any other message and returns undefined. */
  #open(payload: Uint8Array): OpenedCommand | undefined {
    const { vin, verifier } = this.#parts;
    const opened = attempt(() => openCommand(payload));
    const refusal =
      opened instanceof VigieError
        ? firstRefusal('message', { opened })
        : firstRefusal('arrival', { opened, vin, verifier });
    if (refusal === undefined) return opened as OpenedCommand;
    this.#refusals.add(refusal);
    return undefined;
  }
}
