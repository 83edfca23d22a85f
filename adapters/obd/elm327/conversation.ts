import type { Clock, Line, OpenLine } from '../../../agent/ports.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';

/** Text between a command and the prompt. */
export interface AdapterAnswer {
  /** Text without the echo of the command, NULs and the prompt. */
  readonly text: string;
  /** False if the time or the maximum length was reached before a prompt arrived. */
  readonly prompted: boolean;
}

/** Timeouts of an answer. */
export interface AnswerPatience {
  /** Time in ms without a byte after which the answer counts as ended. */
  readonly quiet: number;
  /** Maximum time in ms for the whole answer. */
  readonly total: number;
}

interface Listening extends AnswerPatience {
  readonly sent: string;
  readonly resolve: (heard: AdapterAnswer) => void;
  readonly reject: (error: VigieError) => void;
  /** For a command that continues until it is stopped. Called after each line; returns true to stop the command. */
  readonly enough: ((text: string) => boolean) | undefined;
  readonly cancelTotal: () => void;
  cancelQuiet: () => void;
  stopped: boolean;
}

/** Maximum length of an answer. Sixteen messages of 4,095 bytes fit in it. */
const MOST_TEXT = 512 * 1024;

/** Maximum stored length of unexpected text: its end is sufficient for a diagnosis. */
const MOST_STRAY = 256;

/**
 * Character that stops a monitoring adapter, which discards the character (ELM327 data sheet, "Interrupting"). A bare
 * line end would repeat the command.
 */
const STOP = ' ';

/**
 * Sends commands and collects their answers, on one open line. Adapters accept one command at a time and end their
 * output with the prompt `>` (ELM327 data sheet, "Communicating with the ELM327").
 */
export class Conversation {
  readonly #clock: Clock;
  readonly #lost: (reason: string) => void;
  #line: Line | undefined;
  #listening: Listening | undefined;
  #text = '';
  #stray = '';
  #ended: string | undefined;

  private constructor(clock: Clock, lost: (reason: string) => void) {
    this.#clock = clock;
    this.#lost = lost;
  }

  /**
   * Opens the line. `lost` is called once if the line ends other than by {@link close}.
   * @throws VigieError `input.unreadable`
   */
  static async open(open: OpenLine, clock: Clock, lost: (reason: string) => void): Promise<Conversation> {
    const conversation = new Conversation(clock, lost);
    const line = await open({
      data: (bytes) => conversation.#receive(bytes),
      closed: (reason) => conversation.#end(reason),
    });
    conversation.#line = line;
    return conversation;
  }

  /** Text that arrived without a request, without prompts: a sign that requests and answers are out of step. */
  get stray(): string {
    return this.#stray.trim();
  }

  /**
   * Sends a command and receives until the prompt.
   * @throws VigieError `input.unreadable` if the line is gone
   */
  ask(command: string, patience: AnswerPatience): Promise<AdapterAnswer> {
    return this.#exchange(`${command}\r`, patience);
  }

  /** Like {@link ask}, for a command that continues until it is stopped: by `enough`, or after `total` ms. */
  watch(command: string, patience: AnswerPatience, enough: (text: string) => boolean): Promise<AdapterAnswer> {
    return this.#exchange(`${command}\r`, patience, enough);
  }

  /** Receives pending text without sending a command. */
  listen(patience: AnswerPatience): Promise<AdapterAnswer> {
    return this.#exchange('', patience);
  }

  async close(): Promise<void> {
    const line = this.#line;
    this.#end('closed', false);
    await line?.close();
  }

  #exchange(sent: string, patience: AnswerPatience, enough?: (text: string) => boolean): Promise<AdapterAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined || this.#line === undefined) {
        reject(gone(this.#ended ?? 'not open'));
        return;
      }
      this.#text = '';
      this.#stray = '';
      const { quiet, total } = patience;
      this.#listening = {
        sent,
        quiet,
        total,
        resolve,
        reject,
        enough,
        stopped: false,
        cancelQuiet: this.#clock.after(quiet, () => this.#finish(false)),
        cancelTotal: this.#clock.after(total, () => this.#overdue()),
      };
      if (sent !== '') this.#write(sent);
    });
  }

  #write(text: string): void {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    this.#line?.write(bytes).catch((cause: unknown) => {
      this.#end(reasonOf(cause));
    });
  }

  #receive(bytes: Uint8Array): void {
    let lineEnded = false;
    for (const byte of bytes) {
      // Keep damaged bytes (beyond ASCII) as U+FFFD, so that no damaged line passes for a shorter one.
      if (byte === 0) continue;
      const character = byte < 0x80 ? String.fromCharCode(byte) : '\ufffd';
      if (this.#listening === undefined) {
        if (character !== '>') this.#stray = (this.#stray + character).slice(-MOST_STRAY);
      } else if (character === '>') this.#finish(true);
      else {
        this.#text += character;
        lineEnded ||= character === '\r' || character === '\n';
      }
    }
    const listening = this.#listening;
    if (listening === undefined) return;
    if (this.#text.length > MOST_TEXT) {
      this.#finish(false);
      return;
    }
    listening.cancelQuiet();
    listening.cancelQuiet = this.#clock.after(listening.quiet, () => this.#finish(false));
    if (lineEnded && listening.enough?.(this.#text) === true) this.#stop(listening);
  }

  #overdue(): void {
    const listening = this.#listening;
    if (listening === undefined) return;
    if (listening.enough === undefined) this.#finish(false);
    else this.#stop(listening);
  }

  /** Stops the command. The adapter answers with `STOPPED` and the prompt. */
  #stop(listening: Listening): void {
    if (listening.stopped) return;
    listening.stopped = true;
    listening.cancelQuiet();
    listening.cancelQuiet = this.#clock.after(Math.min(listening.quiet, 1000), () => this.#finish(false));
    this.#write(STOP);
  }

  #finish(prompted: boolean): void {
    const listening = this.#release();
    if (listening === undefined) return;
    const text = this.#text;
    this.#text = '';
    listening.resolve({ text: withoutEcho(text, listening.sent), prompted });
  }

  #end(reason: string, tell = true): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#line = undefined;
    this.#release()?.reject(gone(reason));
    if (tell) this.#lost(reason);
  }

  #release(): Listening | undefined {
    const listening = this.#listening;
    this.#listening = undefined;
    listening?.cancelQuiet();
    listening?.cancelTotal();
    return listening;
  }
}

function gone(reason: string): VigieError {
  return new VigieError('input.unreadable', `the line to the adapter is gone: ${reason}`);
}

/**
 * Removes the echo. Adapters echo commands until a command turns the echo off, which some ignore. Spaces may be lost in
 * the echo.
 */
function withoutEcho(text: string, sent: string): string {
  const echo = sent.replaceAll(/\s/g, '');
  if (echo === '') return text;
  let at = 0;
  for (const character of echo) {
    while (at < text.length && /\s/.test(text.charAt(at))) at++;
    if (text.charAt(at).toUpperCase() !== character.toUpperCase()) return text;
    at++;
  }
  return text.slice(at);
}
