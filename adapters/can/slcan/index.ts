export type { Dialect, Rates } from './bit-rates.ts';
export { SlcanBus, type SlcanOptions } from './bus.ts';
