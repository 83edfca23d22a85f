import { VigieError } from '../../protocol/errors.ts';
import { hexByte } from '../../protocol/hex.ts';
import { commandName, comparable, headerText, isUsualAnswer } from './addressing.ts';
import { hexOf } from './hex.ts';
import { includesYear, yearsText } from './model-years.ts';
import { NEGATIVE, PENDING, refusal } from './negative-response.ts';
import type { DiagnosticAnswer } from './requester.ts';
import { type ObdMessage, type ObdResponse, readResponse } from './response.ts';
import { type FieldReader, fieldReader, type ObdValue } from './signal-format.ts';
import type { ObdCommand, SignalSet } from './signal-set.ts';

/** One request and the text that the adapter printed for it. */
export interface ObdExchange {
  /** Identifier of a command (`7E0.7E8.2101|f=-2018`) or a request (`010D`). If omitted, the answer identifies it. */
  readonly command?: string;
  readonly response: string;
}

export interface DecodedExchange {
  /** Name of the command as requested, or the identifier of the recognised command. */
  readonly command: string;
  /** Values by signal identifier, without signals that have no value or are beyond the end of the answer. */
  readonly values: Readonly<Record<string, ObdValue>>;
  /** Descriptions of incomplete responses of other control units; undefined if there are none. */
  readonly incomplete?: readonly string[];
}

interface Prepared {
  readonly command: ObdCommand;
  /** Start of an answer: service + 0x40 and the echoed parameter, upper-case hex. */
  readonly prefix: string;
  readonly fields: readonly { readonly id: string; readonly read: FieldReader }[];
  /** Number of bytes required by the signal nearest to the start of the answer. */
  readonly least: number;
}

/** Degrees of certainty that an answer belongs to a command; a higher value is more certain. */
const NOT = 0;
/** A service of SAE J1979 means the same in every control unit. */
const STANDARD = 1;
const OPEN = 2;
const USUAL = 3;
const ADDRESSED = 4;

/** Last service of SAE J1979: up to here the standard defines the parameters, not the manufacturer. */
const LAST_STANDARD_SERVICE = 0x0a;

interface Match {
  readonly prepared: Prepared;
  readonly message: ObdMessage;
  readonly certainty: number;
}

/**
 * Decodes answers with signal sets. Later sets take precedence over earlier ones if both describe the same answer.
 * Without `modelYear`, all year variants of a command are decoded.
 */
export class ObdDecoder {
  readonly #byPrefix = new Map<string, Prepared[]>();
  readonly #all: Prepared[] = [];
  /** Commands that a control unit may answer, by the header of its answers. */
  readonly #byHeader = new Map<string, readonly Prepared[]>();
  #longestPrefix = 0;

  constructor(sets: readonly SignalSet[], options: { readonly modelYear?: number } = {}) {
    for (const { commands } of sets) {
      for (const command of commands) {
        const { modelYear } = options;
        if (modelYear !== undefined && command.years !== undefined && !includesYear(command.years, modelYear)) continue;
        const prepared = prepare(command);
        const same = this.#byPrefix.get(prepared.prefix);
        if (same === undefined) this.#byPrefix.set(prepared.prefix, [prepared]);
        else same.unshift(prepared);
        this.#all.unshift(prepared);
        this.#longestPrefix = Math.max(this.#longestPrefix, prepared.prefix.length);
      }
    }
  }

  /**
   * @throws VigieError `input.unknown` if no set contains the command or a command with this answer;
   * `input.malformed` if the answer is incomplete, refused or missing, with the reason.
   */
  decode(exchange: ObdExchange): DecodedExchange {
    const wanted = exchange.command === undefined ? undefined : this.#named(exchange.command);
    return this.#decoded(this.#read(exchange.response, wanted ?? this.#all), exchange.command, wanted);
  }

  /** Returns the unit of a command's signal, as spelled in its set (`kilometersPerHour`). */
  unitOf(command: string, signal: string): string | undefined {
    const signals = this.#named(command).flatMap((prepared) => prepared.command.signals);
    return signals.find(({ id }) => id === signal)?.format.unit;
  }

  /** Returns all messages that the adapter printed, for any command. */
  messages(response: string): readonly ObdMessage[] {
    return this.#read(response, this.#all).messages;
  }

  /**
   * As {@link decode}, for answers from a requester: whole messages with their CAN identifiers. `command` is the
   * command's identifier (`7E0.7E8.2101|f=-2018`) or request (`010D`).
   * @throws VigieError as {@link decode} does
   */
  decodeAnswers(command: string, answers: readonly DiagnosticAnswer[]): DecodedExchange {
    const messages = answers.map(({ id, payload }) => ({
      header: headerText(id),
      address: undefined,
      data: payload,
      complete: true,
    }));
    const response = { messages, faults: [], complaints: [], reasons: new Set<never>() };
    return this.#decoded(response, command, this.#named(command));
  }

