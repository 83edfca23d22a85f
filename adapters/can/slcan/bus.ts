/** A CAN bus behind a serial adapter with the Lawicel ASCII protocol. */

import type {
  Clock,
  FrameBatch,
  FrameSender,
  FrameSource,
  Log,
  OpenLine,
  OutgoingFrame,
  SourceHealth,
} from '../../../agent/ports.ts';
import type { Rest } from '../../../agent/power/rest.ts';
import { ReconnectingLine } from '../../../agent/reconnecting-line.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { checkRates, type Dialect, type Rates, rateCommands } from './bit-rates.ts';
import { beginsFrame, emptyFrame, readFrame, writeFrame } from './codec.ts';
import { SlcanConversation } from './conversation.ts';
import { FrameIntake } from './intake.ts';
import { LineSplitter } from './splitter.ts';

export interface SlcanOptions extends Rates {
  /** Name of the bus in the profile. */
  readonly bus: string;
  /** Device or address, for error messages. */
  readonly name: string;
  readonly open: OpenLine;
  readonly clock: Clock;
  readonly log?: Log;
  /**
   * True if commands or requests are sent over this bus. If false, the channel is opened listen-only (`L`, or silent
   * mode of a CANable): {@link SlcanBus.send} rejects, and the adapter does not even acknowledge frames. An adapter
   * without a listen-only mode is then not opened.
   */
  readonly sends?: boolean;
  /** Commands that the firmware understands. Default: detected by the adapter's answer to `V`. */
  readonly dialect?: Dialect;
  /** Reports whether the unit sleeps; the adapter then receives no requests. Default: it never sleeps. */
  readonly rest?: Rest;
  /** Returns random numbers from 0 (included) to 1 (excluded). */
  readonly random?: () => number;
}

/** Interval in ms at which the status flags are requested from an adapter that answers. */
const STATUS = 10_000;
/** Silence in ms, despite status requests, after which an adapter that answered before is opened again. */
const SILENCE = 25_000;
/** Longest time in ms for a line to accept the last command. */
const FAREWELL = 500;
/** Flags of `F` (CAN232 manual): receive queue full and data overrun; error warning, error passive and bus error. */
const LOSSES = 0b0000_1001;
const ERRORS = 0b1010_0100;

export class SlcanBus implements FrameSource, FrameSender {
  readonly buses: readonly string[];
  readonly #options: SlcanOptions;
  readonly #kept: ReconnectingLine;
  readonly #frame = emptyFrame();
  #talk: SlcanConversation;
  #splitter: LineSplitter;
  #intake: FrameIntake | undefined;
  /** True while the channel is open: frames are from the requested bus and rate. */
  #running = false;
  readonly #counts = { frames: 0, broken: 0, sent: 0, unsent: 0, overruns: 0, errors: 0 };
  #cancelStatus: () => void = () => undefined;
  #unsubscribe: (() => void) | undefined;

