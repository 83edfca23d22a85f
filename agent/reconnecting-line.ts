/**
 * Keeps a line open: opens it, and reopens it with growing delays after an end or silence. The user of the line defines
 * its protocol.
 */

import { reasonOf, VigieError } from '../protocol/errors.ts';
import { Backoff } from './backoff.ts';
import type { Clock, Line, Log, OpenLine, SourceHealth } from './ports.ts';

interface ReconnectingLineOptions {
  readonly open: OpenLine;
  readonly clock: Clock;
  /** Numbers from 0 (included) to 1 (excluded). */
  readonly random: () => number;
  /** Upper bound of the first delay in ms; default 500. */
  readonly first?: number;
  /** Upper bound of every delay in ms; default 30 s. */
  readonly longest?: number;
  /** Receives the reason for each wait, once per reason, and the opening of the line. */
  readonly log?: Log | undefined;
  /** Name of the line in the log. */
  readonly name?: string;
}

interface ReconnectingLineEvents {
  /** Called when the line is open, before any data is delivered. A failure to write in this call ends the line. */
  opened(): Promise<void> | void;
  /** The receiver may keep the bytes. */
  data(bytes: Uint8Array): void;
  /** Called when the opened line is gone: its unfinished data will not be completed. */
  ended(reason: string): void;
  /** Called when no byte arrived for half of the maximum silence: send a request if the protocol has one. */
  idle?(): void;
}

/** Time in ms after which a line that received data counts as reliable: the next delay is a first one again. */
const SOUND = 30_000;

/** One line, from its opening to its end. */
interface Attempt {
  line: Line | undefined;
  /** Bytes that arrived before the opener reported the line as open. */
  early: Uint8Array[] | undefined;
  /** Reason for the end, from the opener. */
  ended: string | undefined;
  /** True if abandoned or ended: its data is ignored. */
  over: boolean;
  /** Monotonic time at which the line was open. */
  since: number;
  heard: number | undefined;
}

/** Keeps a line open, with the delays of {@link Backoff}. Throws nothing to its user except refused writes. */
export class ReconnectingLine {
  readonly #options: ReconnectingLineOptions;
  readonly #events: ReconnectingLineEvents;
  #attempt: Attempt | undefined;
  #silence = Number.POSITIVE_INFINITY;
  readonly #backoff: Backoff;
  #state: SourceHealth['state'] = 'opening';
  #reason: string | undefined;
  /** The reason that was last logged. */
  #logged: string | undefined;
  #opened = 0;
  #lost = 0;
  #refused = 0;
  #cancelWait: () => void = () => undefined;
  #cancelWatch: () => void = () => undefined;

  constructor(options: ReconnectingLineOptions, events: ReconnectingLineEvents) {
    const { first = 500, longest = 30_000, random } = options;
    this.#options = options;
    this.#events = events;
    this.#backoff = new Backoff({ first, longest }, random);
  }

  /**
   * Milliseconds without a byte after which a line is closed and reopened. Infinity, the initial value, means never.
   * Counted from the last byte, even if the value changes while a line is open.
   */
  set silence(silence: number) {
    this.#silence = silence;
    const attempt = this.#attempt;
    if (attempt?.line === undefined) return;
    this.#cancelWatch();
    this.#watch(attempt, undefined);
  }