  /**
   * Decodes one message of a control unit, which identifies the command. `header` as {@link ObdMessage.header}. Beyond
   * SAE J1979 the same parameter means something else in each unit, so only commands of this unit count.
   * @throws VigieError as {@link decode} does
   */
  decodeMessage(header: string, data: Uint8Array): DecodedExchange {
    let wanted = this.#byHeader.get(header);
    if (wanted === undefined) {
      wanted = this.#all.filter(
        ({ command }) => command.service <= LAST_STANDARD_SERVICE || certainty(command, header) > OPEN,
      );
      this.#byHeader.set(header, wanted);
    }
    const messages = [{ header, address: undefined, data, complete: true }];
    const response = { messages, faults: [], complaints: [], reasons: new Set<never>() };
    const matches = this.#matching(messages[0] as ObdMessage, wanted);
    const found = matches[0];
    if (found === undefined) throw this.#absence(response, undefined);
    return { command: found.prepared.command.id, values: valuesOf(matches) };
  }

  #read(text: string, pool: readonly Prepared[]): ObdResponse {
    return readResponse(text, (header, first, second, receiving) =>
      beginsWithAddress(pool, header, first, second, receiving),
    );
  }

  #decoded(response: ObdResponse, name: string | undefined, wanted: readonly Prepared[] | undefined): DecodedExchange {
    const matches = response.messages.flatMap((message) => this.#matching(message, wanted));
    const faults = response.faults.filter(({ header }) => concerns(wanted, header));
    if (matches.length === 0) {
      const fault = faults[0];
      if (fault !== undefined) throw new VigieError('input.malformed', `the answer is incomplete: ${fault.message}`);
      throw this.#absence(response, wanted);
    }
    const complaint = response.complaints[0];
    if (complaint !== undefined && matches.some(({ message }) => !message.complete)) {
      throw new VigieError('input.malformed', `the answer may be cut: ${complaint}`);
    }
    // The sort is stable: the first of equally certain answers counts.
    matches.sort((a, b) => b.certainty - a.certainty);
    const recognised = matches[0]?.prepared.command.id ?? '';
    const incomplete = faults
      .filter(({ header, replaced, stray }) => !replaced && !stray && !matches.some((m) => m.message.header === header))
      .map(({ message }) => message);
    return {
      command: name ?? recognised,
      values: valuesOf(matches),
      ...(incomplete.length === 0 ? {} : { incomplete }),
    };
  }

  #named(text: string): readonly Prepared[] {
    const exact = this.#all.filter(({ command }) => command.id === text);
    if (exact.length > 0) return exact;
    const name = commandName(text);
    if (name === undefined) {
      throw new VigieError('input.malformed', `"${text.slice(0, 60)}" names no command; write 010D or 7E0.7E8.2101`);
    }
    const requested = this.#all.filter(({ command }) => requestText(command) === name.request);
    if (requested.length === 0) {
      throw new VigieError('input.unknown', `no signal set has the command ${text.slice(0, 60)}`);
    }
    // Identifiers gain and lose parts over the years; apply each part only if it leaves at least one command.
    let chosen = requested;
    for (const holds of [
      (c: ObdCommand) => name.header === undefined || c.header === name.header,
      (c: ObdCommand) => name.receiveAddress === undefined || c.receiveAddress === name.receiveAddress,
      (c: ObdCommand) => name.years === undefined || (c.years !== undefined && yearsText(c.years) === name.years),
    ]) {
      const narrowed = chosen.filter(({ command }) => holds(command));
      if (narrowed.length > 0) chosen = narrowed;
    }
    return chosen;
  }

  /** Returns the most certain commands that the message answers, one for each choice of model years. */
  #matching(message: ObdMessage, wanted: readonly Prepared[] | undefined): Match[] {
    const begin = hexOf(message.data.subarray(0, this.#longestPrefix / 2));
    for (let length = begin.length; length >= 2; length -= 2) {
      const matches = (this.#byPrefix.get(begin.slice(0, length)) ?? [])
        .filter((prepared) => wanted?.includes(prepared) ?? true)
        .map((prepared) => ({ prepared, message, certainty: certainty(prepared.command, message.header) }));
      const best = Math.max(NOT, ...matches.map((match) => match.certainty));
      if (best === NOT) continue;
      const variants = new Map<string, Match>();
      for (const match of matches) {
        const { years } = match.prepared.command;
        const variant = years === undefined ? '' : yearsText(years);
        if (match.certainty === best && !variants.has(variant)) variants.set(variant, match);
      }
      return [...variants.values()];
    }
    return [];
  }

  #absence(response: ObdResponse, wanted: readonly Prepared[] | undefined): VigieError {
    const { messages, complaints } = response;
    const refusals = messages.filter(({ data }) => {
      const service = data[1];
      if (data[0] !== NEGATIVE || service === undefined || data[2] === undefined) return false;
      return wanted?.some(({ command }) => command.service === service) ?? true;
    });
    const final = refusals.find(({ data }) => data[2] !== PENDING) ?? refusals[0];
    if (final !== undefined) {
      const [, service = 0, code = 0] = final.data;
      const from = final.header === '' ? '' : `${final.header}: `;
      const lacking = code === PENDING ? ', and the answer did not follow' : '';
      return new VigieError('input.malformed', `${from}${refusal(service, code)}${lacking}`);
    }
    const complaint = complaints[0];
    if (complaint !== undefined) return new VigieError('input.malformed', complaint);
    const [first] = messages;
    if (first === undefined) return new VigieError('input.malformed', 'there is no answer in the response');
    const bytes = hexOf(first.data.subarray(0, 4));
    const from = first.header === '' ? '' : ` from ${first.header}`;
    const asked = wanted?.[0]?.command.id;
    const message =
      asked === undefined ? 'no command of the signal sets is answered by' : `${asked} is not answered by`;
    return new VigieError('input.unknown', `${message} ${bytes}${from}`);
  }
}

