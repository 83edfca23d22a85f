/** Encodes values of the core as CBOR (RFC 8949). */
import { Decoder, Encoder } from 'cbor-x/index-no-eval';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { maximumPayload } from './record.ts';

const encoder = new Encoder({ useRecords: false, tagUint8Array: false });
const decoder = new Decoder({ useRecords: false, mapsAsObjects: true });

/** Bytes reserved for the items of a record other than the value. */
const room = 1 << 16;

/**
 * Encodes a value. The bytes are valid until the next call. Throws `input.malformed` if CBOR cannot represent the
 * value, and `message.unbounded` if it is too long.
 */
export function encodeValue(value: unknown, what: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    const buffer = encoder.encode(value);
    // Convert the Buffer, because its `slice` would not copy.
    bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new VigieError('input.malformed', `${what} cannot be written as CBOR (${reason})`, { cause });
  }
  if (bytes.length + room > maximumPayload) {
    throw new VigieError('message.unbounded', `${what} takes ${bytes.length} bytes; it is too long to be kept`);
  }
  return bytes;
}

/** Decodes a value; the caller may reuse the bytes afterwards. Throws the decoder's errors. */
export function decodeValue(bytes: Uint8Array): unknown {
  // The decoder returns byte strings as views of its input, so pass it a copy.
  return decoder.decode(bytes.slice());
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