  /** State `running` means that a line is open, even without data. Counts: `opened`, `lost`, `refused` (not opened). */
  health(): SourceHealth {
    const counts = { opened: this.#opened, lost: this.#lost, refused: this.#refused };
    return this.#reason === undefined
      ? { state: this.#state, counts }
      : { state: this.#state, reason: this.#reason, counts };
  }

  /** Starts opening the line; does nothing if already started. */
  start(): void {
    if (this.#attempt === undefined) this.#open();
  }

  /** Closes the line; no event follows, not even `ended`. A line that is being opened is closed once it is open. */
  async stop(): Promise<void> {
    this.#cancelWait();
    this.#cancelWatch();
    const attempt = this.#attempt;
    this.#attempt = undefined;
    this.#state = 'waiting';
    this.#reason = 'stopped';
    await attempt?.line?.close();
  }

  /** Rejects with `input.unreadable` if no line is open or the line does not accept the bytes. */
  write(bytes: Uint8Array): Promise<void> {
    const line = this.#attempt?.line;
    if (line !== undefined) return line.write(bytes);
    return Promise.reject(new VigieError('input.unreadable', `the line is not open: ${this.#reason ?? 'not yet'}`));
  }

  /** Drops the open line, because its data is invalid, and opens another after the next delay. */
  restart(reason: string): void {
    const attempt = this.#attempt;
    if (attempt?.line !== undefined) this.#end(attempt, reason);
  }

  #open(): void {
    const attempt: Attempt = { line: undefined, early: [], ended: undefined, over: false, since: 0, heard: undefined };
    this.#attempt = attempt;
    this.#state = 'opening';
    this.#options
      .open({
        data: (bytes) => this.#data(attempt, bytes),
        closed: (reason) => {
          attempt.ended ??= reason;
          if (attempt.line !== undefined) this.#end(attempt, reason);
        },
      })
      .then(
        (line) => this.#ready(attempt, line),
        (error: unknown) => {
          this.#refused++;
          this.#wait(attempt, reasonOf(error));
        },
      );
  }

  #ready(attempt: Attempt, line: Line): void {
    if (this.#attempt !== attempt) {
      close(line);
      return;
    }
    attempt.line = line;
    attempt.since = this.#options.clock.monotonic();
    this.#opened++;
    this.#state = 'running';
    this.#reason = undefined;
    this.#options.log?.info('line.open', { line: this.#options.name });
    this.#watch(attempt, undefined);
    this.#guard(attempt, () => {
      const begun = this.#events.opened();
      if (begun !== undefined) begun.catch((error: unknown) => this.#end(attempt, reasonOf(error)));
    });
    const early = attempt.early ?? [];
    attempt.early = undefined;
    for (const bytes of early) this.#data(attempt, bytes);
    if (attempt.ended !== undefined) this.#end(attempt, attempt.ended);
  }

  #data(attempt: Attempt, bytes: Uint8Array): void {
    if (this.#attempt !== attempt || attempt.over) return;
    if (attempt.early !== undefined) {
      attempt.early.push(bytes);
      return;
    }
    attempt.heard = this.#options.clock.monotonic();
    this.#guard(attempt, () => this.#events.data(bytes));
  }

  /** An error thrown by the user ends the line, which is then reopened. Rethrown, it would end the process. */
  #guard(attempt: Attempt, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#end(attempt, reasonOf(error));
    }
  }

  /**
   * Checks at half and at the end of the silence, counted from the last byte; a timer per byte would cost too much.
   * @param asked time of the last byte before the last request to the other end: one request per silence is enough
   */
  #watch(attempt: Attempt, asked: number | undefined): void {
    const silence = this.#silence;
    if (silence === Number.POSITIVE_INFINITY) return;
    const { clock } = this.#options;
    const last = attempt.heard ?? attempt.since;
    const quiet = clock.monotonic() - last;
    if (quiet >= silence) {
      this.#end(attempt, `nothing came for ${silence / 1000} s`);
      return;
    }
    const ask = quiet >= silence / 2 && asked !== last;
    const rest = quiet < silence / 2 ? silence / 2 - quiet : silence - quiet;
    this.#cancelWatch = clock.after(rest, () => this.#watch(attempt, ask ? last : asked));
    if (ask) this.#guard(attempt, () => this.#events.idle?.());
  }

  #end(attempt: Attempt, reason: string): void {
    if (this.#attempt !== attempt || attempt.over || attempt.line === undefined) return;
    attempt.over = true;
    this.#cancelWatch();
    if (attempt.ended === undefined) close(attempt.line);
    attempt.line = undefined;
    this.#lost++;
    const { heard, since } = attempt;
    if (heard !== undefined && heard - since >= SOUND) this.#backoff.reset();
    this.#wait(attempt, reason);
    this.#guard(attempt, () => this.#events.ended(reason));
  }

  #wait(attempt: Attempt, reason: string): void {
    if (this.#attempt !== attempt) return;
    this.#state = 'waiting';
    this.#reason = reason;
    // Log the loss of a line that carried data; do not repeat the failure of a line that never did.
    if (reason !== this.#logged || attempt.heard !== undefined) {
      this.#options.log?.warn('line.waiting', { line: this.#options.name, reason });
    }
    this.#logged = reason;
    this.#cancelWait = this.#options.clock.after(this.#backoff.next(), () => this.#open());
  }
}

/** Closes a line that was already abandoned; a failure to close it changes nothing. */
function close(line: Line): void {
  line.close().catch(() => undefined);
}
