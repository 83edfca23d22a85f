import { createHash, timingSafeEqual } from 'node:crypto';
import type { Operation } from '../../../protocol/interface/operation.ts';
import type { Caller } from '../call.ts';

/** Credentials of a request: sender address, token, client id, certificate. */
export interface Credentials {
  /** Address of the sender; IPv4-mapped IPv6 is converted to IPv4. */
  readonly remote: string;
  readonly authorization?: string;
  /** All values of the query parameter `client_id`. */
  readonly clientIds: readonly string[];
  /** Subject of the client's verified certificate, one line for each attribute, such as `CN=…`. */
  readonly certificate?: string;
}

/** Requested operation, with the data that decides whether it is allowed. */
export interface RequestedAccess {
  readonly operation: Pick<Operation, 'scopes'>;
  /** Parameters of the path. */
  readonly path: Readonly<Record<string, string>>;
}

/**
 * Admits requests. Throws `request.unauthenticated`, `request.forbidden` or `request.rate`; the message says what is
 * missing but does not help to guess it.
 */
export interface Gate {
  admit(credentials: Credentials, wanted: RequestedAccess): Promise<Caller> | Caller;
  /** The challenge of a 401 (RFC 9110 §11.6.1). */
  readonly challenge: string;
}

/** Compares strings in constant time, so that the duration does not reveal where they differ. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
