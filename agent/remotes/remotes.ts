import { type Command, openCommand } from '../../protocol/command.ts';
import { type ErrorCode, factOf, VigieError } from '../../protocol/errors.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Actuator, Clock, Log, Publisher, SignatureVerifier } from '../ports.ts';
import type { CommandRule } from '../profile.ts';
import type { StatusReader } from '../status.ts';
import type { Confirmations } from './confirmation.ts';
import { refuses } from './interlocks.ts';
import type { RemoteKind } from './kind.ts';
import { type ActionRecord, final, type Ledger } from './ledger.ts';

export interface RemotesOptions {
  readonly vin: string;
  readonly kinds: readonly RemoteKind[];
  readonly rules: Readonly<Record<string, CommandRule>>;
  readonly actuator: Actuator;
  readonly verifier: SignatureVerifier;
  readonly ledger: Ledger;
  readonly status: StatusReader;
  readonly confirmations: Confirmations;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly quality: () => ClockQuality;
  readonly log: Log;
}

/** Characters of a detail that fit into its schema. */
const DETAIL = 256;

/** Clocks of sender and car may differ by this much, ms. */
const SKEW = 5 * 60_000;

/**
 * Carries out signed commands, each at most once: verify, interlocks, actuate, wait until Status shows the result.
 * Every state is on disk before it is published, and published before the next step is taken.
 */
export class Remotes {
  /** Messages that were no command of a trusted key. They are never answered: an answer would let anybody on the
   *  broker speak about a command that was not theirs. */
  unsigned = 0;
  readonly #o: RemotesOptions;
  readonly #running = new Map<string, string>();
  #stopped = false;

  constructor(options: RemotesOptions) {
    this.#o = options;
  }

  /**
   * Takes no more commands and settles none: what is under way keeps the state that is on disk, and the next start
   * settles it by what the car shows then.
   */
  stop(): void {
    this.#stopped = true;
  }

  /** A message of the `remote` down topic. Never rejects. */
  async receive(payload: Uint8Array, correlation?: Uint8Array): Promise<void> {
    if (this.#stopped) return;
    try {
      const command = this.#verify(payload);
      if (command !== undefined) await this.#carryOut(command.command, command.key, correlation);
    } catch (error) {
      this.#o.log.error('a command ended in an error', { error: (error as Error).message });
    }
  }

  /**
   * Settles what an earlier run left open, without doing anything to the car: what had been sent is done if the car
   * shows it in time, everything else failed.
   */
  async resume(): Promise<void> {
    await Promise.all(
      this.#o.ledger.unfinished().map(async (action) => {
        const rule = this.#o.rules[action.action];
        const sent = action.status === 'SentToVehicle' && rule !== undefined;
        const done = sent && (await this.#o.confirmations.wait(rule.confirm, rule.within));
        if (done) await this.#advance(action, 'Success');
        else await this.#fail(action, 'command.interrupted', 'the agent was restarted before the car had confirmed');
      }),
    );
  }

