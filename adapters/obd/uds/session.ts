import { BrokenOff } from '../../../agent/actuators.ts';
import type { Clock, Log } from '../../../agent/ports.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import { hexOf } from '../hex.ts';
import type { AskOptions, DiagnosticStep, UdsClient } from './client.ts';
import type { PreparedCommand } from './command.ts';
import { NoAnswer, NotBegun, OtherResults, Refused } from './failures.ts';

/** Services, and their sub-functions (ISO 14229-1:2020 §10.2, §10.4, §10.7). */
const SESSION_CONTROL = 0x10;
const DEFAULT_SESSION = 0x01;
const SECURITY_ACCESS = 0x27;
const TESTER_PRESENT: DiagnosticStep = { payload: Uint8Array.of(0x3e, 0x00), echoed: 1 };

/** Interval in ms of the requests that keep a session (S3 of the client, ISO 14229-2 §7.4). */
const KEEP = 2_000;
/** Time in ms without a request after which the control unit ends the session (S3 of the server). */
const S3 = 5_000;
/** Maximum time in ms to compute a key before the session ends. */
const COMPUTING = 4_000;
/** Longest key in bytes: that of a signature; longer output is not a key. */
const LONGEST_KEY = 512;
/** Attempts for repeatable requests, such as to start a session or return control. */
const ATTEMPTS = 3;
/** Time in ms within which control is returned. Otherwise the control unit ends it itself. */
const LETTING_GO = 10_000;
/** Interval in ms of checks whether control may still be held. */
const GLANCE = 200;

interface SessionParts {
  readonly client: UdsClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the agent stops: no further step is started, and control is returned. */
  readonly signal: AbortSignal;
  /** Monotonic time in ms after which no step is started. */
  readonly deadline: number;
  /** Throws the reason if no further step may be started. */
  readonly allowed?: () => void;
}

/** One command at one control unit: takes control, holds it, and always returns it. */
export class DiagnosticSession {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /**
   * Opens the session, unlocks the control unit, executes the command, and returns to the default session, which ends
   * every control and locks the unit (ISO 14229-1:2020 §10.2). If the control unit does not acknowledge the return,
   * nothing keeps the session alive, and the control unit ends it after S3.
   *
   * Also resolves if the control unit did not answer whether it executed the command: only the state of the car can
   * then show it.
   * @throws VigieError if it was not executed: the errors of {@link UdsClient.ask} and `allowed`, `command.asleep` for
   * a sleeping bus, `command.expired` after its time, `command.interrupted` if the agent stops; `command.actuation`
   * also for other results than expected. A failure after control may have been taken is a {@link BrokenOff}, unless
   * the control unit itself reported that it did not execute the command.
   */
  async run(action: string, command: PreparedCommand): Promise<void> {
    this.#go();
    if (this.#parts.client.asleep) throw new VigieError('command.asleep', `bus ${command.uds.bus} sleeps`);
    const held = { session: false, control: false };
    try {
      await this.#begin(held, 'session', () => this.#open(command.uds.session));
      if (command.key !== undefined) await this.#unlock(command.key);
      try {
        await this.#begin(held, 'control', () => this.#take(command));
        await this.#hold(command.uds.hold);
        if (command.results !== undefined) await this.#check(command.results);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw held.control ? brokenOff(error) : error;
        this.#parts.log.warn('uds.noResult', { action, why: error.message });
      }
    } finally {
      if (held.control && command.giveBack !== undefined) await this.#giveBack(action, command.giveBack);
      if (held.session) await this.#close(action);
    }
  }

  /** Marks control as held from the request on, also without an answer; a refusal clears the mark. */
  async #begin<K extends string>(held: Record<K, boolean>, what: K, ask: () => Promise<void>): Promise<void> {
    held[what] = true;
    try {
      await ask();
    } catch (error) {
      held[what] = !(error instanceof Refused || error instanceof NotBegun);
      throw error;
    }
  }

  async #open(session: number): Promise<void> {
    const { client } = this.#parts;
    const answer = await client.ask({ payload: Uint8Array.of(SESSION_CONTROL, session), echoed: 1 }, this.#beginning);
    // P2 in steps of 1 ms and P2* in steps of 10 ms follow (ISO 14229-1:2020 §10.2).
    if (answer.length < 6) return;
    const times = new DataView(answer.buffer, answer.byteOffset);
    client.timing(times.getUint16(2), times.getUint16(4) * 10);
  }