function prepare(command: ObdCommand): Prepared {
  const ends = command.signals.map(({ format }) => Math.ceil((format.bix + format.len) / 8));
  return {
    command,
    prefix: `${hexByte(command.service + 0x40)}${command.parameter}`,
    fields: command.signals.map(({ id, format }) => ({ id, read: fieldReader(format) })),
    least: ends.length === 0 ? 0 : ends.reduce((a, b) => Math.min(a, b)),
  };
}

function requestText(command: ObdCommand): string {
  return `${hexByte(command.service)}${command.parameter}`;
}

function certainty(command: ObdCommand, header: string): number {
  if (header === '') return OPEN;
  if (command.receive?.includes(comparable(header)) === true) return ADDRESSED;
  if (command.receive === undefined) return isUsualAnswer(command.header, header) ? USUAL : OPEN;
  return command.service <= LAST_STANDARD_SERVICE ? STANDARD : NOT;
}

/** Returns true if a fault of this ECU affects the answer. Faults of other ECUs do not affect the addressed ECU. */
function concerns(wanted: readonly Prepared[] | undefined, header: string): boolean {
  return wanted?.some(({ command }) => certainty(command, header) > STANDARD) ?? true;
}

/**
 * Returns true if the frame begins with an extended address. The signal set defines that (`eax`). If the header is also
 * used without one, or is unknown, the first byte decides: it is an address if it is not a protocol control byte
 * (ISO 15765-2 §9.6: types 0 to 3), or is a control byte that cannot begin a message.
 */
function beginsWithAddress(
  pool: readonly Prepared[],
  header: string,
  first: number,
  second: number,
  receiving: boolean,
): boolean {
  let normal = false;
  let extended = false;
  for (const { command } of pool) {
    if (certainty(command, header) <= STANDARD) continue;
    if (command.extendedAddress === undefined) normal = true;
    else if ([command.extendedAddress, command.tester, 'F1'].includes(hexByte(first))) extended = true;
  }
  if (extended) return !normal || (first >= 0x20 && !receiving);
  return first >= 0x40 && second < 0x40;
}

function valuesOf(matches: readonly Match[]): Record<string, ObdValue> {
  const values: Record<string, ObdValue> = Object.create(null);
  let readable = 0;
  let fields = 0;
  for (const { prepared, message } of matches) {
    const data = message.data.subarray(prepared.prefix.length / 2);
    fields += prepared.fields.length;
    for (const { id, read } of prepared.fields) {
      const value = read(data);
      if (value === undefined) continue;
      readable++;
      if (value !== null) values[id] ??= value;
    }
  }
  if (fields > 0 && readable === 0) {
    const { prepared, message } = matches[0] as Match;
    const came = message.data.length - prepared.prefix.length / 2;
    throw new VigieError(
      'input.malformed',
      `the answer to ${prepared.command.id} is too short: ${came} of at least ${prepared.least} data bytes`,
    );
  }
  return values;
}
