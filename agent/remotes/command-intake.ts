import { type OpenedCommand, openCommand } from '../../protocol/command.ts';
import { attempt, VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { CommandSettings } from '../../protocol/settings.ts';
import type { Clock, Log, Publisher, SignatureVerifier } from '../ports.ts';
import { type AgentCommand, failureOf } from './agent-command.ts';
import { firstRefusal, type Order, SKEW } from './checks.ts';
import { type ActionRecord, final, type Ledger } from './ledger.ts';
import type { Refusal } from './plan.ts';
import { type Progress, Reports } from './reports.ts';
import { VerificationQueue } from './verification-queue.ts';

/** Commands that are verified in a second; more wait. */
const RATE = 50;

/** What carries out commands that concern the car, and settles those that an earlier run left open. */
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
  /** Commands that are verified in a second; default: {@link RATE}. */
  readonly rate?: number;
  /** Commands that concern the agent itself, by kind. */
  readonly agentCommands?: ReadonlyMap<CommandKind, AgentCommand> | undefined;
  /** Why nothing is done to the car, or what does it. */
  readonly car: string | CarCommands;
}

/**
 * Takes signed commands, each at most once: what all have in common before they are carried out, and the whole of those
 * that concern the agent itself. checks.ts has the order of the checks.
 */
export class CommandIntake {
  /** Messages that were no command of a trusted key. They are never answered. */
  unsigned = 0;
  readonly reports: Reports;
  readonly #parts: CommandIntakeParts;
  readonly #queue: VerificationQueue;
  /** Commands for the agent itself that are being carried out. */
  readonly #underWay = new Set<string>();

  constructor(parts: CommandIntakeParts) {
    this.#parts = parts;
    this.reports = new Reports(parts);
    this.#queue = new VerificationQueue({
      ...parts,
      rate: parts.rate ?? RATE,
      take: (command, correlation, crowded) => void this.take(command, correlation, crowded),
    });
  }

  /** Counts a message of any down topic; false when so many came within this second that it is dropped. */
  admits(): boolean {
    return this.#queue.admits();
  }

  /** A message of a down topic of commands; it may come from anybody. */
  message(payload: Uint8Array, correlation: Uint8Array | undefined): void {
    const command = this.#open(payload);
    if (command !== undefined) this.#queue.put(command, correlation, payload.byteLength);
  }

  /** Takes nothing more. */
  stop(): void {
    this.#queue.stop();
    this.reports.stop();
  }

  /** As {@link message}, at once. Never rejects. */
  async receive(payload: Uint8Array, correlation?: Uint8Array): Promise<void> {
    const opened = this.#open(payload);
    if (opened !== undefined) await this.take(opened, correlation);
  }

  /** A command that says it is signed for this car; `crowded`: too many wait, and it is only answered. Never rejects. */
  async take(opened: OpenedCommand, correlation?: Uint8Array, crowded = false): Promise<void> {
    const { verifier, ledger, car } = this.#parts;
    if (this.reports.stopped) return;
    await this.guarded(async () => {
      const forged = firstRefusal('signature', { opened, verifier });
      if (forged !== undefined) return this.#leaveUnanswered(forged);
      const { id, kind: type, body, issued, expires } = opened.command;
      const rights = verifier.key(opened.keyId)?.kinds ?? [];
      // From here to the first state on record nothing else is let in: two may come at once under one id.
      if (ledger.find(id) === undefined) await this.makeUp();
      const known = ledger.find(id);
      if (known !== undefined) {
        if (!crowded) await this.#answerAgain(this.progress(known, correlation));
        return;
      }
      const replayed = firstRefusal('replay', { opened, key: hex(opened.keyId), ledger });
      if (replayed !== undefined) return this.#leaveUnanswered(replayed);
      if (typeof car !== 'string') car.commandArrived();
      await this.carryOut({ id, type, body, issued, expires, correlation, own: false }, rights, crowded);
    });
  }

  /** Checks and carries out a command whose id and counter were never used. */
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

  /** What expiry is judged by, at this moment. */
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
    const { agentCommands, car } = this.#parts;
    const { id, type, status } = progress.record;
    const open = !final(status) && !this.#underWay.has(id) && agentCommands?.has(type) === true;
    if (typeof car !== 'string' || !open) return this.reports.publish(progress);
    const detail = 'the agent was restarted while it was carried out';
    return this.reports.fail(progress, { code: 'command.interrupted', detail });
  }

  /** Carries out what does not concern the car: neither its state nor its battery is asked. */
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

  /** A command that says it is signed for this car; undefined, and counted, for any other message. */
  #open(payload: Uint8Array): OpenedCommand | undefined {
    const { vin, verifier } = this.#parts;
    const opened = attempt(() => openCommand(payload));
    const refusal =
      opened instanceof VigieError
        ? firstRefusal('message', { opened })
        : firstRefusal('arrival', { opened, vin, verifier });
    if (refusal === undefined) return opened as OpenedCommand;
    this.#leaveUnanswered(refusal);
    return undefined;
  }

  /** Says so in the log alone: an answer would let anybody speak about a command that was not theirs. */
  #leaveUnanswered({ code, detail }: Refusal): void {
    this.unsigned++;
    this.#parts.log.warn('command.refused', { code, detail });
  }
}
