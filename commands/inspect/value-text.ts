import { type Signal, scaleOf, writable } from '../../adapters/can/dbc/index.ts';
import { rounded } from '../../protocol/decimals.ts';

/** Returns a function that rounds physical values of a signal to the decimals that they can have. */
export function valuesOf(signal: Signal): (value: number) => number | 'nan' | 'inf' | '-inf' {
  const scale = scaleOf(signal);
  return (value) => writable(rounded(value, scale));
}
