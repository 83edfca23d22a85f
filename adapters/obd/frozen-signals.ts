/** Values of the moment of a fault, by the signals that a signal set has for the same parameters of now. */
import { defined } from '../../protocol/defined.ts';
import { type FreezeFrameValue, MOST_FREEZE_VALUES } from '../../protocol/schema/fault.ts';
import { type ParameterReader, sampleReader } from './poll/readers.ts';
import type { SignalSet } from './signal-set.ts';

/** Parameter of a freeze frame with the code that caused it (SAE J1979-DA, PID 02). */
export const CAUSE = 0x02;

/** Records count millionths; beyond this they would not be exact. */
const LARGEST = 1e9;

export interface FrozenSignal {
  readonly name: string;
  readonly unit: string | undefined;
  readonly read: ParameterReader;
}

/** Adds the values that the data of one parameter has. */
export function addFrozenValues(values: FreezeFrameValue[], signals: readonly FrozenSignal[], data: Uint8Array): void {
  for (const { name, unit, read } of signals) {
    const value = read(data)?.value;
    if (value === undefined || Math.abs(value) > LARGEST || values.length === MOST_FREEZE_VALUES) continue;
    values.push({ name, value, ...defined({ unit }) });
  }
}

/** Signals of service 01 by parameter: service 02 has the same behind the number of the frame (SAE J1979 §6.2). */
export function frozenSignals(sets: readonly SignalSet[]): ReadonlyMap<number, readonly FrozenSignal[]> {
  const found = new Map<number, readonly FrozenSignal[]>();
  for (const command of sets.flatMap(({ commands }) => commands)) {
    const { service, parameter, debug, years } = command;
    const number = Number.parseInt(parameter, 16);
    if (service !== 0x01 || number === CAUSE || debug || years !== undefined) continue;
    const signals = command.signals.flatMap((signal) => {
      // Whether the car has a signal is no value of it.
      if (/(Supported|_SUP)$/.test(signal.id)) return [];
      const read = sampleReader(signal, command);
      const { unit } = signal.format;
      return read === undefined ? [] : [{ name: signal.id, unit: unit === 'scalar' ? undefined : unit, read }];
    });
    found.set(number, signals);
  }
  return found;
}
