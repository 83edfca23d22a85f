/** Decompresses raw deflate (RFC 1951) within the size that the message announces. */

import { inflateSync } from 'fflate';
import { defined } from '../defined.ts';
import { VigieError } from '../errors.ts';

/** Highest compression ratio: the shortest match of three bits yields at most 258 bytes. */
const RATIO = 1032;
/** Longest input for `size` bytes. No encoder doubles its input; the shortest inputs need a header in addition. */
const longest = (size: number): number => 2 * size + 64;

/**
 * Returns the `size` bytes that were compressed after `dictionary`. `size` bounds the memory; the length of the input
 * bounds the time, and must not be much longer than the content.
 * Throws `message.malformed` for bytes that are not deflate or that yield another number of bytes.
 */
export function inflate(compressed: Uint8Array, size: number, dictionary: Uint8Array): Uint8Array {
  if (size > compressed.length * RATIO) throw fault(`cannot give ${size} bytes from ${compressed.length}`);
  if (compressed.length > longest(size)) throw fault(`has ${compressed.length} bytes and is to give only ${size}`);
  // fflate silently drops output that does not fit: one extra byte shows that there was more.
  const out = new Uint8Array(size + 1);
  let length: number;
  try {
    length = inflateSync(compressed, { out, dictionary }).length;
  } catch (cause) {
    throw fault(`cannot be read: ${(cause as Error).message}`, cause);
  }
  if (length !== size) throw fault(`gives ${length > size ? `more than ${size}` : length} bytes, not ${size}`);
  return out.subarray(0, size);
}

function fault(what: string, cause?: unknown): VigieError {
  return new VigieError('message.malformed', `deflate ${what}`, defined({ cause }));
}
