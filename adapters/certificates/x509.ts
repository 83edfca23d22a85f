/** The library of certificates, with the cryptography of Node. Loaded by a hub and for an enrolment only. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

export { x509 };

/** Keys of the authority, of the hub and of cars: ECDSA over P-256, which every TLS of a broker knows. */
export const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
export const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;

export function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;
}

/** PKCS #8 in PEM (RFC 5958). */
export async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY').concat('\n');
}

export function pemOf(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}
