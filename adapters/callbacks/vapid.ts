import { createECDH } from 'node:crypto';
import { VigieError } from '../../protocol/errors.ts';

/** Identity of the sender of push messages (RFC 8292). */
export interface VapidKeys {
  /** Contact address of the operator, `mailto:` or `https:` (RFC 8292 §2.1). */
  readonly subject: string;
  /** P-256, uncompressed, base64url; apps subscribe with it (applicationServerKey). */
  readonly publicKey: string;
  /** 32 bytes, base64url. */
  readonly privateKey: string;
}

/**
 * Checks the keys in advance, so that wrong keys do not fail separately for each device.
 * @throws VigieError `configuration.wrong` if the keys are not a pair
 */
export function checkPair({ publicKey, privateKey }: VapidKeys): void {
  const keys = createECDH('prime256v1');
  try {
    keys.setPrivateKey(privateKey, 'base64url');
  } catch (cause) {
    throw new VigieError('configuration.wrong', 'the private key is not a key of P-256 in base64url', {
      where: 'callbacks.push.privateKeyFile',
      cause,
    });
  }
  if (Buffer.from(privateKey, 'base64url').length === 32 && keys.getPublicKey('base64url') === publicKey) return;
  throw new VigieError('configuration.wrong', 'the public key is not that of the private key', {
    where: 'callbacks.push.publicKey',
  });
}
