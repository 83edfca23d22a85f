/** Values of the core as CBOR (RFC 8949). */
import { Decoder, Encoder } from 'cbor-x/index-no-eval';
import { VigieError } from '../../protocol/errors.ts';
import { maximumPayload } from './record.ts';

const encoder = new Encoder({ useRecords: false, tagUint8Array: false });
const decoder = new Decoder({ useRecords: false, mapsAsObjects: true });

/** Room for the members of a record beside the value. */
const room = 1 << 16;

/** Bytes of a value, good until the next is encoded. Throws `input.malformed` for what CBOR has no form for, `message.unbounded` for too much. */
export function encodeValue(value: unknown, what: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    const buffer = encoder.encode(value);
    // Not as the Buffer it is: slice of that would not copy.
    bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VigieError('input.malformed', `${what} cannot be written as CBOR (${reason})`, { cause });
  }
  if (bytes.length + room > maximumPayload) {
    throw new VigieError('message.unbounded', `${what} takes ${bytes.length} bytes; it is too long to be kept`);
  }
  return bytes;
}

/** The value again; the bytes may be used for something else afterwards. Throws what the decoder throws. */
export function decodeValue(bytes: Uint8Array): unknown {
  // The decoder gives byte strings as views.
  return decoder.decode(bytes.slice());
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
