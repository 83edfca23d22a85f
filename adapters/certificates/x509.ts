/** The certificate library, set up to use Node's cryptography. Loaded only by a hub and for an enrolment. */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

export { x509 };

/** Keys of the authority, the hub and cars: ECDSA over P-256, which the TLS of every broker supports. */
export const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
export const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;

export function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;
}

/** Returns the key pair for a private key in PEM. @throws Error for a string that is not a private key over P-256 */
export async function keysOfPem(pem: string): Promise<webcrypto.CryptoKeyPair> {
  const key = createPrivateKey(pem);
  const { subtle } = webcrypto;
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await subtle.importKey('pkcs8', key.export({ type: 'pkcs8', format: 'der' }), KEY, true, ['sign']),
    publicKey: await subtle.importKey('spki', spki, KEY, true, ['verify']),
  };
}

/** Returns the key as PKCS #8 in PEM (RFC 5958). */
export async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY').concat('\n');
}

export function pemOf(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}
