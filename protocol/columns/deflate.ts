/**
 * Writes raw deflate (RFC 1951). The decoder (inflate.ts) reads the output of any deflate: a program that has a faster
 * one than this portable one passes it in, and the bytes need not be the same.
 */
import { deflateSync } from 'fflate';

/** Compresses to raw deflate, without header and checksum; with a dictionary, as if that had gone before. */
export type Deflate = (bytes: Uint8Array, dictionary?: Uint8Array) => Uint8Array;

/** The dictionary of what has none. */
export const NO_DICTIONARY: Uint8Array = new Uint8Array(0);

/**
 * Works everywhere. With a dictionary a small table, which is made for every message, finds what messages have in common
 * as well as a large one; a longer search saves a byte a message.
 */
export const portableDeflate: Deflate = (bytes, dictionary) =>
  deflateSync(bytes, dictionary === undefined ? { level: 6, mem: 4 } : { level: 7, mem: 0, dictionary });
