/** Different messages with the same number of the same start. */
import { createHash } from 'node:crypto';
import { uncountedBeside } from '../core/lives.ts';
import type { CarMessage } from '../core/message.ts';

/**
 * Moves the second of two messages with the same number to an uncounted start. The number of that start is a digest of
 * the message's bytes. So the store can contain both messages, and recognises the same bytes when they arrive again.
 */
export function asConflict<T extends Pick<CarMessage, 'message' | 'payload'>>(one: T): T {
  const digest = createHash('sha256').update(one.payload).digest();
  return { ...one, message: { ...one.message, boot: uncountedBeside(one.message.boot, digest.readUInt32BE()) } };
}
