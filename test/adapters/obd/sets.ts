import { ObdDecoder, parseSignalSet, type SignalSet } from '../../../adapters/obd/index.ts';

/** A signal set with these commands. Defaults: a header, a period, and a one-byte signal RAW. */
export function setOf(...commands: Record<string, unknown>[]): SignalSet {
  return parseSignalSet(
    JSON.stringify({
      commands: commands.map((command) => ({ hdr: '7E0', freq: 1, signals: [raw('RAW')], ...command })),
    }),
    'set.json',
  );
}

export function raw(id: string, fmt: Record<string, unknown> = {}): Record<string, unknown> {
  return { id, name: id, fmt: { len: 8, max: 255, unit: 'scalar', ...fmt } };
}

/** The standard commands used by the tests. */
export const standard: SignalSet = setOf(
  { rax: '7E8', cmd: { '01': '0C' }, signals: [raw('RPM', { len: 16, max: 16384, div: 4, unit: 'rpm' })] },
  { rax: '7E8', cmd: { '01': '0D' }, signals: [raw('VSS', { nullmax: 255, unit: 'kilometersPerHour' })] },
  { rax: '7E8', cmd: { '09': '02' }, signals: [raw('VIN', { bix: 8, len: 136, unit: 'ascii' })] },
  { hdr: '7A0', rax: '7A8', cmd: { '22': 'C00B' }, signals: [raw('TIRE', { bix: 32, div: 5 })] },
);

export function valuesOf(response: string, command?: string, ...sets: SignalSet[]): Record<string, unknown> {
  const decoder = new ObdDecoder(sets.length === 0 ? [standard] : sets);
  return { ...decoder.decode(command === undefined ? { response } : { command, response }).values };
}

/** The value of a field in an answer with these data bytes. */
export function field(fmt: Record<string, unknown>, data: string): unknown {
  const set = setOf({ cmd: { '22': 'F190' }, signals: [raw('S', fmt)] });
  return valuesOf(`62F190${data}`, undefined, set)['S'];
}
