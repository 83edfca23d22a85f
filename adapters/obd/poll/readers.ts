import { fieldReader, type SignalFormat } from '../signal-format.ts';
import type { ObdCommand, ObdSignal } from '../signal-set.ts';

/** A value as in readings. */
interface Sample {
  /** Physical value; for signals with a `map`, the raw number: the names in the map are for users, not for profiles. */
  readonly value: number;
  /** Integer before scaling; without scaling, the value clamped to the set's bounds. */
  readonly raw: number;
}

/** Decodes the data after the echoed parameter to a sample; undefined: no value, or the answer is too short. */
export type ParameterReader = (data: Uint8Array) => Sample | undefined;

/** Decodes the data after the echoed parameter to text; undefined: the answer is too short, or only padding. */
export type TextReader = (data: Uint8Array) => string | undefined;

/** Returns a reader of a signal as text; undefined for numeric signals. */
export function textReader({ format }: ObdSignal): TextReader | undefined {
  if (format.unit !== 'ascii' || format.map !== undefined) return undefined;
  const read = fieldReader(format);
  return (data) => {
    const value = read(data);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
}

/**
 * Returns a reader of a signal as numbers; undefined for text. If the command also reports whether the
 * car supports the signal, as `<id>Supported` or `<id>_SUP`, the signal has a value only if that reads 1.
 */
export function sampleReader(signal: ObdSignal, command: ObdCommand): ParameterReader | undefined {
  const { format } = signal;
  if (format.unit === 'ascii') return undefined;
  const physical = fieldReader(withoutMap(format));
  const scaled = format.mul !== 1 || format.div !== 1 || format.add !== 0;
  const plain = fieldReader({
    bix: format.bix,
    len: format.len,
    blsb: format.blsb,
    sign: format.sign,
    mul: 1,
    div: 1,
    add: 0,
  });
  const names = [`${signal.id}Supported`, `${signal.id}_SUP`];
  const gate = command.signals.find(({ id, format: { len } }) => len === 1 && names.includes(id));
  const supported = gate === undefined ? undefined : fieldReader(withoutMap(gate.format));
  return (data) => {
    if (supported !== undefined && supported(data) !== 1) return undefined;
    const value = physical(data);
    const raw = plain(data);
    if (value === undefined || value === null || raw === undefined || raw === null) return undefined;
    // Integers above 2^53 are returned as text; a reading is a number.
    return { value: Number(value), raw: Number(scaled ? raw : value) };
  };
}

function withoutMap(format: SignalFormat): SignalFormat {
  const { map: _, ...rest } = format;
  return rest;
}
