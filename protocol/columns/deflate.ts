/**
 * Writes raw deflate (RFC 1951). The decoder (inflate.ts) reads the output of any deflate, so a program can pass in an
 * implementation that is faster than this portable one and has different output.
 */
import { deflateSync } from 'fflate';

/** Compresses to raw deflate, without header and checksum; a dictionary is treated as preceding input. */
export type Deflate = (bytes: Uint8Array, dictionary?: Uint8Array) => Uint8Array;

/** Empty dictionary. */
export const NO_DICTIONARY: Uint8Array = new Uint8Array(0);

/**
 * Runs everywhere. With a dictionary, a small hash table (allocated for every message) finds common parts of messages
 * as well as a large one; a longer search saves a byte per message.
 */
export const portableDeflate: Deflate = (bytes, dictionary) =>
  deflateSync(bytes, dictionary === undefined ? { level: 6, mem: 4 } : { level: 7, mem: 0, dictionary });