  /** Throws `configuration.wrong` for rates that no adapter supports. */
  constructor(options: SlcanOptions) {
    checkRates(options, options.name);
    this.#options = options;
    this.buses = [options.bus];
    const { open, clock, log, name, random = Math.random } = options;
    this.#kept = new ReconnectingLine(
      { open, clock, random, log, name },
      {
        opened: () => this.#opened(),
        data: (bytes) => this.#data(bytes),
        ended: (reason) => this.#ended(reason),
      },
    );
    this.#talk = this.#conversation();
    this.#splitter = this.#newSplitter();
  }

  start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#intake = new FrameIntake(this.#options.clock, receive);
    this.#unsubscribe ??= this.#options.rest?.subscribe((asleep) => this.#rested(asleep));
    this.#kept.start();
    return Promise.resolve();
  }

  /** Stops, and closes the channel so that the adapter does not continue to fill its queue. */
  async stop(): Promise<void> {
    this.#cancelStatus();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#intake = undefined;
    const running = this.#running;
    this.#running = false;
    this.#talk.end('the bus was stopped');
    if (running) await this.#farewell();
    await this.#kept.stop();
  }

  /**
   * Sends a frame. Rejects with `command.actuation` if the bus is listen-only, the channel is not open, or the adapter
   * refuses or does not answer. If an adapter never answers, the frame counts as sent.
   */
  async send(frame: OutgoingFrame): Promise<void> {
    const { bus, sends = false } = this.#options;
    if (frame.bus !== bus) throw this.#unsent(`this is ${bus}, not ${frame.bus}`);
    if (!sends) throw this.#unsent('the bus is only listened to');
    const line = writeFrame(frame);
    if (line === undefined) throw this.#unsent('there is no such frame');
    if (!this.#running) throw this.#unsent(`the channel is not open: ${this.#kept.health().reason ?? 'not yet'}`);
    const answer = await this.#talk.tell(line).catch((error: Error) => {
      throw this.#unsent(error.message, error);
    });
    if (answer.kind === 'refused') throw this.#unsent('the adapter refuses it');
    if (answer.kind === 'silent' && this.#talk.acknowledges === true) throw this.#unsent('the adapter does not answer');
    this.#counts.sent++;
  }

  /**
   * Returns the counts: `frames`, `broken` lines, `sent` and `unsent` frames, `overruns` and `errors` that the adapter
   * reports, and `opened`, `lost` and `refused` lines.
   */
  readonly health = (): SourceHealth => {
    const line = this.#kept.health();
    const counts = { ...this.#counts, ...line.counts };
    if (line.state === 'running' && !this.#running) return { state: 'opening', counts };
    return { ...line, counts };
  };

  /** Closes the channel. Ignores a failed write: the line is then gone, and with it the channel. */
  async #farewell(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(FAREWELL, resolve);
      const done = (): void => {
        cancel();
        resolve();
      };
      this.#kept.write(new TextEncoder().encode('C\r')).then(done, done);
    });
  }

  #conversation(): SlcanConversation {
    return new SlcanConversation((bytes) => this.#kept.write(bytes), this.#options.clock);
  }

  #newSplitter(): LineSplitter {
    return new LineSplitter({
      line: (text) => this.#line(text),
      bell: () => this.#talk.refused(),
      overlong: () => {
        if (this.#running) this.#counts.broken++;
      },
    });
  }

  async #opened(): Promise<void> {
    const talk = this.#conversation();
    this.#talk = talk;
    this.#splitter = this.#newSplitter();
    // The first `C` may complete an earlier, unfinished line. A bare CR would also do, but some firmware then sends
    // its last frame again.
    await talk.ask('C');
    await talk.ask('C');
    talk.acknowledges ??= false;
    const dialect = this.#options.dialect ?? dialectOf(await talk.ask('V'));
    const rates = rateCommands(this.#options, dialect);
    if (rates === undefined) throw this.#unfit(`the firmware (${dialect}) does not have the bit rate asked for`);
    for (const command of rates) {
      if ((await talk.ask(command)).kind === 'refused')
        throw this.#unfit(`the adapter refuses the bit rate (${command})`);
    }
    await this.#join(talk, dialect);
    // The line may have ended during the last answer.
    if (talk.over) return;
    this.#running = true;
    if (talk.acknowledges !== true || this.#options.rest?.asleep === true) return;
    this.#kept.silence = SILENCE;
    this.#cancelStatus = this.#options.clock.after(STATUS, () => this.#status(talk));
  }

  /** Stops the status requests when the unit goes to sleep. When it wakes, requests the status immediately. */
  #rested(asleep: boolean): void {
    this.#cancelStatus();
    this.#kept.silence = Number.POSITIVE_INFINITY;
    if (!asleep && this.#running && this.#talk.acknowledges === true) this.#status(this.#talk);
  }

  /** Opens the channel, in listen-only mode unless frames are to be sent. */
  async #join(talk: SlcanConversation, dialect: Dialect): Promise<void> {
    const { sends = false } = this.#options;
    if (dialect === 'canable') {
      await talk.ask(sends ? 'M0' : 'M1');
      if ((await talk.ask('O')).kind === 'refused') throw this.#unfit('the adapter does not open the channel');
      return;
    }
    // Without time stamps, frames get the time of their arrival.
    await talk.ask('Z1');
    if ((await talk.ask(sends ? 'O' : 'L')).kind !== 'refused') return;
    throw this.#unfit(sends ? 'the adapter does not open the channel' : 'the adapter cannot listen without joining in');
  }

  #status(talk: SlcanConversation): void {
    this.#cancelStatus = this.#options.clock.after(STATUS, () => this.#status(talk));
    // Limit the silence only after the first request: the silence before it, perhaps a whole night, is not a fault.
    const asked = (): void => {
      if (talk === this.#talk && !talk.over && this.#options.rest?.asleep !== true) this.#kept.silence = SILENCE;
    };
    // If the line is gone, the conversation ends; `#ended` handles that.
    talk.ask('F').then(asked, () => undefined);
  }

  #data(bytes: Uint8Array): void {
    this.#splitter.push(bytes);
    this.#intake?.flush();
  }

  #line(text: Uint8Array): void {
    const talk = this.#talk;
    if (text.length === 0) {
      talk.done('');
      return;
    }
    const first = text[0];
    const words = beginsFrame(first) && (!talk.echoes || talk.command === undefined) ? undefined : ascii(text);
    if (words !== undefined && talk.echoed(words)) {
      talk.echoes = true;
      return;
    }
    if (readFrame(text, this.#frame)) {
      if (this.#running) this.#received();
      return;
    }
    this.#word(words ?? ascii(text));
  }

  #received(): void {
    this.#counts.frames++;
    this.#intake?.add(this.#frame);
  }

  /** Handles a line that is neither a frame nor a plain confirmation. */
  #word(text: string): void {
    const talk = this.#talk;
    const flags = /^F([0-9A-F]{2})$/i.exec(text);
    if (flags !== null) {
      const value = Number.parseInt(flags[1] as string, 16);
      if ((value & LOSSES) !== 0) this.#counts.overruns++;
      if ((value & ERRORS) !== 0) this.#counts.errors++;
      if (talk.command === 'F') talk.done(text);
    } else if (text === 'z' || text === 'Z' || talk.command === 'V') {
      talk.done(text);
    } else if (/^(e\d[a-z]|s[a-z]\d{6}$)/i.test(text)) {
      // Newer firmware reports errors and error counters automatically.
      this.#counts.errors++;
    } else if (this.#running) {
      this.#counts.broken++;
    }
  }

  #ended(reason: string): void {
    this.#running = false;
    this.#cancelStatus();
    this.#kept.silence = Number.POSITIVE_INFINITY;
    this.#talk.end(reason);
  }

  #unfit(message: string): VigieError {
    return new VigieError('input.unreadable', message, { where: this.#options.name });
  }

  #unsent(why: string, cause?: unknown): VigieError {
    this.#counts.unsent++;
    return new VigieError('command.actuation', `the frame was not sent: ${why}`, { where: this.#options.name, cause });
  }
}

function dialectOf(answer: { readonly kind: string; readonly text?: string }): Dialect {
  return answer.text !== undefined && /canable/i.test(answer.text) ? 'canable' : 'lawicel';
}

function ascii(text: Uint8Array): string {
  return String.fromCharCode(...text);
}
