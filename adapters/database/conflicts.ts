/** Messages whose number another message of the same start already has. */
import { createHash } from 'node:crypto';
import { uncountedBeside } from '../../hub/lives.ts';
import type { CarMessage } from '../../hub/message.ts';

/**
 * The message as of an uncounted start whose number follows from its bytes: so it is stored in addition to the other one,
 * and the same bytes are a repetition of it when they come again.
 */
export function asConflict<T extends Pick<CarMessage, 'message' | 'payload'>>(one: T): T {
  const digest = createHash('sha256').update(one.payload).digest();
  return { ...one, message: { ...one.message, boot: uncountedBeside(one.message.boot, digest.readUInt32BE()) } };
}
