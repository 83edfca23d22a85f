/**
 * A second, naive implementation of DBC files and frames, as the format defines them: statements by regular expression,
 * raw values bit by bit in BigInt, physical values in exact decimals. It is slow and independent of the adapters.
 */

export interface NaiveSignal {
  readonly symbol: string;
  readonly name: string;
  /** `M`, `m3`, `m3M` or empty. */
  readonly indicator: string;
  readonly start: number;
  readonly length: number;
  readonly intel: boolean;
  readonly signed: boolean;
  /** IEEE 754 of the whole length. */
  readonly float: boolean;
  /** Text as in the file. */
  readonly factor: string;
  readonly offset: string;
  readonly names: ReadonlyMap<bigint, string>;
  /** The multiplexor that SG_MUL_VAL_ names, with its ranges. */
  readonly ranges: readonly { readonly multiplexor: string; readonly low: bigint; readonly high: bigint }[];
}

export interface NaiveMessage {
  /** Identifier without the bit that marks 29 bits. */
  readonly id: number;
  readonly extended: boolean;
  /** True if no frame belongs to the message. */
  readonly nowhere: boolean;
  readonly j1939: boolean;
  readonly name: string;
  readonly length: number;
  readonly signals: readonly NaiveSignal[];
}

/** Decodes UTF-8 if valid, otherwise Windows-1252, the encoding of the tools that write these files. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const number = String.raw`[-+]?[\d.]+(?:[eE][-+]?\d+)?`;
const signalPattern = new RegExp(
  String.raw`^\s*SG_\s+(\S+?)\s*(?:\s(M|m\d+M?))?\s*:\s*(\d+)\|(\d+)@([01])([-+])\s*\(\s*(${number})\s*,\s*(${number})\s*\)`,
);

/** All messages and signals; a duplicate signal only once. */
export function readNaively(bytes: Uint8Array): NaiveMessage[] {
  // Comments may contain text that resembles statements.
  const text = textOf(bytes)
    .replaceAll('\r\n', '\n')
    .replace(/^CM_[^"]*"(?:[^"]|"(?!\s*;))*"\s*;/gm, '');
  const all = (pattern: RegExp): string[][] => Array.from(text.matchAll(pattern), (match) => match.slice(1));
  const tables = new Map(all(/^VAL_TABLE_ +(\w+) (.*);\s*$/gm).map(([name = '', list = '']) => [name, namesIn(list)]));
  const names = new Map(
    all(/^VAL_ +(\d+) (\w+) (.*);\s*$/gm).map(([id, signal, list = '']) => [
      `${id} ${signal}`,
      tables.get(list.trim()) ?? namesIn(list),
    ]),
  );
  const floats = new Set(all(/^SIG_VALTYPE_ +(\d+) +(\w+) *: *[12] *;/gm).map(([id, signal]) => `${id} ${signal}`));
  const ranges = all(/^SG_MUL_VAL_ +(\d+) +(\w+) +(\w+) +(.*);/gm).flatMap(
    ([id, signal, multiplexor = '', list = '']) =>
      list.split(',').map((range) => {
        const [low = '', high = ''] = range.trim().split('-');
        return { signal: `${id} ${signal}`, multiplexor, low: BigInt(low), high: BigInt(high) };
      }),
  );
  const longSignals = new Map(
    all(/^BA_ +"SystemSignalLongSymbol" +SG_ +(\d+) +(\w+) +"(.*)"/gm).map(([id, signal, long = '']) => [
      `${id} ${signal}`,
      long,
    ]),
  );
  const longMessages = new Map(
    all(/^BA_ +"SystemMessageLongSymbol" +BO_ +(\d+) +"(.*)"/gm).map(([id, long = '']) => [id, long]),
  );
  const labels = /^BA_DEF_ +BO_ +"VFrameFormat" +ENUM +(.*);/m.exec(text)?.[1]?.match(/"[^"]*"/g) ?? [];
  const usual = /^BA_DEF_DEF_ +"VFrameFormat" +("[^"]*")/m.exec(text)?.[1];
  const formats = new Map(
    all(/^BA_ +"VFrameFormat" +BO_ +(\d+) +(\d+)/gm).map(([id, index]) => [id, labels[Number(index)]]),
  );
  const protocol = /^BA_ +"ProtocolType" +"J1939"/m.test(text);

  const messages: (NaiveMessage & { signals: NaiveSignal[] })[] = [];
  let id = '';
  for (const line of text.split('\n')) {
    const message = /^BO_\s+(\d+)\s+(\S+?)\s*:\s*(\d+)/.exec(line);
    if (message !== null) {
      const [, written = '', symbol = '', length] = message;
      id = written;
      const value = Number(id);
      const extended = value >= 2 ** 31 || value > 0x7ff;
      const format = formats.get(id) ?? usual;
      messages.push({
        id: value % 2 ** 31,
        extended,
        nowhere: symbol === 'VECTOR__INDEPENDENT_SIG_MSG',
        j1939: extended && (format === undefined ? protocol : format === '"J1939PG"'),
        name: longMessages.get(id) || symbol,
        length: Number(length),
        signals: [],
      });
    }
    const signal = signalPattern.exec(line);
    const owner = messages.at(-1);
    if (signal === null || owner === undefined) continue;
    const [, symbol = '', indicator = '', start, length, order, sign, factor = '', offset = ''] = signal;
    if (owner.signals.some((other) => other.symbol === symbol)) continue;
    const bits = Number(length);
    const key = `${id} ${symbol}`;
    owner.signals.push({
      symbol,
      name: longSignals.get(key) || symbol,
      indicator,
      start: Number(start),
      length: bits,
      intel: order === '1',
      signed: sign === '-',
      float: floats.has(key) && [16, 32, 64].includes(bits),
      factor,
      offset,
      names: names.get(key) ?? new Map(),
      ranges: ranges.filter((range) => range.signal === key),
    });
  }
  return messages;
}

function namesIn(list: string): Map<bigint, string> {
  return new Map(
    Array.from(list.matchAll(/(-?\w+) +"([^"]*)"/g), ([, raw = '', name = '']) => [BigInt(raw), name] as const),
  );
}

/**
 * The message of a frame. For SAE J1939 only the parameter group counts (J1939-21 §5.2.1): of several messages with one
 * group, the one with the frame's source address, else the one with the null address 254, else the first.
 */
export function messageOf(messages: readonly NaiveMessage[], id: number, extended: boolean): NaiveMessage | undefined {
  const known = messages.filter((message) => !message.nowhere && message.extended === extended);
  const same = known.findLast((message) => message.id === id);
  if (same !== undefined) return same;
  const group = groupOf(id);
  const candidates = known.filter((message) => message.j1939 && groupOf(message.id) === group);
  return (
    candidates.find((message) => message.id % 256 === id % 256) ??
    candidates.find((message) => message.id % 256 === 254) ??
    candidates[0]
  );
}

/** Reserved bit, data page, PDU format, and PDU specific if the PDU format is 240 or more. */
function groupOf(id: number): string {
  const page = Math.floor(id / 2 ** 24) % 4;
  const format = Math.floor(id / 2 ** 16) % 256;
  const specific = Math.floor(id / 2 ** 8) % 256;
  return [page, format, ...(format >= 240 ? [specific] : [])].join('.');
}

/** Bit numbers, starting at the least significant bit of the value. */
export function bitsOf({ start, length, intel }: NaiveSignal): number[] {
  const bits: number[] = [];
  let at = start;
  for (let count = 0; count < length; count++) {
    bits.push(at);
    // Motorola: down within the byte, then the highest bit of the next byte.
    if (intel) at++;
    else at = at % 8 === 0 ? at + 15 : at - 1;
  }
  return intel ? bits : bits.reverse();
}

/** The bits as an unsigned number; undefined if one of them is outside the payload. */
export function unsignedOf(signal: NaiveSignal, data: Uint8Array): bigint | undefined {
  let value = 0n;
  for (const [power, bit] of bitsOf(signal).entries()) {
    const byte = data[Math.floor(bit / 8)];
    if (byte === undefined) return undefined;
    if (Math.floor(byte / 2 ** (bit % 8)) % 2 === 1) value += 2n ** BigInt(power);
  }
  return value;
}

/** Returns whether the signal is in the frame: all its multiplexors select it, and all its bits are in the payload. */
export function present(signal: NaiveSignal, message: NaiveMessage, data: Uint8Array): boolean {
  if (unsignedOf(signal, data) === undefined) return false;
  const selection = selectionOf(signal, message);
  if (selection === undefined) return true;
  const { multiplexor, ranges } = selection;
  const selector = unsignedOf(multiplexor, data);
  if (selector === undefined || !present(multiplexor, message, data)) return false;
  return ranges.some(({ low, high }) => selector >= low && selector <= high);
}

export function selectionOf(
  signal: NaiveSignal,
  message: NaiveMessage,
): { multiplexor: NaiveSignal; ranges: readonly { low: bigint; high: bigint }[] } | undefined {
  const named = message.signals.find(({ symbol }) => symbol === signal.ranges[0]?.multiplexor);
  if (named !== undefined) return { multiplexor: named, ranges: signal.ranges };
  const value = /^m(\d+)/.exec(signal.indicator)?.[1];
  const only = message.signals.find(({ indicator }) => indicator === 'M');
  if (value === undefined || only === undefined) return undefined;
  return { multiplexor: only, ranges: [{ low: BigInt(value), high: BigInt(value) }] };
}

export interface NaiveValue {
  /** Integers beyond 2^53 as decimal text, non-finite values as `nan`, `inf` and `-inf`. */
  readonly value: number | string;
  /** Physical size of one step of the raw value. */
  readonly step: number;
  readonly choice: string | undefined;
}

/** Returns every signal of a frame by name. */
export function decodeNaively(message: NaiveMessage, data: Uint8Array): Map<string, NaiveValue> {
  const found = new Map<string, NaiveValue>();
  for (const signal of message.signals) {
    if (!present(signal, message, data)) continue;
    const unsigned = unsignedOf(signal, data) as bigint;
    const { factor, offset, length, name, names } = signal;
    const step = signal.float ? 0 : Math.abs(Number(factor));
    if (signal.float) {
      const value = floatOf(unsigned, length) * Number(factor) + Number(offset);
      const text = Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
      found.set(name, { value: Number.isFinite(value) ? value : text, step, choice: undefined });
      continue;
    }
    const negative = signal.signed && unsigned >= 2n ** BigInt(length - 1);
    const raw = negative ? unsigned - 2n ** BigInt(length) : unsigned;
    found.set(name, { value: physical(raw, factor, offset), step, choice: names.get(raw) });
  }
  return found;
}

/** raw × factor + offset, rounded only at the end. */
function physical(raw: bigint, factor: string, offset: string): number | string {
  const [by, plus] = [decimal(factor), decimal(offset)];
  const digits = Math.max(by.digits, plus.digits);
  const sum = raw * by.value * 10n ** BigInt(digits - by.digits) + plus.value * 10n ** BigInt(digits - plus.digits);
  // With integer factor and offset the value is an integer, and must not be rounded to a neighbour.
  const wholeFactor = by.value % 10n ** BigInt(by.digits) === 0n && plus.value % 10n ** BigInt(plus.digits) === 0n;
  if (wholeFactor) {
    const integer = sum / 10n ** BigInt(digits);
    return integer > 2n ** 53n || integer < -(2n ** 53n) ? integer.toString() : Number(integer);
  }
  const size = (sum < 0n ? -sum : sum).toString().padStart(digits + 1, '0');
  return Number(`${sum < 0n ? '-' : ''}${size.slice(0, size.length - digits)}.${size.slice(size.length - digits)}`);
}

/** Parses a decimal: `-1.25e-1` is -125 with three decimals. */
function decimal(text: string): { value: bigint; digits: number } {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const size = BigInt(whole + fraction || '0');
  const digits = fraction.length - Number(exponent);
  const value = sign === '-' ? -size : size;
  return digits >= 0 ? { value, digits } : { value: value * 10n ** BigInt(-digits), digits: 0 };
}

/** IEEE 754: sign, biased exponent, fraction. */
function floatOf(bits: bigint, length: number): number {
  const fractionBits = length === 16 ? 10 : length === 32 ? 23 : 52;
  const exponentBits = length - 1 - fractionBits;
  const sign = bits >> BigInt(length - 1) === 1n ? -1 : 1;
  const exponent = Number((bits >> BigInt(fractionBits)) % 2n ** BigInt(exponentBits));
  const fraction = Number(bits % 2n ** BigInt(fractionBits)) / 2 ** fractionBits;
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  // In two steps, because one power of two cannot represent the smallest numbers.
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias);
  return sign * (1 + fraction) * 2 ** (exponent - bias);
}
