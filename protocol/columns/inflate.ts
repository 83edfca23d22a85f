/** Raw deflate (RFC 1951) read within the size that the message announces. */

import { inflateSync } from 'fflate';
import { defined } from '../defined.ts';
import { VigieError } from '../errors.ts';

/** Three bits, the shortest match, give at most 258 bytes. */
const RATIO = 1032;
/** No writer makes its input twice as long; the shortest inputs take a header more. */
const longest = (size: number): number => 2 * size + 64;

/**
 * The `size` bytes that were compressed with `dictionary` before them. The memory is bounded by `size`, the time by the
 * length of the input, which must not be much longer than the content.
 * Throws `message.malformed` for bytes that are not deflate or give another number of bytes.
 */
export function inflate(compressed: Uint8Array, size: number, dictionary: Uint8Array): Uint8Array {
  if (size > compressed.length * RATIO) throw fault(`cannot give ${size} bytes from ${compressed.length}`);
  if (compressed.length > longest(size)) throw fault(`has ${compressed.length} bytes and is to give only ${size}`);
  // fflate drops what does not fit and reports nothing: one byte too many shows that there was more.
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
