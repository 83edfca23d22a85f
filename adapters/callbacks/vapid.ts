import { createECDH } from 'node:crypto';
import { VigieError } from '../../protocol/errors.ts';

/** Who sends push messages. RFC 8292. */
export interface VapidKeys {
  /** Where the operator can be reached, `mailto:` or `https:`. RFC 8292 §2.1. */
  readonly subject: string;
  /** P-256, uncompressed, base64url: what apps subscribe with (applicationServerKey). */
  readonly publicKey: string;
  /** 32 bytes, base64url. */
  readonly privateKey: string;
}

/**
 * A wrong key of the car must not be found out device by device.
 * @throws VigieError `configuration.wrong` when the keys are not a pair
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
