import type { IncomingMessage, ServerResponse } from 'node:http';
import { VigieError } from '../../protocol/errors.ts';

/**
 * Reads the JSON body of a request; first sends 100 Continue if the client expects it (RFC 9110 §10.1.1). The server
 * limits how long this takes (`requestTimeout`).
 * @throws VigieError `message.unbounded` for more than `limit` bytes, `input.malformed` for a body that is not UTF-8
 * JSON
 */
export async function readJson(request: IncomingMessage, answer: ServerResponse, limit: number): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (request.httpVersion === '1.1' && /100-continue/i.test(request.headers.expect ?? '')) answer.writeContinue();
  const bytes = await readBytes(request, limit);
  if (bytes.byteLength === 0) throw new VigieError('input.malformed', 'body: is missing');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new VigieError('input.malformed', 'body: must be UTF-8', { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const place = /position (\d+)/.exec((cause as Error).message)?.[1];
    const where = place === undefined ? '' : ` (see character ${place})`;
    throw new VigieError('input.malformed', `body: must be JSON${where}`, { cause });
  }
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Uses listeners instead of an iterator: leaving the iteration early would destroy the connection before the
  // response.
  await new Promise<void>((resolve, reject) => {
    const settle = (end: () => void) => (): void => {
      request.off('data', take).off('end', ended).off('error', failed).off('close', closed);
      end();
    };
    const take = (chunk: Uint8Array): void => {
      length += chunk.byteLength;
      if (length > limit) settle(() => reject(tooLarge(limit)))();
      else chunks.push(chunk);
    };
    const ended = settle(resolve);
    const broken = new VigieError('input.malformed', 'body: ended early');
    const failed = settle(() => reject(broken));
    const closed = settle(() => reject(broken));
    // If the client disconnected before these listeners were added, no event follows.
    if (request.destroyed) failed();
    request.on('data', take).on('end', ended).on('error', failed).on('close', closed);
  });
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): VigieError {
  return new VigieError('message.unbounded', `body: must have at most ${limit} bytes`);
}
