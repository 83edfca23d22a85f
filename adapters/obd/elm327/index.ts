export { Elm327 } from './elm327.ts';
export type { Protocol } from './protocol.ts';
