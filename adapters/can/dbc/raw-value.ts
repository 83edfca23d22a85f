/** Converts a value from a user or a command to the bits of a signal. */
import { VigieError } from '../../../protocol/errors.ts';
import { nearest } from '../../../protocol/nearest.ts';
import type { Signal } from './database.ts';

function refuse(signal: Signal, where: string, what: string): VigieError {
  return new VigieError('input.malformed', `signal ${signal.name}: ${what}`, { where });
}

const floats: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

/** Returns the bits of an IEEE 754 number; binary16 is rounded to nearest, ties to even. */
function floatBits(value: number, length: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  if (length === 64) {
    view.setFloat64(0, value);
    return view.getBigUint64(0);
  }
  if (length === 32) {
    view.setFloat32(0, value);
    return BigInt(view.getUint32(0));
  }
  return BigInt(halfBits(value));
}

function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  // 65520 is halfway between the largest binary16 number, 65504, and 2^16: it rounds to infinity.
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const steps = size / 2 ** (exponent - 10);
  const even = roundEven(steps);
  // A step count of 1024 or more is a normal number: carrying into the exponent results in the right bits.
  return sign | (even < 1024 && exponent === -14 ? even : ((exponent + 15) << 10) + even - 1024);
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** Returns the raw value of a name in the signal's value table. */
function rawOfChoice(signal: Signal, text: string): number | undefined {
  for (const [raw, name] of signal.choices ?? []) if (name === text) return raw;
  return undefined;
}

function checkRange(signal: Signal, raw: bigint, value: number | string, where: string): bigint {
  const bits = BigInt(signal.length);
  const low = signal.type === 'signed' ? -(1n << (bits - 1n)) : 0n;
  const high = signal.type === 'signed' ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n;
  if (raw >= low && raw <= high) return raw;
  const ends = [low, high].map((end) => Number(end) * signal.factor + signal.offset).sort((a, b) => a - b);
  throw refuse(signal, where, `${value} does not fit, its ${signal.length} bits hold ${ends[0]} to ${ends[1]}`);
}

/** Refuses physical values outside the declared range. A raw value with a name may be outside. */
function checkDeclared(signal: Signal, value: number, raw: number, where: string): void {
  if (signal.range === undefined || signal.choices?.has(raw)) return;
  const [minimum, maximum] = signal.range;
  // Authors round limits to few digits, so half a step beyond them is accepted.
  const slack = Math.abs(signal.factor) / 2;
  if (value >= minimum - slack && value <= maximum + slack) return;
  throw refuse(signal, where, `${value} is outside its range ${minimum} to ${maximum}`);
}

/**
 * Returns the bits of a signal as an integer (in two's complement if negative) for a physical value, rounded to the
 * nearest step, or for a name in its value table. Integers beyond 2^53 may be decimal text, and floats may be `nan`,
 * `inf`, `-inf`.
 * @throws VigieError `input.malformed` if the value does not fit, `input.unknown` for an unknown name.
 */
export function rawValue(signal: Signal, value: number | string, where: string): bigint {
  let physical: number;
  if (typeof value === 'string') {
    const raw = rawOfChoice(signal, value);
    if (raw !== undefined) {
      if (signal.type === 'float') return floatBits(raw, signal.length);
      if (!Number.isInteger(raw)) throw refuse(signal, where, `'${value}' is ${raw}, which is not a raw value`);
      return checkRange(signal, BigInt(raw), value, where);
    }
    const whole = Number.isInteger(signal.factor) && Number.isInteger(signal.offset) && signal.factor !== 0;
    if (signal.type !== 'float' && whole && /^[+-]?\d{1,30}$/.test(value)) return exactly(signal, BigInt(value), where);
    const special = signal.type === 'float' ? floats.get(value) : undefined;
    if (special === undefined) throw unknownName(signal, value, where);
    physical = special;
  } else {
    physical = value;
  }
  if (signal.type === 'float') {
    const raw = (physical - signal.offset) / signal.factor;
    if (!Number.isNaN(physical)) checkDeclared(signal, physical, raw, where);
    return floatBits(raw, signal.length);
  }
  if (!Number.isFinite(physical)) throw refuse(signal, where, `${physical} cannot be carried by an integer`);
  if (signal.factor === 0) {
    if (physical === signal.offset) return 0n;
    throw refuse(signal, where, `its factor is 0, so it can only be ${signal.offset}`);
  }
  const raw = Math.round((physical - signal.offset) / signal.factor);
  // “Does not fit its bits” explains more than “outside its range”, so this check comes first.
  const bits = checkRange(signal, BigInt(raw), physical, where);
  checkDeclared(signal, physical, raw, where);
  return bits;
}

function exactly(signal: Signal, value: bigint, where: string): bigint {
  const factor = BigInt(signal.factor);
  const difference = value - BigInt(signal.offset);
  if (difference % factor !== 0n) throw refuse(signal, where, `${value} is not a multiple of ${signal.factor} steps`);
  const raw = checkRange(signal, difference / factor, value.toString(), where);
  checkDeclared(signal, Number(value), Number(raw), where);
  return raw;
}

function unknownName(signal: Signal, value: string, where: string): VigieError {
  const names = [...(signal.choices?.values() ?? [])];
  const close = nearest(value, names);
  const known = `known: ${names.slice(0, 8).join(', ')}`;
  const meant = close.length === 0 ? known : `did you mean ${close.join(' or ')}? (${known})`;
  const hint = names.length === 0 ? 'it has no value table, give a number' : meant;
  return new VigieError('input.unknown', `signal ${signal.name} has no value named '${value}'; ${hint}`, { where });
}
