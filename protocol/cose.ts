/**
 * Messages with one signature, COSE_Sign1 (RFC 9052 section 4.2), in the profile of this protocol: tagged, payload
 * embedded, algorithm and key id in the protected header, and an empty unprotected header.
 *
 *     18([ << {1: algorithm, 4: key id} >>, {}, payload, signature ])
 *
 * This module neither signs nor verifies; the caller does, with `toBeSigned`.
 */
import { type Bounds, checkBounds } from './cbor/bounds.ts';
import { head } from './cbor/head.ts';
import { encodeTree, parse } from './cbor/wire.ts';
import { VigieError } from './errors.ts';

/** ECDSA over P-256 with SHA-256; the signature is r and s with 32 bytes each (RFC 9053 section 2.1). */
export const ES256 = -7;
/** EdDSA, here with Ed25519 (RFC 9053 section 2.2). */
export const EDDSA = -8;
export type SigningAlgorithm = typeof ES256 | typeof EDDSA;

/** CBOR tag of COSE_Sign1 (RFC 9052 section 2). */
const TAG = 18;
const TAG_HEAD = 0xc0 | TAG;
/** Header parameters (RFC 9052 section 3.1). */
const ALGORITHM = 1;
const CRITICAL = 2;
const KEY_ID = 4;

export interface SignatureHeader {
  readonly algorithm: SigningAlgorithm;
  readonly keyId: Uint8Array;
}

/** A signed message whose signature has not been verified. */
export interface SignedMessage extends SignatureHeader {
  readonly payload: Uint8Array;
  readonly signature: Uint8Array;
  /** The bytes that are signed. */
  readonly toBeSigned: Uint8Array;
}

/** Returns the signed message. `sign` receives the bytes to sign and returns the signature. */
export function encodeSigned(
  payload: Uint8Array,
  { algorithm, keyId }: SignatureHeader,
  sign: (toBeSigned: Uint8Array) => Uint8Array,
): Uint8Array {
  const protectedHeader = encodeTree(
    new Map<number, unknown>([
      [ALGORITHM, algorithm],
      [KEY_ID, keyId],
    ]),
  );
  return assemble([protectedHeader, new Map(), payload, sign(toBeSigned(protectedHeader, payload))]);
}

/**
 * Parses a signed message. Throws `message.unbounded` beyond `bounds`, and `message.malformed` if it is not a message
 * of this profile or its encoding is not deterministic: signed content has only one form.
 */
export function decodeSigned(bytes: Uint8Array, bounds: Bounds): SignedMessage {
  checkBounds(bytes, { ...bounds, tag: TAG });
  const tree = parse(bytes.subarray(head(bytes, 0).next));
  if (!Array.isArray(tree) || tree.length !== 4) throw malformed('is not an array of four');
  const [protectedHeader, unprotected, payload, signature] = tree as unknown[];
  if (!(protectedHeader instanceof Uint8Array)) throw malformed('has no protected header');
  if (!(unprotected instanceof Map)) throw malformed('has no unprotected header');
  if (!(payload instanceof Uint8Array)) throw malformed('has no embedded payload');
  if (!(signature instanceof Uint8Array)) throw malformed('has no signature');
  if (!equalBytes(assemble([protectedHeader, unprotected, payload, signature]), bytes)) {
    throw malformed('is not encoded deterministically');
  }
  return {
    ...headerOf(protectedHeader, unprotected, bounds),
    payload: new Uint8Array(payload),
    signature: new Uint8Array(signature),
    toBeSigned: toBeSigned(protectedHeader, payload),
  };
}

/**
 * Returns the Sig_structure (RFC 9052 section 4.4): protected header, external application data that is signed but not
 * part of the message, payload.
 */
export function toBeSigned(
  protectedHeader: Uint8Array,
  payload: Uint8Array,
  external: Uint8Array = new Uint8Array(),
): Uint8Array {
  // An empty map counts as no header, in any encoding.
  const empty = protectedHeader.length === 1 && protectedHeader[0] === 0xa0;
  return encodeTree(['Signature1', empty ? new Uint8Array() : protectedHeader, external, payload]);
}

function headerOf(
  protectedHeader: Uint8Array,
  unprotected: ReadonlyMap<unknown, unknown>,
  bounds: Bounds,
): SignatureHeader {
  checkBounds(protectedHeader, { ...bounds, maximumBytes: protectedHeader.length });
  const header = parse(protectedHeader);
  if (!(header instanceof Map)) throw malformed('has a protected header that is not a map');
  // RFC 9052 section 3.1: a receiver must understand critical parameters; this protocol defines none.
  if (header.has(CRITICAL)) throw malformed('has critical header parameters, which this protocol does not use');
  const algorithm: unknown = header.get(ALGORITHM);
  if (algorithm !== ES256 && algorithm !== EDDSA) {
    throw malformed(`must name ES256 (${ES256}) or EdDSA (${EDDSA}) in its protected header`);
  }
  for (const label of unprotected.keys()) {
    if (label !== KEY_ID) throw malformed(`has parameter ${String(label)} outside its protected header`);
  }
  if (header.has(KEY_ID) && unprotected.has(KEY_ID)) throw malformed('has two key ids');
  const keyId: unknown = header.get(KEY_ID) ?? unprotected.get(KEY_ID);
  if (!(keyId instanceof Uint8Array)) throw malformed('has no key id');
  return { algorithm, keyId: new Uint8Array(keyId) };
}

function assemble(parts: readonly unknown[]): Uint8Array {
  const array = encodeTree(parts);
  const message = new Uint8Array(array.length + 1);
  message[0] = TAG_HEAD;
  message.set(array, 1);
  return message;
}

/** Returns true if both have the same bytes. Not for secrets: the time depends on the content. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function malformed(what: string): VigieError {
  return new VigieError('message.malformed', `COSE_Sign1 ${what}`);
}
