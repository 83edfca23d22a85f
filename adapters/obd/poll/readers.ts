import { fieldReader, type SignalFormat } from '../signal-format.ts';
import type { ObdCommand, ObdSignal } from '../signal-set.ts';

/** A value as readings carry it. */
interface Sample {
  /** Physical; the raw number where the signal set has a `map`, whose names are for people and not for profiles. */
  readonly value: number;
  /** The integer before scaling; where nothing is scaled, what the bounds of the set made of it. */
  readonly raw: number;
}

/** Data behind the echoed parameter to a sample; undefined: no value, or the answer is too short. */
export type ParameterReader = (data: Uint8Array) => Sample | undefined;

/** Data behind the echoed parameter to a text; undefined: the answer is too short, or has only padding. */
export type TextReader = (data: Uint8Array) => string | undefined;

/** Reads a signal as text; undefined for signals that are numbers. */
export function textReader({ format }: ObdSignal): TextReader | undefined {
  if (format.unit !== 'ascii' || format.map !== undefined) return undefined;
  const read = fieldReader(format);
  return (data) => {
    const value = read(data);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
}

/**
 * Reads a signal as numbers; undefined for text. Where the command also says whether the
 * car has the signal, under the name `<id>Supported` or `<id>_SUP`, it has no value unless that reads 1.
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
    // Integers beyond 2^53 come as text; a reading is a number.
    return { value: Number(value), raw: Number(scaled ? raw : value) };
  };
}

function withoutMap(format: SignalFormat): SignalFormat {
  const { map: _, ...rest } = format;
  return rest;
}
