/** Two messages of one start with the same number and different bytes. */
import { createHash } from 'node:crypto';
import { uncountedBeside } from '../core/lives.ts';
import type { CarMessage } from '../core/message.ts';

/**
 * Moves the second message to an uncounted start, whose number is a digest of its bytes. Then the store has a place for both
 * messages, and recognises the same bytes when they arrive again.
 */
export function asConflict<T extends Pick<CarMessage, 'message' | 'payload'>>(one: T): T {
  const digest = createHash('sha256').update(one.payload).digest();
  return { ...one, message: { ...one.message, boot: uncountedBeside(one.message.boot, digest.readUInt32BE()) } };
}
