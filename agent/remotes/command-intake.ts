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
/** Messages of which the agent remembers how often they arrived and whether they were authentic. */
const MAX_SEEN = 2_048;

/** Carries out commands to the car, and settles those that the previous run left open. */
export interface CarCommands {
  /** An authentic command arrived that is not a repetition. */
  commandArrived(): void;
  /** Why it does not carry out commands of this kind, if it does not. */
  unsupported(type: CommandKind): string | undefined;
  /** States of such a command that are not published. */
  unreported(type: CommandKind): ReadonlySet<RemoteStatus>;
  /** Resolves when the outcome has been reported. */
  carryOut(order: Order, progress: Progress): Promise<void>;
}

export interface CommandIntakeParts {
  readonly vin: string;
  readonly verifier: SignatureVerifier;
  readonly ledger: Ledger;
  /** The commits of the publisher have a copy of the ledger. */
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
  /** Why nothing is done to the car, or what does it. */
  readonly car: string | CarCommands;
  /** Called with each authentic new command before its first state. */
  readonly arrived?: ((command: ArrivedCommand) => void) | undefined;
}

/** A command that was received, for those who show it to people. */
export interface ArrivedCommand extends Pick<Command, 'id' | 'kind' | 'body'> {
  /** Name of the key that signed it, or its id in hexadecimal. */
  readonly signer: string;
}

interface TakeOptions {
  readonly crowded?: boolean;
  readonly always?: boolean;
}

/**
 * Takes signed commands, each at most once: what all have in common before they are carried out, and the whole of those
 * that concern the agent itself. checks.ts has the order of the checks.
 */
export class CommandIntake {
  readonly reports: Reports;
  readonly #parts: CommandIntakeParts;
  readonly #queue: VerificationQueue;
  readonly #refusals: RefusalLog;
  /** By fingerprint of the message. */
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

  /** Messages that were no command of a trusted key, or that repeat an old one. They are never answered. */
  get unanswered(): number {
    return this.#refusals.count;
  }

  /** Counts a message of any down topic. False if too many arrived within this second: drop it. */
  admits(): boolean {
    return this.#queue.admits();
  }

  /** A message of a down topic of commands; it may come from anybody. */
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

  /** Takes nothing more. */
  stop(): void {
    this.#queue.stop();
    this.reports.stop();
  }

  /** A command from within the unit, or `crowded`: one of too many, which is only answered. Never rejects. */
  async receive(payload: Uint8Array, correlation?: Uint8Array, crowded = false): Promise<void> {
    const { verifier } = this.#parts;
    const opened = this.#open(payload);
    if (opened === undefined) return;
    const forged = firstRefusal('signature', { opened, verifier });
    if (forged !== undefined) return this.#refusals.add(forged);
    await this.#take(opened, { correlation, crowded, always: true });
  }

  /** The message, counted once more. */
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
    // A key may be trusted again later; until then messages with it come no further than this.
    else if (verifier.key(opened.keyId) !== undefined) seen.verdict = 'forged';
    if (forged !== undefined) this.#refusals.add(forged);
    return forged === undefined;
  }

  /**
   * An authentic command. `crowded`: too many wait, and it is only answered; `always`: if it repeats another, the
   * answer is sent however often that happens. Never rejects.
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
      // From here to the first state on record nothing else is let in: two may come at once under one id.
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

  /** Inputs of the expiry check, now. */
  timeliness(order: Order) {
    const { limits, clock, quality } = this.#parts;
    return { order, limits, now: clock.now(), quality: quality() };
  }

  /** A ledger that has lost something stays so on disk until it is known from when on nothing is lost. */
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

  /** The same command again gets the same answer, and nothing is done. */
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
      // A counter that is not marked on disk would let the same happen again after a power cut.
      ledger.set(progress.record);
      await ledger.write();
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
