import { VigieError } from '../../../protocol/errors.ts';
import { complaintReasons } from '../adapter-line.ts';
import type { AdapterAnswer, AnswerPatience, Conversation } from './conversation.ts';

/** Known identity of an adapter. */
export interface AdapterFacts {
  /** Its own name (`ATI`). Clones use any name. */
  readonly name: string;
  /** Firmware of an STN chip (`STI`); undefined for others. */
  readonly stn: string | undefined;
  /**
   * Commands that were sent to it and that it does not support, e.g. `ATCRA/3` (with an argument of three characters).
   */
  readonly lacking: readonly string[];
}

/** Error after which the adapter needs a remedy before it can continue. */
export class AdapterFault extends VigieError {
  /** `restart`: the adapter lost its settings; `resync`: requests and answers are out of step. */
  readonly remedy: 'restart' | 'resync';

  constructor(remedy: 'restart' | 'resync', message: string) {
    super('input.unreadable', message);
    this.remedy = remedy;
  }
}

const COMMAND: AnswerPatience = { quiet: 3000, total: 10_000 };
/** Timeouts of a reset, which takes one second, or three on clones. */
const RESET: AnswerPatience = { quiet: 5000, total: 10_000 };
/** Timeouts for draining the line. */
const REST: AnswerPatience = { quiet: 250, total: 1000 };

/** Start-up text of adapters and of clones. */
const BANNER = /\b(?:ELM\s?3\d\d|STN\d{4}|OBD\s?LINK|OBDII?\sV)/i;

/** Maximum number of late prompts of earlier commands that a resync accepts. */
const MOST_LATE_PROMPTS = 6;

/** Number of unclear answers (neither OK nor `?`) after which a command counts as unsupported. */
const MOST_UNCLEAR = 3;

/** Commands that every request needs: doubts about them are not stored. */
const ESSENTIAL: ReadonlySet<string> = new Set(['ATSH', 'ATCAF']);

/** Settings that requests change; after a failed reset their values are unknown. */
const OF_REQUESTS = [
  'protocol',
  'header',
  'priority',
  'filter',
  'filter mask',
  'flow control',
  'flow control mode',
  'extended address',
  'tester',
  'responses',
  'time-out',
];

/** Settings after the start: short lines with headers, nothing stored across a power cut. */
const START_UP: readonly (readonly [name: string, verb: string, argument: string])[] = [
  ['echo', 'ATE', '0'],
  ['line feeds', 'ATL', '0'],
  ['spaces', 'ATS', '0'],
  ['headers', 'ATH', '1'],
  ['memory', 'ATM', '0'],
  ['adaptive timing', 'ATAT', '1'],
  ['long messages', 'ATAL', ''],
  ['formatting', 'ATCAF', '1'],
];

/** One adapter on an open line: its settings, and the commands that it supports. */
export class Adapter {
  readonly #conversation: Conversation;
  /** Last accepted command per setting. `undefined` as a value: unknown. No key: the value after a reset. */
  readonly #settings = new Map<string, string | undefined>();
  readonly #lacking = new Set<string>();
  /** Forms of accepted commands. */
  readonly #taken = new Set<string>();
  readonly #unclear = new Map<string, number>();
  #name = '';
  #stn: string | undefined;
  #suspect = false;
  #outdated = false;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  get facts(): AdapterFacts {
    return { name: this.#name, stn: this.#stn, lacking: [...this.#lacking] };
  }

  /** True if the adapter prints the sender before each message. */
  get headers(): boolean {
    return !this.#lacking.has('ATH/1');
  }

