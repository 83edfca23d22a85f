/** The certificate authority of a hub, which issues certificates for its cars and for the hub itself. */
import { createHash, createPrivateKey, webcrypto } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { DAY } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import { generateKeys, KEY, pemOf, privateKeyPem, SIGNATURE, x509 } from './x509.ts';

/**
 * Start of validity of the certificates of authority and hub. So early that even a car whose clock is not set yet can
 * verify the hub.
 */
const ALWAYS = new Date(0);
const AUTHORITY_LASTS = 30 * 365 * DAY;
const HUB_LASTS = 365 * DAY;
/** Maximum time in ms by which the hub's clock may be ahead of a verifier's clock. */
const TOLERANCE = 3_600_000;

export interface CarCertificate {
  readonly der: Uint8Array;
  /** Serial number in lower-case hexadecimal. */
  readonly serial: string;
  /** Time of issue in UTC ms. */
  readonly issued: number;
  readonly expires: number;
}

/** A certificate request whose signature has been verified. */
interface CertificateRequest {
  readonly publicKey: x509.PublicKey;
  /** Digest of the public key in hexadecimal. */
  readonly key: string;
}

export class CertificateAuthority {
  readonly #key: webcrypto.CryptoKey;
  readonly #certificate: x509.X509Certificate;

  private constructor(key: webcrypto.CryptoKey, certificate: x509.X509Certificate) {
    this.#key = key;
    this.#certificate = certificate;
  }

  /**
   * Reads `authority.pem` (key and certificate) in the directory; creates it if it does not exist.
   * Rejects with `input.unreadable` for an unusable file.
   */
  static async open(directory: string): Promise<CertificateAuthority> {
    const file = join(directory, 'authority.pem');
    try {
      const text = readIfThere(file) ?? (await make(file));
      const [certificate] = x509.PemConverter.decodeWithHeaders(text).filter(
        (one: x509.PemStruct) => one.type === 'CERTIFICATE',
      );
      if (certificate === undefined) throw new Error('it has no certificate');
      const der = createPrivateKey(text).export({ type: 'pkcs8', format: 'der' });
      const key = await webcrypto.subtle.importKey('pkcs8', der, KEY, false, ['sign']);
      return new CertificateAuthority(key, new x509.X509Certificate(certificate.rawData));
    } catch (cause) {
      const text = `cannot be used as the authority of the hub: ${(cause as Error).message}`;
      throw new VigieError('input.unreadable', text, { where: file, cause });
    }
  }

  get pem(): string {
    return pemOf(this.#certificate);
  }

  get der(): Uint8Array {
    return new Uint8Array(this.#certificate.rawData);
  }

  /** SHA-256 of the certificate in base64url. */
  get fingerprint(): string {
    return fingerprintOf(this.der);
  }

  /** Issues a certificate for a car, with the VIN as common name. `now` is UTC ms, `lasts` is in ms. */
  async certifyCar(
    vin: string,
    { publicKey }: CertificateRequest,
    now: number,
    lasts: number,
  ): Promise<CarCertificate> {
    const expires = wholeSeconds(now + lasts);
    const certificate = await this.#issue({
      publicKey,
      subject: [{ CN: [vin] }],
      notBefore: new Date(wholeSeconds(now - TOLERANCE)),
      notAfter: new Date(expires),
      usages: [x509.ExtendedKeyUsage.clientAuth],
    });
    const der = new Uint8Array(certificate.rawData);
    return { der, serial: certificate.serialNumber.toLowerCase(), issued: now, expires };
  }

