import { decodeMessage } from '../../protocol/cbor/message.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/schema/message.ts';

/** What a car said; undefined, and a complaint, for what is no message. */
export function messageIn(payload: Uint8Array): Message | undefined {
  try {
    return decodeMessage(payload);
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    process.stderr.write(`vigie: ${error.message}\n`);
    return undefined;
  }
}
