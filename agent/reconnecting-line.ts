/**
 * Keeps a line open: opens it, and again when it ended or fell silent, with growing waits. What is spoken over the line
 * is its user's business.
 */

import { VigieError } from '../protocol/errors.ts';
import { Backoff } from './backoff.ts';
import type { Clock, Line, Log, OpenLine, SourceHealth } from './ports.ts';

interface ReconnectingLineOptions {
  readonly open: OpenLine;
  readonly clock: Clock;
  /** Numbers from 0 (included) to 1 (excluded). */
  readonly random: () => number;
  /** Upper bound of the first wait, ms; default 500. */
  readonly first?: number;
  /** Upper bound of every wait, ms; default 30 s. */
  readonly longest?: number;
  /** Notified why the line is waiting, once for each reason, and when it is open. */
  readonly log?: Log | undefined;
  /** Name of the line in the log. */
  readonly name?: string;
}

interface ReconnectingLineEvents {
  /** The line is open; nothing of it has been delivered yet. A failure to write here is the line's end. */
  opened(): Promise<void> | void;
  /** The bytes may be kept. */
  data(bytes: Uint8Array): void;
  /** The line that was `opened` is gone: what it left unfinished stays so. */
  ended(reason: string): void;
  /** Nothing came for half of the silence that ends the line: send the other end a request if the protocol has one. */
  idle?(): void;
}

/** A line that lasted this long and spoke was sound: the next wait is a first one again. ms */
const SOUND = 30_000;

/** One line, from being opened to its end. */
interface Attempt {
  line: Line | undefined;
  /** Bytes that arrived before the opener reported the line as open. */
  early: Uint8Array[] | undefined;
  /** Reason of the opener for the end. */
  ended: string | undefined;
  /** Given up or ended: nothing more is taken from it. */
  over: boolean;
  /** Monotonic time at which the line was open. */
  since: number;
  heard: number | undefined;
}

/** Waits between attempts as {@link Backoff} has them. Nothing is thrown at its user but refused writes. */
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
   * Milliseconds without a byte after which a line is closed and opened anew; Infinity, as it is at first: never.
   * Counts from the last byte, also when it is changed while a line is open.
   */
  set silence(silence: number) {
    this.#silence = silence;
    const attempt = this.#attempt;
    if (attempt?.line === undefined) return;
    this.#cancelWatch();
    this.#watch(attempt, undefined);
  }

  /** `running`: a line is open, whatever its data. Counts: `opened`, `lost`, `refused` (could not be opened). */
  health(): SourceHealth {
    const counts = { opened: this.#opened, lost: this.#lost, refused: this.#refused };
    return this.#reason === undefined
      ? { state: this.#state, counts }
      : { state: this.#state, reason: this.#reason, counts };
  }

  /** Begins to open the line; does nothing when that has begun. */
  start(): void {
    if (this.#attempt === undefined) this.#open();
  }

  /** Closes the line; nothing is delivered any more, `ended` neither. A line that is just being opened is closed then. */
  async stop(): Promise<void> {
    this.#cancelWait();
    this.#cancelWatch();
    const attempt = this.#attempt;
    this.#attempt = undefined;
    this.#state = 'waiting';
    this.#reason = 'stopped';
    await attempt?.line?.close();
  }

  /** Rejects with `input.unreadable` when no line is open or the line does not take the bytes. */
  write(bytes: Uint8Array): Promise<void> {
    const line = this.#attempt?.line;
    if (line !== undefined) return line.write(bytes);
    return Promise.reject(new VigieError('input.unreadable', `the line is not open: ${this.#reason ?? 'not yet'}`));
  }

  /** Drops the open line, because the data of the other end make no sense, and opens another after the next wait. */
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

  /** An error of the user ends the line, which is opened again. Thrown further, it would end the process. */
  #guard(attempt: Attempt, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#end(attempt, reasonOf(error));
    }
  }

  /**
   * Looks at half and at the whole of the silence, counted from the last byte; a timer per byte would cost too much.
   * @param asked moment of the byte after which the other end was asked last: once in a silence is enough
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
    // The loss of a line that carried data is news; the log does not repeat the failure of a line that never did.
    if (reason !== this.#logged || attempt.heard !== undefined) {
      this.#options.log?.warn('line.waiting', { line: this.#options.name, reason });
    }
    this.#logged = reason;
    this.#cancelWait = this.#options.clock.after(this.#backoff.next(), () => this.#open());
  }
}

/** The line was given up already; that it cannot be closed either changes nothing. */
function close(line: Line): void {
  line.close().catch(() => undefined);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
