/** The car's side of an enrolment (RFC 7030). It creates the car's key, which never leaves the car. */
import { type webcrypto, X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { withCertificateFault } from '../../protocol/certificate-faults.ts';
import { VigieError } from '../../protocol/errors.ts';
import { fingerprintOf } from './authority.ts';
import type { EnrolmentToken } from './enrolment-token.ts';
import { SETTINGS_PATH } from './est-server.ts';
import { generateKeys, keysOfPem, pemOf, privateKeyPem, SIGNATURE, x509 } from './x509.ts';

const MOST_BYTES = 65_536;
const TIMEOUT = 30_000;
const BASE = '/.well-known/est';
const HUB = { server: 'the hub', authority: 'mqtt.ca, or enrol the car again with a new token' };

/** Credentials with which a car identifies itself to its hub. */
export interface CarIdentity {
  /** Private key and certificate in PEM: one file, so that both are replaced together. */
  readonly pem: string;
}

interface Trusted {
  /** Certificate authority of the hub in PEM. If omitted, the unit trusts no hub yet and sends no secrets. */
  readonly ca?: string;
  readonly identity?: CarIdentity;
}

interface HubAnswer {
  readonly status: number;
  readonly body: string;
  /** Time of the hub's clock in UTC ms. */
  readonly date: number | undefined;
}

/**
 * Returns the hub's authority in PEM if its fingerprint is the one in the token (RFC 7030 §4.1.1). Sends no part of the
 * token. Rejects with `link.refused` for another authority.
 */
export async function fetchAuthority(url: string, { fingerprint }: EnrolmentToken): Promise<string> {
  const { body } = await ask(url, 'GET', `${BASE}/cacerts`, {});
  const found = certificatesIn(body).find((one) => fingerprintOf(new Uint8Array(one.rawData)) === fingerprint);
  if (found !== undefined) return pemOf(found);
  throw new VigieError(
    'link.refused',
    'this is not the hub that gave the token: its authority has another fingerprint',
    {
      where: url,
    },
  );
}

/** Creates a private key for a car in PEM. */
export async function newCarKey(): Promise<string> {
  return privateKeyPem((await generateKeys()).privateKey);
}

/**
 * Requests a certificate for the key, authorized by the token. The hub binds a token to the first key with which it
 * receives the token, so keep the key until the certificate is stored: then a failed enrolment can be repeated.
 * @param key private key over P-256 in PEM. Rejects with `input.malformed` for other keys
 */
export async function enrol(url: string, ca: string, { vin, text }: EnrolmentToken, key: string): Promise<CarIdentity> {
  const authorization = `Basic ${Buffer.from(`${vin}:${text}`).toString('base64')}`;
  const keys = await keysOfPem(key).catch((cause: Error) => {
    throw new VigieError('input.malformed', `the key of the car cannot be used: ${cause.message}`, { cause });
  });
  return certified(url, 'simpleenroll', { vin, keys }, { ca }, { authorization });
}

/** Creates a new key and requests its certificate, authorized by the current certificate. */
export async function renew(url: string, ca: string, identity: CarIdentity): Promise<CarIdentity> {
  const vin = new X509Certificate(identity.pem).subject.replace(/^CN=/, '');
  return certified(url, 'simplereenroll', { vin, keys: await generateKeys() }, { ca, identity }, {});
}

/** Returns the hub's settings for the car's configuration. */
export async function fetchSettings(url: string, ca: string, identity: CarIdentity): Promise<unknown> {
  return JSON.parse((await ask(url, 'GET', SETTINGS_PATH, { ca, identity })).body);
}

/** Returns the hub's time in UTC ms, for a car whose clock may be wrong. */
export async function hubTime(url: string, ca: string): Promise<number> {
  const { date } = await ask(url, 'GET', `${BASE}/cacerts`, { ca });
  if (date !== undefined) return date;
  throw new VigieError('link.refused', 'the hub does not tell the time (Date)', { where: url });
}

async function certified(
  url: string,
  operation: string,
  { vin, keys }: { readonly vin: string; readonly keys: webcrypto.CryptoKeyPair },
  trusted: Trusted,
  headers: Readonly<Record<string, string>>,
): Promise<CarIdentity> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [vin] }],
    keys,
    signingAlgorithm: SIGNATURE,
  });
  const { body } = await ask(url, 'POST', `${BASE}/${operation}`, trusted, {
    headers: { ...headers, 'Content-Type': 'application/pkcs10', 'Content-Transfer-Encoding': 'base64' },
    body: request.toString('base64'),
  });
  const own = Buffer.from(request.publicKey.rawData);
  const certificate = certificatesIn(body).find(({ publicKey }) => own.equals(Buffer.from(publicKey.rawData)));
  if (certificate === undefined) {
    throw new VigieError('link.refused', 'the hub answered without a certificate of our key', { where: url });
  }
  return { pem: (await privateKeyPem(keys.privateKey)) + pemOf(certificate) };
}

/** Returns the certificates in a response (RFC 7030 §4.1.3). Throws `link.refused` for invalid content. */
export function certificatesIn(body: string): readonly x509.X509Certificate[] {
  try {
    return [...new x509.X509Certificates(body.replaceAll(/\s/g, ''))];
  } catch (cause) {
    throw new VigieError('link.refused', `the answer has no certificates: ${(cause as Error).message}`, { cause });
  }
}

function ask(
  url: string,
  method: string,
  path: string,
  { ca, identity }: Trusted,
  { headers = {}, body = '' }: { readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<HubAnswer> {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw new VigieError('usage.wrong', 'the address of the hub must be https://host:port', { where: url });
  }
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => {
      const text = withCertificateFault(`the hub cannot be asked: ${cause.message}`, cause, HUB);
      reject(new VigieError('link.refused', text, { where: url, cause }));
    };
    const asking = request(
      new URL(path, url),
      {
        method,
        minVersion: 'TLSv1.2',
        agent: false,
        timeout: TIMEOUT,
        headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ...(identity === undefined ? {} : { cert: identity.pem, key: identity.pem }),
      },
      (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on('data', (part: Buffer) => {
          bytes += part.byteLength;
          if (bytes > MOST_BYTES) response.destroy(new Error('the answer is too long'));
          else parts.push(part);
        });
        response.once('error', failed);
        response.once('end', () => {
          const { statusCode: status = 0, headers: told } = response;
          const text = Buffer.concat(parts).toString();
          const date = told.date === undefined ? Number.NaN : Date.parse(told.date);
          if (status === 200) resolve({ status, body: text, date: Number.isNaN(date) ? undefined : date });
          else failed(new Error(`it answered ${status}: ${text.trim().slice(0, 300)}`));
        });
      },
    );
    asking.once('timeout', () => asking.destroy(new Error(`no answer within ${TIMEOUT / 1000} s`)));
    asking.once('error', failed);
    asking.end(body);
  });
}
