import { VigieError } from '../../protocol/errors.ts';
import { commandName, comparable, headerText, isUsualAnswer } from './addressing.ts';
import { hexByte, hexOf } from './hex.ts';
import { includesYear, yearsText } from './model-years.ts';
import { NEGATIVE, PENDING, refusal } from './negative-response.ts';
import type { DiagnosticAnswer } from './requester.ts';
import { type ObdMessage, type ObdResponse, readResponse } from './response.ts';
import { type FieldReader, fieldReader, type ObdValue } from './signal-format.ts';
import type { ObdCommand, SignalSet } from './signal-set.ts';

/** One request and what the adapter printed for it. */
export interface ObdExchange {
  /** Identifier of a command (`7E0.7E8.2101|f=-2018`) or a request (`010D`). If omitted, the answer identifies it. */
  readonly command?: string;
  readonly response: string;
}

export interface DecodedExchange {
  /** The command as it was named, or the identifier of the one that was recognised. */
  readonly command: string;
  /** By signal identifier; a signal that has no value, or lies beyond the answer's end, is not there. */
  readonly values: Readonly<Record<string, ObdValue>>;
  /** Responses of other control units that did not come whole, in words; absent: none. */
  readonly incomplete?: readonly string[];
}

interface Prepared {
  readonly command: ObdCommand;
  /** Start of an answer: service + 0x40 and the echoed parameter, upper-case hex. */
  readonly prefix: string;
  readonly fields: readonly { readonly id: string; readonly read: FieldReader }[];
  /** Bytes that the signal nearest to the answer's begin needs. */
  readonly least: number;
}

/** How surely an answer is a command's: the more, the better. */
const NOT = 0;
/** A service of SAE J1979 means the same in every control unit. */
const STANDARD = 1;
const OPEN = 2;
const USUAL = 3;
const ADDRESSED = 4;

/** Services of SAE J1979: their parameters are the standard's, not the manufacturer's. */
const LAST_STANDARD_SERVICE = 0x0a;

interface Match {
  readonly prepared: Prepared;
  readonly message: ObdMessage;
  readonly certainty: number;
}

/**
 * Decodes answers by signal sets. Later sets go before earlier ones where both describe the same answer. Without
 * `modelYear` the variants of a command for different years are all decoded.
 */
export class ObdDecoder {
  readonly #byPrefix = new Map<string, Prepared[]>();
  readonly #all: Prepared[] = [];
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
   * @throws VigieError `input.unknown` for a command that no set has, or an answer of such a command;
   * `input.malformed` for an answer that is incomplete, refused or absent, saying which.
   */
  decode(exchange: ObdExchange): DecodedExchange {
    const wanted = exchange.command === undefined ? undefined : this.#named(exchange.command);
    return this.#decoded(this.#read(exchange.response, wanted ?? this.#all), exchange.command, wanted);
  }

  /** Unit of a signal of a command, in the spelling of its set (`kilometersPerHour`). */
  unitOf(command: string, signal: string): string | undefined {
    const signals = this.#named(command).flatMap((prepared) => prepared.command.signals);
    return signals.find(({ id }) => id === signal)?.format.unit;
  }

  /** The messages that the adapter printed, whatever they answer. */
  messages(response: string): readonly ObdMessage[] {
    return this.#read(response, this.#all).messages;
  }

  /**
   * The same for answers that came by a requester, whole messages with their CAN identifiers. `command` is a command's
   * identifier (`7E0.7E8.2101|f=-2018`) or request (`010D`).
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
    // Stable: of equally certain answers the first one counts.
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
    // Identifiers grow and lose parts over the years; each part narrows the choice only while it leaves one.
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

  /** Commands that the message answers, those that are most certain; one for each choice of model years. */
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

/** Faults of another ECU do not spoil the answer of the addressed ECU. */
function concerns(wanted: readonly Prepared[] | undefined, header: string): boolean {
  return wanted?.some(({ command }) => certainty(command, header) > STANDARD) ?? true;
}

/**
 * Extended addressing shows in the signal set (`eax`). Where the header is also used without, or is unknown, the first
 * byte tells: it is not a protocol control byte (ISO 15765-2 §9.6: types 0 to 3), or one that no message can begin with.
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