  /** The command, when it is authentic, for this car, and not a replay. */
  #verify(payload: Uint8Array): { command: Command; key: string } | undefined {
    const { verifier, log, vin } = this.#o;
    const opened = attempt(() => openCommand(payload));
    if (opened instanceof VigieError) {
      this.unsigned++;
      log.warn('a message is no command', { error: opened.message });
      return undefined;
    }
    const key = verifier.key(opened.keyId);
    if (
      key === undefined ||
      key.algorithm !== opened.algorithm ||
      !verifier.verify(opened.keyId, opened.toBeSigned, opened.signature)
    ) {
      this.unsigned++;
      log.warn('a command was not signed by a key this car trusts', {
        code: 'command.unsigned' satisfies ErrorCode,
        key: hex(opened.keyId),
      });
      return undefined;
    }
    if (opened.command.vin !== vin) {
      this.unsigned++;
      log.warn('a command is for another car', { vin: opened.command.vin });
      return undefined;
    }
    return { command: opened.command, key: hex(opened.keyId) };
  }

  async #carryOut(command: Command, key: string, correlation: Uint8Array | undefined): Promise<void> {
    const { ledger, clock, kinds, log, rules, verifier } = this.#o;
    const known = ledger.find(command.id);
    if (known !== undefined) {
      // The same command again gets the same answer, and nothing is done.
      await this.#publish(known, correlation);
      return;
    }
    let action: ActionRecord = { id: command.id, type: command.kind, action: '', status: 'Accepted', at: clock.now() };
    if (!ledger.use(key, command.counter)) {
      // Not answered: the ledger may have forgotten this id, and whoever kept an old message must not be able to make
      // the car contradict what it once said about it.
      this.unsigned++;
      log.warn('a command was refused: its counter was used before', {
        code: 'command.replayed' satisfies ErrorCode,
        id: command.id,
      });
      return;
    }
    const kind = kinds.find((candidate) => candidate.type === command.kind);
    const trusted = verifier.key(fromHex(key));
    const fail = (code: ErrorCode, detail: string): Promise<void> => this.#fail(action, code, detail, correlation);

    if (trusted === undefined || !trusted.kinds.includes(command.kind)) {
      return fail('command.forbidden', `the key has no right to ${command.kind}`);
    }
    if (kind === undefined) return fail('command.unsupported', `this agent does not carry out ${command.kind}`);
    const late = this.#late(command);
    if (late !== undefined) return fail('command.expired', late);
    const name = attempt(() => kind.action(command.body));
    if (name instanceof VigieError) return fail('command.malformed', name.message);
    action = { ...action, action: name };
    const rule = rules[name];
    if (rule === undefined || !this.#o.actuator.actions.has(name)) {
      return fail('command.unsupported', `the vehicle profile has no ${name}`);
    }
    const other = this.#running.get(kind.type);
    if (other !== undefined) return fail('command.busy', `command ${other} is in progress`);
    this.#running.set(kind.type, command.id);
    try {
      action = await this.#advance(action, 'Accepted', correlation);
      action = await this.#advance(action, 'SentToVehicle', correlation);
      if (this.#o.confirmations.shown(rule.confirm)) {
        await this.#advance(action, 'AlreadyDone', correlation);
        return;
      }
      const lock = refuses(name, this.#o.status, clock.now());
      if (lock !== undefined) {
        await fail(lock.refusal, `refused: ${lock.slot.path} must show ${lock.demand}`);
        return;
      }
      const late = this.#late(command);
      if (late !== undefined) {
        await fail('command.expired', late);
        return;
      }
      await this.#actuate(action, rule, correlation);
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      await fail(error.code, error.message);
    } finally {
      this.#running.delete(kind.type);
    }
  }

  async #actuate(action: ActionRecord, rule: CommandRule, correlation: Uint8Array | undefined): Promise<void> {
    const confirmed = this.#o.confirmations.wait(rule.confirm, rule.within);
    try {
      await this.#o.actuator.actuate(action.action);
    } catch (error) {
      await this.#fail(action, 'command.actuation', (error as Error).message, correlation);
      return;
    }
    if (await confirmed) await this.#advance(action, 'Success', correlation);
    else
      await this.#fail(action, 'command.unconfirmed', `the car did not show it within ${rule.within} ms`, correlation);
  }

  /** Why the command is too late, if it is. A car that does not know the time cannot say that it is not. */
  #late(command: Command): string | undefined {
    const now = this.#o.clock.now();
    if (this.#o.quality() === 'none') return 'the car does not know the time';
    if (now > command.expires) return `it expired ${Math.ceil((now - command.expires) / 1000)} s ago`;
    if (command.issued > now + SKEW) return 'it was issued in the future: the clocks of sender and car disagree';
    return undefined;
  }

  async #advance(action: ActionRecord, status: RemoteStatus, correlation?: Uint8Array): Promise<ActionRecord> {
    const next: ActionRecord = { ...action, status, at: this.#o.clock.now() };
    await this.#keep(next, correlation);
    return next;
  }

  async #fail(action: ActionRecord, code: ErrorCode, detail: string, correlation?: Uint8Array): Promise<void> {
    this.#o.log.warn('a command failed', { id: action.id, type: action.type, code, detail });
    await this.#keep({ ...action, ...failure(code, detail), at: this.#o.clock.now() }, correlation);
  }

  /**
   * Writes a state down and publishes it. A disk that refuses stops a command that is not finished, because what
   * follows could not be kept from happening twice; a final state is published all the same.
   */
  async #keep(action: ActionRecord, correlation: Uint8Array | undefined): Promise<void> {
    if (this.#stopped) return;
    try {
      await this.#o.ledger.record(action);
    } catch (error) {
      if (!final(action.status)) throw error;
      this.#o.log.error('the outcome of a command could not be written down', { error: (error as Error).message });
    }
    await this.#publish(action, correlation);
  }

  async #publish(action: ActionRecord, correlation: Uint8Array | undefined): Promise<void> {
    const { id, type, status, failureCause, detail } = action;
    const report = {
      remoteActionId: id,
      type,
      status,
      ...(failureCause === undefined ? {} : { failureCause }),
      ...(detail === undefined ? {} : { detail: detail.slice(0, DETAIL) }),
    };
    try {
      await this.#o.publisher.secure('remote', report, correlation === undefined ? {} : { correlation });
    } catch (error) {
      // The outbox sends what the disk refused; only a command that is not finished must not go on.
      if (!final(status)) throw error;
    }
    if (final(status)) this.#o.log.info('command finished', { id, type, status, failureCause });
  }
}

function failure(code: ErrorCode, detail: string): Pick<ActionRecord, 'status' | 'failureCause' | 'detail'> {
  return { status: 'Failed', failureCause: factOf(code).cause ?? 'GeneralError', detail };
}

function attempt<T>(run: () => T): T | VigieError {
  try {
    return run();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
