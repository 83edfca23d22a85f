/** Notification channels of a bench: also to receivers on this machine, and to browsers with the bench's key. */
import { createECDH } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallbacksConfiguration } from '../config/callbacks.ts';
import { readSecret } from '../config/credentials.ts';
import { callbackSettings, defaultsOf } from '../protocol/settings.ts';

/** Contact address, which push services require of an operator (RFC 8292 §2.1). A bench has no operator. */
const SUBJECT = 'mailto:bench@example.org';

/** @param data folder of the bench. Subscriptions of browsers are valid as long as it contains the key. */
export function benchCallbacks(data: string): CallbacksConfiguration {
  const privateKeyFile = join(data, 'push.key');
  const keys = createECDH('prime256v1');
  if (existsSync(privateKeyFile)) keys.setPrivateKey(readSecret(privateKeyFile), 'base64url');
  else {
    keys.generateKeys();
    // Pad to 32 bytes: node omits leading zeros (RFC 7518 §6.2.2.1).
    const secret = keys.getPrivateKey('hex').padStart(64, '0');
    writeFileSync(privateKeyFile, Buffer.from(secret, 'hex').toString('base64url'), { mode: 0o600 });
  }
  return {
    ...defaultsOf(callbackSettings),
    networks: ['127.0.0.0/8', '::1'],
    allowHttp: true,
    push: { subject: SUBJECT, publicKey: keys.getPublicKey('base64url'), privateKeyFile },
  };
}
