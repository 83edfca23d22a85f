import { readFileSync } from 'node:fs';
import { type CallbackCouriers, callbackCouriers } from '../adapters/callbacks/index.ts';
import type { CallbacksConfiguration } from '../config/callbacks.ts';
import { readSecret } from '../config/configuration.ts';

/** How notifications leave the car, as configured. Throws `input.unreadable` or `configuration.wrong` for its keys. */
export function couriersOf({ networks, plain, ca, push }: CallbacksConfiguration, now: () => number): CallbackCouriers {
  return callbackCouriers({
    networks,
    plain,
    now,
    ...(ca === undefined ? {} : { ca: readFileSync(ca, 'utf8') }),
    ...(push === undefined
      ? {}
      : {
          vapid: {
            subject: push.subject,
            publicKey: push.publicKey,
            privateKey: readSecret(push.privateKeyFile),
          },
        }),
  });
}
