/** Values of a freeze frame, decoded with a signal set's signals for the current values of the same parameters. */
import { defined } from '../../protocol/defined.ts';
import { type FreezeFrameValue, MOST_FREEZE_VALUES } from '../../protocol/schema/fault.ts';
import { type ParameterReader, sampleReader } from './poll/readers.ts';
import type { SignalSet } from './signal-set.ts';

/** Parameter of a freeze frame that contains its cause, a trouble code (SAE J1979-DA, PID 02). */
export const CAUSE = 0x02;

/** Largest value: records store millionths, which would not be exact above it. */
const LARGEST = 1e9;

export interface FrozenSignal {
  readonly name: string;
  readonly unit: string | undefined;
  readonly read: ParameterReader;
}

/** Adds the values decoded from the data of one parameter. */
export function addFrozenValues(values: FreezeFrameValue[], signals: readonly FrozenSignal[], data: Uint8Array): void {
  for (const { name, unit, read } of signals) {
    const value = read(data)?.value;
    if (value === undefined || Math.abs(value) > LARGEST || values.length === MOST_FREEZE_VALUES) continue;
    values.push({ name, value, ...defined({ unit }) });
  }
}

/** Returns service 01's signals by parameter: service 02 has the same data after the frame number (SAE J1979 §6.2). */
export function frozenSignals(sets: readonly SignalSet[]): ReadonlyMap<number, readonly FrozenSignal[]> {
  const found = new Map<number, readonly FrozenSignal[]>();
  for (const command of sets.flatMap(({ commands }) => commands)) {
    const { service, parameter, debug, years } = command;
    const number = Number.parseInt(parameter, 16);
    if (service !== 0x01 || number === CAUSE || debug || years !== undefined) continue;
    const signals = command.signals.flatMap((signal) => {
      // Support flags of signals are not values.
      if (/(Supported|_SUP)$/.test(signal.id)) return [];
      const read = sampleReader(signal, command);
      const { unit } = signal.format;
      return read === undefined ? [] : [{ name: signal.id, unit: unit === 'scalar' ? undefined : unit, read }];
    });
    found.set(number, signals);
  }
  return found;
}
