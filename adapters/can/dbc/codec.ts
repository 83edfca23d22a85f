import { BIT_RATE_SWITCH, FD, type MessageCodec, type NamedFrame } from '../../../agent/ports.ts';
import { counted } from '../../../protocol/counted.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { suggestion } from '../../../protocol/nearest.ts';
import { type Database, type DbcMessage, messageNamed, type Signal, signalNamed } from './database.ts';
import { Halves, load, operation, rawOf } from './decoding/extraction.ts';
import { REGISTERS } from './decoding/operation.ts';
import { selects } from './frame-reader.ts';
import { bytesNeeded, readable, readBits, writeBits } from './layout.ts';
import { type BoundDatabase, MessageIndex } from './matching.ts';
import { rawValue } from './raw-value.ts';

/** Payload lengths of CAN FD frames above 8 bytes (ISO 11898-1, DLC 9 to 15). */
const fdLengths = [12, 16, 20, 24, 32, 48, 64];

/** Packs and unpacks frames by the names in DBCs. The first database with a name or id takes precedence. */
export class DbcCodec implements MessageCodec {
  readonly #databases: readonly Database[];
  readonly #indexes: readonly MessageIndex[];
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();
  readonly #tables = new Map<Signal, Int32Array>();

  /** @throws VigieError `usage.wrong` for anything but a list of `{ database }`, as `parseDbc` returns them */
  constructor(bound: readonly BoundDatabase[]) {
    if (!Array.isArray(bound) || bound.some((entry) => entry?.database?.messages === undefined)) {
      throw new VigieError('usage.wrong', 'a codec takes a list of databases: new DbcCodec([{ database }])');
    }
    this.#databases = bound.map((entry) => entry.database);
    this.#indexes = this.#databases.map((database) => new MessageIndex(database));
  }

  /**
   * Returns a frame with the given physical values (or value-table names). Omitted signals are raw 0. CAN FD payloads
   * are padded with zeros to a valid length.
   * @throws VigieError `input.unknown` for an unknown message, signal or name. `input.malformed` for a value that
   * does not fit, for a signal that the given multiplexor values do not select, and for a message that is not a frame.
   */
  encode(message: string, values: Readonly<Record<string, number | string>>): NamedFrame {
    const found = this.#named(message);
    const where = `message ${message}`;
    const data = new Uint8Array(payloadLength(found, where));
    const given = Object.entries(values).map(([name, value]) => ({ signal: signalOf(found, name, where), value }));
    for (const { signal, value } of given) writeBits(data, signal, rawValue(signal, value, where));
    for (const { signal } of given) {
      const { selection } = signal;
      if (selection === undefined) continue;
      const selector = Number(readBits(data, selection.multiplexor));
      if (selection.ranges.some(([low, high]) => selector >= low && selector <= high)) continue;
      const ranges = selection.ranges.map(([low, high]) => (low === high ? `${low}` : `${low} to ${high}`)).join(', ');
      const what = `signal ${signal.name} is only in frames whose ${selection.multiplexor.name} is ${ranges} (raw)`;
      throw new VigieError('input.malformed', `${what}, not ${selector}`, { where });
    }
    for (const { signal, value } of given) {
      const kept = readBits(data, signal);
      if (kept === BigInt.asUintN(signal.length, rawValue(signal, value, where))) continue;
      const what = `signal ${signal.name} shares bits with another given signal, and their values do not agree`;
      throw new VigieError('input.malformed', what, { where });
    }
    const flags = (found.fd ? FD : 0) | (found.bitRateSwitch ? BIT_RATE_SWITCH : 0);
    return { id: found.id, flags, data };
  }

  /** Returns the physical values of a frame, integers beyond 2^53 rounded. Omits signals that are not in the frame. */
  decode(
    frame: NamedFrame,
  ): { readonly message: string; readonly signals: Readonly<Record<string, number>> } | undefined {
    for (const index of this.#indexes) {
      const message = index.find(frame.id);
      if (message !== undefined) return { message: message.name, signals: this.#signals(message, frame.data) };
    }
    return undefined;
  }

  /**
   * Returns the name of a physical value in the value table of its signal, such as `locked`; undefined if it has none.
   * @throws VigieError `input.unknown` for an unknown message or signal
   */
  valueName(message: string, signal: string, value: number): string | undefined {
    const { choices, factor, offset } = signalOf(this.#named(message), signal, `message ${message}`);
    return choices?.get(factor === 0 ? value : Math.round((value - offset) / factor));
  }

  #signals(message: DbcMessage, data: Uint8Array): Record<string, number> {
    load(this.#registers, data, 0, data.length);
    const raws = new Map<Signal, number | undefined>();
    const raw = (signal: Signal): number | undefined => {
      if (raws.has(signal)) return raws.get(signal);
      const { selection } = signal;
      const selector = selection === undefined ? 0 : raw(selection.multiplexor);
      const selected =
        selector !== undefined &&
        (selection === undefined || selects(selection.multiplexor, selector, selection.ranges));
      const there = selected && readable(signal) && bytesNeeded(signal) <= data.length;
      const value = there ? rawOf(this.#registers, this.#tableOf(signal), 0, this.#halves) : undefined;
      raws.set(signal, value);
      return value;
    };
    const signals: Record<string, number> = Object.create(null);
    for (const signal of message.signals) {
      const value = raw(signal);
      if (value !== undefined) signals[signal.name] = value * signal.factor + signal.offset;
    }
    return signals;
  }

  #tableOf(signal: Signal): Int32Array {
    let table = this.#tables.get(signal);
    if (table === undefined) {
      table = Int32Array.from(operation(signal));
      this.#tables.set(signal, table);
    }
    return table;
  }

  #named(name: string): DbcMessage {
    for (const database of this.#databases) {
      const message = messageNamed(database, name);
      if (message !== undefined) return message;
    }
    const names = this.#databases.flatMap((database) => database.messages.map((message) => message.name));
    throw new VigieError('input.unknown', `there is no message ${name}${hint(name, names)}`);
  }
}

function signalOf(message: DbcMessage, name: string, where: string): Signal {
  const signal = signalNamed(message, name);
  if (signal === undefined) {
    const names = message.signals.map((candidate) => candidate.name);
    throw new VigieError('input.unknown', `there is no signal ${name}${hint(name, names)}`, { where });
  }
  if (bytesNeeded(signal) > message.length) {
    const what = `signal ${name} lies past the ${counted(message.length, 'byte')} of its message; correct the network description`;
    throw new VigieError('input.malformed', what, { where });
  }
  return signal;
}

function hint(name: string, names: readonly string[]): string {
  const meant = suggestion(name, names);
  return meant === undefined ? '' : `; ${meant}`;
}

function payloadLength(message: DbcMessage, where: string): number {
  if (!message.onBus) throw new VigieError('input.malformed', 'the message is in no frame', { where });
  if (message.length <= 8) return message.length;
  const padded = message.fd ? fdLengths.find((length) => length >= message.length) : undefined;
  if (padded !== undefined) return padded;
  const what = `its ${message.length} bytes do not fit in one ${message.fd ? 'CAN FD' : 'classic CAN'} frame`;
  throw new VigieError('input.malformed', what, { where });
}