  /**
   * Resets the adapter and sets it up.
   * @throws VigieError `input.unreadable` if nothing on the line behaves like an adapter
   */
  async start(): Promise<void> {
    this.#settings.clear();
    this.#lacking.clear();
    this.#taken.clear();
    this.#unclear.clear();
    this.#suspect = false;
    this.#outdated = false;
    // The first byte wakes a sleeping adapter and stops a monitoring one, which then does not recognise the rest of the
    // command.
    // A byte before the command would do so too, but some clones then refuse the command.
    let reset = await this.#sure('ATZ', RESET);
    if (reset.text !== '' && !isRestart(reset.text)) {
      await this.#drain();
      reset = await this.#sure('ATZ', RESET);
    }
    if (!reset.prompted || linesOf(reset.text).includes('?')) {
      for (const setting of OF_REQUESTS) this.#settings.set(setting, undefined);
    }
    await this.#drain();
    const identity = await this.#sure('ATI', COMMAND);
    const lines = linesOf(identity.text);
    const name = lines.findLast(isName);
    if (!identity.prompted || name === undefined) {
      const what = lines.length === 0 ? 'nothing' : `"${lines.join(' ').slice(0, 60)}" and no prompt`;
      throw new VigieError(
        'input.unreadable',
        `no ELM327 answers on this line: ${what} came for ATI (check device, bit rate and power)`,
      );
    }
    this.#name = name.slice(0, 80);
    try {
      await this.#setUp();
    } catch (error) {
      if (!(error instanceof AdapterFault)) throw error;
      await this.resync();
    }
    const stn = await this.#answer('STI', (text) => text);
    this.#stn = stn === undefined || stn === '' ? undefined : stn.slice(0, 80);
  }