  /**
   * Issues a certificate for the hub, or a program beside it, that contains all its names and addresses: as a server, and
   * as the client that the first name names. Returns PEM.
   */
  async certifyHub(names: readonly string[], now: number): Promise<{ readonly key: string; readonly cert: string }> {
    const { privateKey, publicKey } = await generateKeys();
    const certificate = await this.#issue({
      publicKey: new x509.PublicKey(await webcrypto.subtle.exportKey('spki', publicKey)),
      subject: [{ CN: [names[0] ?? 'vigie hub'] }],
      notBefore: ALWAYS,
      notAfter: new Date(wholeSeconds(now + HUB_LASTS)),
      usages: [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth],
      names,
    });
    return { key: await privateKeyPem(privateKey), cert: pemOf(certificate) };
  }

  /** Returns the revocation list (RFC 5280 §5) in PEM, valid for `lasts` ms. */
  async revocationList(
    revoked: readonly { readonly serial: string; readonly revoked?: number }[],
    now: number,
    lasts: number,
  ): Promise<string> {
    const list = await x509.X509CrlGenerator.create({
      issuer: this.#certificate.subject,
      thisUpdate: new Date(wholeSeconds(now - TOLERANCE)),
      nextUpdate: new Date(wholeSeconds(now + lasts)),
      entries: revoked.map(({ serial, revoked: at = now }) => ({
        serialNumber: serial,
        revocationDate: new Date(wholeSeconds(at)),
      })),
      signingAlgorithm: SIGNATURE,
      signingKey: this.#key,
    });
    // The label of RFC 7468 §6, because OpenSSL does not accept the one that the library writes.
    return `${x509.PemConverter.encode(list.rawData, 'X509 CRL')}\n`;
  }

  async #issue(wanted: {
    readonly publicKey: x509.PublicKey;
    readonly subject: x509.JsonName;
    readonly notBefore: Date;
    readonly notAfter: Date;
    readonly usages: readonly x509.ExtendedKeyUsage[];
    readonly names?: readonly string[];
  }): Promise<x509.X509Certificate> {
    const { publicKey, subject, notBefore, notAfter, usages, names } = wanted;
    return x509.X509CertificateGenerator.create({
      serialNumber: newSerial(),
      subject,
      issuer: this.#certificate.subject,
      notBefore,
      notAfter,
      publicKey,
      signingKey: this.#key,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([...usages]),
        await x509.AuthorityKeyIdentifierExtension.create(this.#certificate.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(publicKey),
        ...(names === undefined
          ? []
          : [
              new x509.SubjectAlternativeNameExtension(
                names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
              ),
            ]),
      ],
    });
  }
}

/**
 * Parses a PKCS #10 request (RFC 2986), whose signature proves that the sender has the key.
 * Rejects with `input.malformed` for other content, and for keys other than ECDSA over P-256.
 */
export async function readRequest(der: Uint8Array): Promise<CertificateRequest> {
  let request: x509.Pkcs10CertificateRequest;
  try {
    request = new x509.Pkcs10CertificateRequest(der);
    if (!(await request.verify())) throw new Error('its signature is wrong');
  } catch (cause) {
    throw new VigieError('input.malformed', `is not a certificate request (PKCS #10): ${(cause as Error).message}`, {
      cause,
    });
  }
  const { publicKey } = request;
  const algorithm = publicKey.algorithm as webcrypto.EcKeyAlgorithm;
  if (algorithm.name !== KEY.name || algorithm.namedCurve !== KEY.namedCurve) {
    throw new VigieError('input.malformed', 'the key must be ECDSA over P-256');
  }
  return { publicKey, key: createHash('sha256').update(new Uint8Array(publicKey.rawData)).digest('hex') };
}

export function fingerprintOf(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('base64url');
}

/** Returns certificates as a degenerate PKCS #7 (RFC 5652 §5, RFC 7030 §4.1.3) in base64. */
export function packCertificates(ders: readonly Uint8Array[]): string {
  return new x509.X509Certificates(ders.map((der) => new x509.X509Certificate(der))).export('base64');
}

/** Returns a random positive serial number of 16 bytes (RFC 5280 §4.1.2.2). */
function newSerial(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)));
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

function wholeSeconds(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the file. If two processes do so at once, the first one wins. @returns the resulting content of the file */
async function make(file: string): Promise<string> {
  const { privateKey, publicKey } = await generateKeys();
  const name = `CN=Vigie hub ${newSerial().slice(0, 16)}`;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: name,
    issuer: name,
    notBefore: ALWAYS,
    notAfter: new Date(wholeSeconds(Date.now() + AUTHORITY_LASTS)),
    publicKey,
    signingKey: privateKey,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  const made = `${file}.${process.pid}`;
  writeFileSync(made, (await privateKeyPem(privateKey)) + pemOf(certificate), { mode: 0o600 });
  try {
    linkSync(made, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
  return readFileSync(file, 'utf8');
}
