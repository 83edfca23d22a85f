/**
 * Creates a self-signed certificate (RFC 5280) for the page of a bench in the local network. Node can make keys and
 * signatures but no certificates, and not every machine has OpenSSL. A single certificate of fixed form needs no
 * library.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { DAY } from '../../protocol/calendar.ts';

interface SelfSigned {
  /** Certificate in PEM. */
  readonly certificate: string;
  /** Private key in PEM; secret. */
  readonly key: string;
}

/** Validity in ms: browsers reject certificates that are valid for longer than 398 days. */
const GOOD_FOR = 390 * DAY;
/** Time in ms by which the validity starts early, because the clock of a machine without a battery may be slow. */
const BEFORE = DAY;

/**
 * Creates a P-256 key and a certificate for `names` (DNS names and IPv4 addresses, at least one). The certificate is
 * valid from one day before `now` (UTC ms).
 */
export function selfSigned(names: readonly string[], now: number): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(set(sequence(oid('2.5.4.3'), value(0x0c, Buffer.from('Vigie bench')))));
  const alternatives = names.map((name) =>
    isIPv4(name) ? value(0x87, Uint8Array.from(name.split('.'), Number)) : value(0x82, Buffer.from(name)),
  );
  const signature = sequence(oid('1.2.840.10045.4.3.2'));
  const toBeSigned = sequence(
    value(0xa0, value(0x02, Uint8Array.of(2))),
    // Positive and without a leading zero.
    value(0x02, Uint8Array.of(1), randomBytes(15)),
    signature,
    subject,
    sequence(time(now - BEFORE), time(now + GOOD_FOR)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    value(0xa3, sequence(sequence(oid('2.5.29.17'), value(0x04, sequence(...alternatives))))),
  );
  const bits = value(0x03, Uint8Array.of(0), sign('sha256', toBeSigned, privateKey));
  const certificate = Buffer.from(sequence(toBeSigned, signature, bits)).toString('base64');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** Encodes a DER value (X.690 §8.1): tag, length, contents. */
function value(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.from(head), ...contents]);
}

function sequence(...items: readonly Uint8Array[]): Uint8Array {
  return value(0x30, ...items);
}

function set(...items: readonly Uint8Array[]): Uint8Array {
  return value(0x31, ...items);
}

/** Encodes a time: UTCTime before 2050, GeneralizedTime from then on (RFC 5280 §4.1.2.5). */
function time(at: number): Uint8Array {
  const digits = new Date(at).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return digits < '2050' ? value(0x17, Buffer.from(`${digits.slice(2)}Z`)) : value(0x18, Buffer.from(`${digits}Z`));
}

/** Encodes an object identifier, e.g. `2.5.4.3` (X.690 §8.19). */
function oid(text: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const groups = [first * 40 + second, ...rest].flatMap((number) => {
    const digits = [number & 0x7f];
    for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return value(0x06, Uint8Array.from(groups));
}
