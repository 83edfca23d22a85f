import { type Signal, scaleOf, writable } from '../../adapters/can/dbc/index.ts';
import { rounded } from '../../protocol/decimals.ts';

/** Physical values of a signal with the decimals that it can have. */
export function valuesOf(signal: Signal): (value: number) => number | 'nan' | 'inf' | '-inf' {
  const scale = scaleOf(signal);
  return (value) => writable(rounded(value, scale));
}
