/** One-time token for an enrolment: VIN, fingerprint of the authority to trust, and a secret (RFC 7030 §4.1.1). */
import { createHash, randomBytes } from 'node:crypto';
import { VigieError } from '../../protocol/errors.ts';
import { isVin } from '../../protocol/topics.ts';

export interface EnrolmentToken {
  readonly vin: string;
  /** SHA-256 of the authority's certificate in base64url. */
  readonly fingerprint: string;
  /** The token as the user types it, which is also the car's password. */
  readonly text: string;
}

export function newEnrolmentToken(vin: string, fingerprint: string): EnrolmentToken {
  return { vin, fingerprint, text: `${vin}.${fingerprint}.${randomBytes(24).toString('base64url')}` };
}

/** @throws VigieError `usage.wrong` */
export function readEnrolmentToken(text: string): EnrolmentToken {
  const [, vin = '', fingerprint = ''] = /^([^.]*)\.([A-Za-z0-9_-]{43})\.[A-Za-z0-9_-]{32}$/.exec(text) ?? [];
  if (isVin(vin)) return { vin, fingerprint, text };
  throw new VigieError('usage.wrong', 'this is not a token of `vigie hub add`: copy all of its line');
}

/** Returns the digest that the hub stores, in hexadecimal. A secret as long as a key needs no slow hash. */
export function tokenDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
