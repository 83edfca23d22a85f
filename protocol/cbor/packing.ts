/**
 * Compact form of whole messages: the shape and the numbers (shape.ts) of a message, compressed to raw deflate with the
 * dictionary of this protocol version, preceded by the number of bytes before compression (LEB128), all together as
 * one CBOR byte string. An unpacked message is a map instead.
 */
import type { Deflate } from '../columns/deflate.ts';
import { inflate } from '../columns/inflate.ts';
import { NumberReader, NumberWriter } from '../columns/numbers.ts';
import { VigieError } from '../errors.ts';
import { dictionary } from './dictionary.ts';
import { head, MAJOR } from './head.ts';
import { ItemWriter } from './item-writer.ts';
import { join, split } from './shape.ts';

/** Length in bytes of the shortest message that is packed: shorter ones become no smaller. */
const WORTH_IT = 64;
/** Length in bytes, before compression, of the longest message that is packed; longer ones are sent unpacked. */
const PACKED_SIZE: number = 1 << 16;

/** Shared writers: messages are packed one after the other. */
const size = new NumberWriter();
const packed = new ItemWriter();

/** Returns the packed form of a message, or undefined if there is none or it is not shorter. */
export function pack(message: Uint8Array, deflate: Deflate): Uint8Array | undefined {
  if (message.length < WORTH_IT || message.length > PACKED_SIZE) return undefined;
  const content = split(message);
  if (content === undefined || content.length > PACKED_SIZE) return undefined;
  size.clear();
  size.unsigned(content.length);
  const compressed = deflate(content, dictionary);
  packed.clear();
  packed.head(MAJOR.bytes, size.written.length + compressed.length);
  packed.copy(size.written, 0, size.written.length);
  packed.copy(compressed, 0, compressed.length);
  return packed.written.slice();
}

/**
 * Unpacks a message; returns an unpacked message unchanged. The caller must still check the bounds of the result.
 * Throws `message.malformed`, and `message.unbounded` if the result would have more than {@link PACKED_SIZE} bytes.
 */
export function unpack(payload: Uint8Array): Uint8Array {
  const parts = unpackParts(payload);
  return parts === undefined ? payload : join(parts);
}

/** Returns shape and numbers of a packed message (shape.ts), or undefined if not packed. Throws as {@link unpack}. */
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