  /**
   * Synchronises requests, answers and all settings again.
   * @throws VigieError `input.unreadable` if that fails: the line should then be opened again
   */
  async resync(): Promise<void> {
    this.#suspect = false;
    this.#forget();
    let heard = await this.#sure('ATI', COMMAND);
    for (let late = 0; heard.prompted && !linesOf(heard.text).includes(this.#name); late++) {
      if (late === MOST_LATE_PROMPTS) break;
      // That was the prompt of an earlier command.
      await this.#drain();
      heard = await this.#conversation.ask('ATI', COMMAND);
    }
    if (!linesOf(heard.text).includes(this.#name)) {
      throw new VigieError('input.unreadable', `the adapter (${this.#name}) does not answer any more`);
    }
    await this.#setUp();
  }

  /** Action required before the next request, after unexpected text or a call of {@link suspect}. */
  get remedy(): AdapterFault['remedy'] | undefined {
    const { stray } = this.#conversation;
    if (this.#outdated || isRestart(stray)) return 'restart';
    return stray !== '' || this.#suspect ? 'resync' : undefined;
  }

  /** Call when text arrived that belongs to no request. */
  suspect(): void {
    this.#suspect = true;
  }

  /** Requests a reset before the next request. */
  renew(): void {
    this.#outdated = true;
  }

  /**
   * Changes a setting; sends nothing if it already has this value. Returns false if the adapter does not support the
   * command.
   * @throws AdapterFault
   */
  async set(name: string, verb: string, argument: string): Promise<boolean> {
    const command = verb + argument;
    const stood = this.#settings.has(name);
    const before = this.#settings.get(name);
    if (before === command) return true;
    const form = `${verb}/${argument.length}`;
    if (this.#lacking.has(form) || this.#lacking.has(command)) return false;
    this.#settings.set(name, undefined);
    // The line may have been damaged in transit: a command counts as unsupported only after two `?` answers.
    for (let attempt = 0; attempt < 2; attempt++) {
      if ((await this.#verdict(command, form)) === 'unknown') continue;
      this.#settings.set(name, command);
      this.#taken.add(form);
      return true;
    }
    // A refusal changes nothing. An adapter may refuse one argument and accept others.
    if (stood) this.#settings.set(name, before);
    else this.#settings.delete(name);
    if (!ESSENTIAL.has(verb)) this.#lacking.add(this.#taken.has(form) ? command : form);
    return false;
  }

  /** As {@link set}, for a default value: sends nothing if the setting was never changed. */
  async restore(name: string, verb: string, argument: string): Promise<boolean> {
    return this.#settings.has(name) ? this.set(name, verb, argument) : true;
  }

  /**
   * As {@link restore}, for settings whose default is essential for requests.
   * @throws AdapterFault if the setting was changed and only a reset can restore it
   */
  async revert(name: string, verb: string, argument: string): Promise<void> {
    const changed = this.#settings.get(name) !== undefined;
    if (await this.restore(name, verb, argument)) return;
    if (changed) throw new AdapterFault('restart', `the adapter does not take ${verb}${argument} again`);
    this.#settings.delete(name);
  }

  /** Returns true if this was the last accepted command for a setting. */
  stands(name: string, command: string): boolean {
    return this.#settings.get(name) === command;
  }

  /** Marks these settings as unknown, if they were ever changed. */
  uncertain(...names: readonly string[]): void {
    for (const name of names) if (this.#settings.has(name)) this.#settings.set(name, undefined);
  }

  /** Notes that the adapter does not support this form of a command. */
  lacks(form: string): void {
    this.#lacking.add(form);
  }

  knows(form: string): boolean {
    return !this.#lacking.has(form);
  }

  /**
   * Sends a command. Returns the line that answers it, or undefined if the adapter does not support the command.
   * @throws AdapterFault
   */
  command(command: string): Promise<string | undefined> {
    return this.#answer(command, (text) => this.#sound(text));
  }

  /**
   * Sends a request to the bus. Returns the printed text, without the echo.
   * @throws AdapterFault
   */
  async ask(request: string, patience: AnswerPatience): Promise<string> {
    return this.#sound(prompted(await this.#conversation.ask(request, patience)));
  }

  /** Monitors until `enough` returns true or for `total` ms. Returns the printed text. */
  async watch(command: string, patience: AnswerPatience, enough: (text: string) => boolean): Promise<string> {
    return this.#sound(prompted(await this.#conversation.watch(command, patience, enough)));
  }

  async #setUp(): Promise<void> {
    for (const [name, verb, argument] of START_UP) await this.set(name, verb, argument);
  }

  #forget(): void {
    for (const name of this.#settings.keys()) this.#settings.set(name, undefined);
  }

  /** Receives until no more pending text arrives. */
  async #drain(): Promise<void> {
    for (let late = 0; late < MOST_LATE_PROMPTS; late++) {
      const heard = await this.#conversation.listen(REST);
      if (!heard.prompted && heard.text === '') return;
    }
  }

  /** Sends the command again if text left in the adapter's line may have corrupted the first attempt. */
  async #sure(command: string, patience: AnswerPatience): Promise<AdapterAnswer> {
    const heard = await this.#conversation.ask(command, patience);
    return linesOf(heard.text).includes('?') ? this.#conversation.ask(command, patience) : heard;
  }

  async #answer(command: string, check: (text: string) => string): Promise<string | undefined> {
    if (this.#lacking.has(command)) return undefined;
    for (let attempt = 0; attempt < 2; attempt++) {
      const lines = linesOf(check(prompted(await this.#conversation.ask(command, COMMAND))));
      if (!lines.includes('?')) return lines.at(-1) ?? '';
    }
    this.#lacking.add(command);
    return undefined;
  }

  async #verdict(command: string, form: string): Promise<'taken' | 'unknown'> {
    const lines = linesOf(this.#sound(prompted(await this.#conversation.ask(command, COMMAND))));
    if (lines.includes('?')) return 'unknown';
    // Some clones print nothing where the original prints OK.
    if (lines.length === 0 || lines.at(-1)?.endsWith('OK') === true) return 'taken';
    const times = (this.#unclear.get(form) ?? 0) + 1;
    this.#unclear.set(form, times);
    if (times >= MOST_UNCLEAR) return 'unknown';
    throw new AdapterFault('resync', `the adapter answered "${lines.join(' ').slice(0, 60)}" to ${command}`);
  }

  #sound(text: string): string {
    if (isRestart(text)) {
      throw new AdapterFault('restart', `the adapter has restarted: ${linesOf(text).join(' ').slice(0, 60)}`);
    }
    return text;
  }
}

/** Returns true if the line is the name of an adapter: neither OK nor an error message. */
function isName(line: string): boolean {
  return line !== 'OK' && [...complaintReasons(line)].every((reason) => reason === 'unreadable');
}

function prompted(heard: AdapterAnswer): string {
  if (!heard.prompted) throw new AdapterFault('resync', 'the adapter gave no prompt in time');
  return heard.text;
}

function isRestart(text: string): boolean {
  const reasons = complaintReasons(text);
  return reasons.has('restart') || reasons.has('sleep') || BANNER.test(text);
}

function linesOf(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
