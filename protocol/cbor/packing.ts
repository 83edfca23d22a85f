/**
 * Whole messages in fewer bytes: the shape and the numbers (shape.ts) of a message, compressed as raw deflate after the
 * dictionary of this protocol version, the number of bytes before compression put in front (LEB128), all of that as
 * one CBOR byte string in place of the map that a message is otherwise.
 */
import type { Deflate } from '../columns/deflate.ts';
import { inflate } from '../columns/inflate.ts';
import { NumberReader, NumberWriter } from '../columns/numbers.ts';
import { VigieError } from '../errors.ts';
import { dictionary } from './dictionary.ts';
import { head, MAJOR } from './head.ts';
import { join, split } from './shape.ts';
import { encodeTree } from './wire.ts';

/** Shorter messages gain nothing, bytes. */
const WORTH_IT = 64;
/** Bytes before compression that a packed message has at most; a longer one goes as it is. */
const PACKED_SIZE: number = 1 << 16;

/** Packed form of a message. Undefined if there is none or packing does not pay. */
export function pack(message: Uint8Array, deflate: Deflate): Uint8Array | undefined {
  if (message.length < WORTH_IT || message.length > PACKED_SIZE) return undefined;
  const content = split(message);
  if (content === undefined || content.length > PACKED_SIZE) return undefined;
  const size = new NumberWriter();
  size.unsigned(content.length);
  const compressed = deflate(content, dictionary);
  const packed = new Uint8Array(size.written.length + compressed.length);
  packed.set(size.written);
  packed.set(compressed, size.written.length);
  return encodeTree(packed);
}

/**
 * The message that was packed; a message that was not, as it is. Bounds of what comes out are still to be checked.
 * Throws `message.malformed`, and `message.unbounded` when it would have more than {@link PACKED_SIZE} bytes.
 */
export function unpack(payload: Uint8Array): Uint8Array {
  const parts = unpackParts(payload);
  return parts === undefined ? payload : join(parts);
}

/** Shape and numbers of a message that was packed (shape.ts), with the errors of {@link unpack}; undefined for another. */
export function unpackParts(payload: Uint8Array): Uint8Array | undefined {
  const { major, argument, next } = head(payload, 0);
  if (major !== MAJOR.bytes) return undefined;
  const reader = new NumberReader(payload.subarray(next));
  if (reader.left !== argument) throw reader.fault(`have ${reader.left} bytes, not ${argument}`);
  const size = reader.unsigned();
  if (size > PACKED_SIZE) {
    throw new VigieError('message.unbounded', `a packed message of ${size} bytes; at most ${PACKED_SIZE} allowed`);
  }
  return inflate(payload.subarray(payload.length - reader.left), size, dictionary);
}
