/**
 * Writes raw deflate (RFC 1951). The decoder (inflate.ts) reads the output of any deflate: a program that has a faster
 * one than this portable one passes it in, and the bytes need not be the same.
 */
import { deflateSync } from 'fflate';

/** Compresses to raw deflate, without header and checksum, and without a dictionary. */
export type Deflate = (bytes: Uint8Array) => Uint8Array;

/** The dictionary of what has none. */
export const NO_DICTIONARY: Uint8Array = new Uint8Array(0);

/** Works everywhere. */
export const portableDeflate: Deflate = (bytes) => deflateSync(bytes, { level: 6, mem: 4 });

/**
 * The same, as if `dictionary` had gone before. A small table finds what messages have in common as well as a large one
 * and is made for every message; what is searched longer saves a byte a message.
 */
export function deflateAfter(dictionary: Uint8Array, bytes: Uint8Array): Uint8Array {
  return deflateSync(bytes, { level: 7, mem: 0, dictionary });
}
