export type { AdapterFacts } from './adapter.ts';
export { Elm327, type Elm327Options } from './elm327.ts';
export { type Protocol, protocols } from './protocol.ts';
