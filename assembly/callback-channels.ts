import { readFileSync } from 'node:fs';
import { type CallbackChannels, callbackChannels } from '../adapters/callbacks/index.ts';
import type { CallbacksConfiguration } from '../config/callbacks.ts';
import { readSecret } from '../config/credentials.ts';
import { VigieError } from '../protocol/errors.ts';

/** Returns the configured channels for notifications. Certificates and keys are read only when they are needed. */
export function channelsOf(
  { networks, allowHttp, ca, push }: CallbacksConfiguration,
  now: () => number,
): CallbackChannels {
  return callbackChannels({
    networks,
    allowHttp,
    now,
    ...(ca === undefined ? {} : { ca: () => readAuthorities(ca) }),
    ...(push === undefined
      ? {}
      : {
          pushKey: push.publicKey,
          vapid: () => ({
            subject: push.subject,
            publicKey: push.publicKey,
            privateKey: readSecret(push.privateKeyFile),
          }),
        }),
  });
}

function readAuthorities(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new VigieError('input.unreadable', `cannot be read: ${(cause as Error).message}`, { where: file, cause });
  }
}
