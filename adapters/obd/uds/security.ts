/** Computation of keys from seeds (ISO 14229-1:2020 §10.4), which each manufacturer of control units defines. */
import { VigieError } from '../../../protocol/errors.ts';

/** Input of the computation of a key. */
export interface KeyRequest {
  /** Seed of the control unit, at least one byte. */
  readonly seed: Uint8Array;
  /** Constant of the profile. Empty if the profile has none. */
  readonly constant: Uint8Array;
  /** Level of `requestSeed` that returned the seed, odd, 01..7D. */
  readonly level: number;
  /** Aborted when the key is no longer needed. */
  readonly signal: AbortSignal;
}

/** Computes the key that answers a seed. An exception, or a duration of more than some seconds, ends the command. */
export type KeyHook = (request: KeyRequest) => Uint8Array | Promise<Uint8Array>;

/** Key hooks by their name in profiles. */
export type KeyHooks = ReadonlyMap<string, KeyHook>;

/** Combines each byte of the seed with a byte of the constant, which is repeated. */
function byByte(combine: (seed: number, constant: number) => number): KeyHook {
  return ({ seed, constant }) => {
    if (constant.length === 0) throw new VigieError('command.actuation', 'the profile gives no constant for the key');
    return seed.map((byte, i) => combine(byte, constant[i % constant.length] as number) & 0xff);
  };
}

/**
 * Keys of test benches and of simple control units. `xor` and `add` (modulo 256) combine the seed with the constant
 * byte by byte, `complement` inverts the seed.
 */
export const simpleKeys: KeyHooks = new Map<string, KeyHook>([
  ['xor', byByte((seed, constant) => seed ^ constant)],
  ['add', byByte((seed, constant) => seed + constant)],
  ['complement', ({ seed }) => seed.map((byte) => ~byte & 0xff)],
]);