  async #unlock({ hook, level, constant }: PreparedCommand['key'] & object): Promise<void> {
    const { client } = this.#parts;
    const ask = { payload: Uint8Array.of(SECURITY_ACCESS, level), echoed: 1 };
    const answer = await client.ask(ask, this.#beginning);
    const seed = answer.slice(2);
    if (seed.length === 0) throw new NoAnswer(ask.payload, answer);
    // A seed of only zeros: the unit is already unlocked (§10.4).
    if (seed.every((byte) => byte === 0)) return;
    const key = await this.#inTime(async (signal) => hook({ seed, constant, level, signal }));
    // One attempt only: control units count wrong keys and lock themselves.
    const answered = { payload: Uint8Array.of(SECURITY_ACCESS, level + 1, ...key), echoed: 1 };
    await client.ask(answered, { allowed: this.#go });
  }

  /** Executes the command. One attempt only: a lost answer must not cause a second execution. */
  async #take({ take }: PreparedCommand): Promise<void> {
    const { client, deadline } = this.#parts;
    try {
      await client.ask(take, { until: deadline, allowed: this.#go });
    } catch (error) {
      // It is unknown whether it was executed: hold control in case it was.
      if (!(error instanceof NoAnswer)) throw error;
      this.#parts.log.warn('uds.noAnswer', { why: error.message });
    }
  }

  /**
   * Keeps the session for this time in ms, and at most for as long as `allowed` permits.
   * @throws VigieError {@link NoAnswer} if the control unit was silent until its session ended, and the errors of
   * `allowed`
   */
  async #hold(ms: number): Promise<void> {
    const { client, clock, allowed } = this.#parts;
    const until = clock.monotonic() + ms;
    let kept = clock.monotonic();
    for (let left = ms; left > 0; left = until - clock.monotonic()) {
      await this.#pause(Math.min(left, GLANCE, kept + KEEP - clock.monotonic()));
      if (this.#parts.signal.aborted) throw stopped();
      if (clock.monotonic() >= until) return;
      allowed?.();
      if (clock.monotonic() < kept + KEEP) continue;
      const before = client.heard;
      // The next request makes up for a lost one; only the total time without an answer counts.
      await client.ask(TESTER_PRESENT).catch(() => undefined);
      // An answer this late is from the default session.
      if (clock.monotonic() - before >= S3) throw new NoAnswer(TESTER_PRESENT.payload);
      kept = clock.monotonic();
    }
  }

  async #check({ expected, ...step }: PreparedCommand['results'] & object): Promise<void> {
    const results = (await this.#parts.client.ask(step, this.#repeatedly)).subarray(1 + step.echoed);
    if (expected.every((byte, i) => byte === results[i])) return;
    throw new OtherResults(`the routine ended with ${hexOf(results) || 'nothing'} and not with ${hexOf(expected)}`);
  }

  async #giveBack(action: string, giveBack: DiagnosticStep): Promise<void> {
    const { client, log } = this.#parts;
    await client.ask(giveBack, this.#lettingGo).catch((error: Error) => {
      // A finished routine cannot be stopped, and many outputs end automatically.
      log.info('uds.controlKept', { action, why: error.message });
    });
  }

  async #close(action: string): Promise<void> {
    const { client, log } = this.#parts;
    const end = { payload: Uint8Array.of(SESSION_CONTROL, DEFAULT_SESSION), echoed: 1 };
    await client.ask(end, this.#lettingGo).catch((error: Error) => {
      const after = `the control unit ends its session by itself after ${S3 / 1000} s`;
      log.warn('uds.sessionOpen', { action, why: error.message, after });
    });
  }

  /** Options for requests that may be repeated while the command has time. */
  get #repeatedly(): AskOptions {
    return { attempts: ATTEMPTS, until: this.#parts.deadline };
  }

  /** As {@link #repeatedly}, for requests that must still be allowed. */
  get #beginning(): AskOptions {
    return { ...this.#repeatedly, allowed: this.#go };
  }

  get #lettingGo(): AskOptions {
    return { attempts: ATTEMPTS, until: this.#parts.clock.monotonic() + LETTING_GO };
  }

  /** @throws VigieError if no further step may be started */
  readonly #go = (): void => {
    const { clock, deadline, signal, allowed } = this.#parts;
    if (signal.aborted) throw stopped();
    if (clock.monotonic() > deadline) throw new VigieError('command.expired', 'the time of the command is over');
    allowed?.();
  };

  async #inTime(compute: (signal: AbortSignal) => Promise<Uint8Array>): Promise<Uint8Array> {
    const over = new AbortController();
    const computed = compute(over.signal);
    try {
      const key = await Promise.race([computed, this.#pause(COMPUTING, over.signal)]);
      if (key !== undefined && key.length > 0 && key.length <= LONGEST_KEY) return key;
      if (key !== undefined) throw new Error(`${key.length} bytes are not keys`);
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new VigieError('command.actuation', `the key could not be computed: ${reason}`, { cause });
    } finally {
      over.abort();
    }
    // A late result is useless, even an error.
    computed.catch(() => undefined);
    throw this.#parts.signal.aborted
      ? stopped()
      : new VigieError('command.actuation', `the key was not computed within ${COMPUTING / 1000} s`);
  }

  /** Waits. Ends early if the agent stops or `over` is aborted. */
  async #pause(ms: number, over?: AbortSignal): Promise<undefined> {
    const { clock, signal } = this.#parts;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        signal.removeEventListener('abort', done);
        over?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = clock.after(ms, done);
      signal.addEventListener('abort', done);
      over?.addEventListener('abort', done);
    });
  }
}

/** Wraps an error after which the command may have been executed. */
function brokenOff(error: unknown): unknown {
  return error instanceof VigieError && !(error instanceof OtherResults) ? new BrokenOff(error) : error;
}

function stopped(): VigieError {
  return new VigieError('command.interrupted', 'the agent stops');
}
