import { BrokenOff } from '../../../agent/actuators.ts';
import type { Clock, Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexOf } from '../hex.ts';
import type { AskOptions, DiagnosticStep, UdsClient } from './client.ts';
import type { PreparedCommand } from './command.ts';
import { NoAnswer, NotBegun, OtherResults, Refused } from './failures.ts';

/** Services, and their sub-functions (ISO 14229-1:2020 §10.2, §10.4, §10.7). */
const SESSION_CONTROL = 0x10;
const DEFAULT_SESSION = 0x01;
const SECURITY_ACCESS = 0x27;
const TESTER_PRESENT: DiagnosticStep = { payload: Uint8Array.of(0x3e, 0x00), echoed: 1 };

/** A session is kept by a request so often, ms (S3 of the client, ISO 14229-2 §7.4); */
const KEEP = 2_000;
/** Without a request, the control unit ends the session after this time, ms (S3 of the server). */
const S3 = 5_000;
/** A key must be computed before the session ends, ms. */
const COMPUTING = 4_000;
/** Longest key, bytes: that of a signature; what is longer is not a key. */
const LONGEST_KEY = 512;
/** Attempts for requests that may be repeated, such as a session or the return of control. */
const ATTEMPTS = 3;
/** Control is returned within this time, ms. Otherwise the control unit ends it itself. */
const LETTING_GO = 10_000;
/** While control is held it is looked this often whether it still may be, ms. */
const GLANCE = 200;

interface SessionParts {
  readonly client: UdsClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the agent stops: nothing is begun any more, and what is held is given back. */
  readonly signal: AbortSignal;
  /** Monotonic ms after which nothing is begun any more. */
  readonly deadline: number;
  /** Throws why nothing may be begun any more. */
  readonly allowed?: () => void;
}

/** One command at one control unit: takes control, holds it, and always gives it back. */
export class DiagnosticSession {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /**
   * Opens the session, unlocks the control unit, does what the command says, and goes back to the default session,
   * which ends every control and shuts off access (ISO 14229-1:2020 §10.2). Where the way back is not acknowledged,
   * nothing keeps the session, and the control unit ends it by itself after S3.
   *
   * It resolves too where the control unit did not answer whether it has done what was asked: then the car shows it, or
   * does not.
   * @throws VigieError when it was not done: what {@link UdsClient.ask} and `allowed` throw, `command.asleep` for a bus
   * that sleeps, `command.expired` when its time is over, `command.interrupted` when the agent stops; `command.actuation`
   * also when it has other results than those expected. What went wrong after control may have been taken is a
   * {@link BrokenOff}, unless the control unit itself has said that it was not done.
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

  /** Control may be held from the request on, unless it is refused, also if no answer arrives. */
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
    // A seed of nothing but zeros: it is unlocked already (§10.4).
    if (seed.every((byte) => byte === 0)) return;
    const key = await this.#inTime(async (signal) => hook({ seed, constant, level, signal }));
    // Once: control units count wrong keys and lock themselves.
    const answered = { payload: Uint8Array.of(SECURITY_ACCESS, level + 1, ...key), echoed: 1 };
    await client.ask(answered, { allowed: this.#go });
  }

  /** Once: what was done must not be done twice because an answer was lost. */
  async #take({ take }: PreparedCommand): Promise<void> {
    const { client, deadline } = this.#parts;
    try {
      await client.ask(take, { until: deadline, allowed: this.#go });
    } catch (error) {
      // Done or not: what was to be held is held in case it was.
      if (!(error instanceof NoAnswer)) throw error;
      this.#parts.log.warn('uds.noAnswer', { why: error.message });
    }
  }

  /**
   * Keeps the session for so long, ms, and no longer than the car may be touched.
   * @throws VigieError {@link NoAnswer} when the control unit was silent for so long that it has ended its session, and
   * what `allowed` throws
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
      // One that is lost is made up for by the next; what counts is how long none was answered.
      await client.ask(TESTER_PRESENT).catch(() => undefined);
      // An answer that comes so late is that of the default session.
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
      // A routine that is over cannot be stopped, and many outputs let go by themselves.
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

  /** May be repeated as long as the command has time. */
  get #repeatedly(): AskOptions {
    return { attempts: ATTEMPTS, until: this.#parts.deadline };
  }

  /** The same for what is not begun any more when it may not be. */
  get #beginning(): AskOptions {
    return { ...this.#repeatedly, allowed: this.#go };
  }

  get #lettingGo(): AskOptions {
    return { attempts: ATTEMPTS, until: this.#parts.clock.monotonic() + LETTING_GO };
  }

  /** @throws VigieError when nothing may be begun any more */
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
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new VigieError('command.actuation', `the key could not be computed: ${reason}`, { cause });
    } finally {
      over.abort();
    }
    // A late result is of no use, even if it is an error.
    computed.catch(() => undefined);
    throw this.#parts.signal.aborted
      ? stopped()
      : new VigieError('command.actuation', `the key was not computed within ${COMPUTING / 1000} s`);
  }

  /** Ends early when the agent stops, or `over` is aborted. */
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

/** It may have been done: the car shows it, or does not. */
function brokenOff(error: unknown): unknown {
  return error instanceof VigieError && !(error instanceof OtherResults) ? new BrokenOff(error) : error;
}

function stopped(): VigieError {
  return new VigieError('command.interrupted', 'the agent stops');
}
