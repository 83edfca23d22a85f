/** Certificates and revocation lists of a temporary authority (RFC 5280), with P-256 keys. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bits, der, explicit, integer, octets, oid, sequence, set, utcTime, utf8, yes } from './der.ts';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

const SECOND = 1000;
const DAY = 86_400 * SECOND;
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
/** basicConstraints: an authority. */
const isAuthority = sequence(oid('2.5.29.19'), yes, octets(sequence(yes)));

export class Authority {
  readonly #folder: string;
  readonly #name: string;
  readonly #key: KeyObject;

  /** Creates the authority's own certificate in `folder`. */
  constructor(folder: string, name = 'ca') {
    this.#folder = folder;
    this.#name = name;
    this.#key = newKey(this.#path('key'));
    writeFileSync(this.certFile, this.#certify(name, this.#key, 2, isAuthority));
  }

  get certFile(): string {
    return this.#path('pem');
  }

  get cert(): Uint8Array {
    return readFileSync(this.certFile);
  }

  /**
   * Issues a certificate with this CN. Servers also get 127.0.0.1 and `names`. It is valid for `days` from now; with 0
   * it has expired.
   */
  issue(commonName: string, days = 2, names: readonly string[] = []): Certificate {
    const base = join(this.#folder, `${this.#name}-${commonName}`);
    const [certFile, keyFile] = [`${base}.pem`, `${base}.key`];
    const hosts = names.map((name) => der(0x82, Buffer.from(name)));
    const subjects = sequence(der(0x87, Uint8Array.of(127, 0, 0, 1)), ...hosts);
    const key = newKey(keyFile);
    writeFileSync(certFile, this.#certify(commonName, key, days, sequence(oid('2.5.29.17'), octets(subjects))));
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }

  /** Issues a revocation list of these certificates that is valid for a day. */
  revoke(...certificates: readonly Certificate[]): Uint8Array {
    const now = Date.now();
    const revoked = certificates.map(({ cert }) => {
      const serial = integer(Buffer.from(new X509Certificate(cert).serialNumber, 'hex'));
      return sequence(serial, utcTime(now - DAY));
    });
    const list = sequence(
      ecdsaWithSha256,
      nameOf(this.#name),
      utcTime(now - SECOND),
      utcTime(now + DAY),
      ...(revoked.length === 0 ? [] : [sequence(...revoked)]),
    );
    return Buffer.from(pem('X509 CRL', this.#signed(list)));
  }

  #certify(commonName: string, key: KeyObject, days: number, extension: Uint8Array): string {
    const now = Date.now();
    const certificate = sequence(
      explicit(0, integer(Uint8Array.of(2))),
      integer(Uint8Array.of(1, ...randomBytes(15))),
      ecdsaWithSha256,
      nameOf(this.#name),
      sequence(utcTime(now - DAY), utcTime(now + days * DAY - SECOND)),
      nameOf(commonName),
      createPublicKey(key).export({ type: 'spki', format: 'der' }),
      explicit(3, sequence(extension)),
    );
    return pem('CERTIFICATE', this.#signed(certificate));
  }

  #signed(content: Uint8Array): Uint8Array {
    return sequence(content, ecdsaWithSha256, bits(sign('sha256', content, this.#key)));
  }

  #path(extension: string): string {
    return join(this.#folder, `${this.#name}.${extension}`);
  }
}

/** CN=… */
function nameOf(commonName: string): Uint8Array {
  return sequence(set(sequence(oid('2.5.4.3'), utf8(commonName))));
}

/** Creates a private key and writes it to the file. */
function newKey(file: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return privateKey;
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----\n`;
}
