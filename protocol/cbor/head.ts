/**
 * The head of a data item (RFC 8949 section 3): three bits of major type and five of additional information, which
 * is the argument itself (0..23) or indicates that it follows in 1, 2, 4 or 8 bytes, big-endian.
 */
import { VigieError } from '../errors.ts';

/** Major types by their content. */
export const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

interface Head {
  readonly major: number;
  /** Length, count, value, tag number or simple value; inexact beyond 2^53. Not the value of a float. */
  readonly argument: number;
  /** Offset of the byte after the head; the bytes of a float belong to the head. */
  readonly next: number;
}

/**
 * Reads the head at `position`. Throws `message.malformed` if it is not well-formed (reserved additional
 * information, end of data, RFC 8949 appendix C) and for indefinite lengths, which this protocol does not use.
 */
export function head(bytes: Uint8Array, position: number): Head {
  const first = bytes[position];
  if (first === undefined) throw malformed('ends in the middle of a data item', position);
  const major = first >> 5;
  const information = first & 31;
  if (information < 24) return { major, argument: information, next: position + 1 };
  if (information === 31) throw malformed('has an indefinite length or a lone break', position);
  if (information > 27) throw malformed(`has reserved additional information ${information}`, position);
  const next = position + 1 + (1 << (information - 24));
  if (next > bytes.length) throw malformed('ends in the middle of a head', position);
  let argument = 0;
  for (let i = position + 1; i < next; i++) argument = argument * 256 + bytes[i]!;
  if (major === MAJOR.simple && information === 24 && argument < 32) {
    throw malformed(`has simple value ${argument} in two bytes`, position);
  }
  return { major, argument, next };
}

/** Returns the error for bytes that are not a message, with the offset of the fault. */
export function malformed(what: string, offset: number): VigieError {
  return new VigieError('message.malformed', `CBOR ${what} at byte ${offset}`);
}
