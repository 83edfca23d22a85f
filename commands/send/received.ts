import { decodeMessage } from '../../protocol/cbor/message.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/schema/message.ts';

/** Decodes a message from the car. If it is malformed, prints an error and returns undefined. */
export function readMessage(payload: Uint8Array): Message | undefined {
  try {
    return decodeMessage(payload);
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    process.stderr.write(`vigie: ${error.message}\n`);
    return undefined;
  }
}
