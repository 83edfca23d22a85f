/**
 * Published vectors: cose-wg/Examples, ecdsa-sig-01, eddsa-sig-01, sign1-tests/sign-pass-* and sign-fail-* (RFC 9052).
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBounds } from '../../../protocol/cbor/bounds.ts';
import { decodeSigned, EDDSA, ES256, encodeSigned, type SignedMessage, toBeSigned } from '../../../protocol/cose.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { readItem } from '../cddl/items.ts';

const bounds = { maximumBytes: 4096, maximumDepth: 8, maximumItems: 64 };
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

const p256 = {
  kty: 'EC',
  crv: 'P-256',
  x: 'usWxHK2PmfnHKwXPS54m0kTcGJ90UiglWiGahtagnv8',
  y: 'IBOL-C3BttVivg-lSreASjpkttcsz-1rb7btKLv8EX4',
  d: 'V8kgd2ZBRuh2dgyVINBUqpPDr7BOMGcF22CQMIUHtNM',
};
// RFC 8032 section 7.1, test 1.
const base64 = (text: string): string => Buffer.from(text, 'hex').toString('base64url');
const ed25519 = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: base64('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'),
  d: base64('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'),
};
const privateKeys = {
  [ES256]: createPrivateKey({ key: p256, format: 'jwk' }),
  [EDDSA]: createPrivateKey({ key: ed25519, format: 'jwk' }),
};
const publicKeys: Record<number, KeyObject> = {
  [ES256]: createPublicKey(privateKeys[ES256]),
  [EDDSA]: createPublicKey(privateKeys[EDDSA]),
};

function verifies({ algorithm, toBeSigned, signature }: SignedMessage): boolean {
  const key = publicKeys[algorithm]!;
  return algorithm === ES256
    ? verify('sha256', toBeSigned, { key, dsaEncoding: 'ieee-p1363' }, signature)
    : verify(null, toBeSigned, key, signature);
}
function signer(algorithm: typeof ES256 | typeof EDDSA): (bytes: Uint8Array) => Uint8Array {
  const key = privateKeys[algorithm];
  return (bytes) =>
    new Uint8Array(
      algorithm === ES256 ? sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }) : sign(null, bytes, key),
    );
}

const content = 'This is the content.';
const CONTENT = '54546869732069732074686520636F6E74656E742E';
const ES_SIGNATURE =
  '5840EAE868ECC176883766C5DC5BA5B8DCA25DAB3C2E56A551CE5705B793914348E172727F48461FABBBA2E343492DDECAC3983686250BC68E9F1A7A07D41225B59F';
const ED_SIGNATURE =
  '58407142FD2FF96D56DB85BEE905A76BA1D0B7321A95C8C4D3607C5781932B7AFB8711497DFA751BF40B58B3BCC32300B1487F3DB34085EEF013BF08F4A44D6FEF0D';
const FAIL_SIGNATURE =
  '5840EAE868ECC176883766C5DC5BA5B8DCA25DAB3C2E56A551CE5705B793914348E19F43D6C6BA654472DA301B645B293C9BA939295B97C4BDB847782BFF384C5794';

describe('published messages', () => {
  test.each([
    [
      'ecdsa-sig-01',
      ES256,
      `D28445A201260300A10442313154${CONTENT.slice(2)}${ES_SIGNATURE}`,
      '846A5369676E61747572653145A20126030040',
    ],
    [
      'eddsa-sig-01',
      EDDSA,
      `D28445A201270300A10442313154${CONTENT.slice(2)}${ED_SIGNATURE}`,
      '846A5369676E61747572653145A20127030040',
    ],
    [
      'sign-fail-02 with its content restored',
      ES256,
      `D28443A10126A104423131${CONTENT}${FAIL_SIGNATURE}`,
      '846A5369676E61747572653143A1012640',
    ],
  ])('%s verifies', (_, algorithm, message, structure) => {
    const opened = decodeSigned(hex(message), bounds);
    expect(opened.algorithm).toBe(algorithm);
    expect(Buffer.from(opened.keyId).toString()).toBe('11');
    expect(Buffer.from(opened.payload).toString()).toBe(content);
    expect(toHex(opened.toBeSigned)).toBe(structure + CONTENT);
    expect(verifies(opened)).toBe(true);
  });

  test('eddsa-sig-01: signing again yields the same signature', () => {
    const structure = toBeSigned(hex('A201270300'), new Uint8Array(Buffer.from(content)));
    expect(`5840${toHex(signer(EDDSA)(structure))}`).toBe(ED_SIGNATURE);
  });

  test.each([
    ['sign-fail-02, content changed', `D28443A10126A104423131${CONTENT.slice(0, -1)}F${FAIL_SIGNATURE}`],
    ['sign-fail-06, protected parameter added', `D28445A201260300A104423131${CONTENT}${FAIL_SIGNATURE}`],
    ['sign-fail-07, protected parameter removed', `D28443A10126A104423131${CONTENT}${ES_SIGNATURE}`],
  ])('%s does not verify', (_, message) => {
    expect(verifies(decodeSigned(hex(message), bounds))).toBe(false);
  });

  test.each([
    ['sign-fail-01, tag 998', `D903E68443A10126A104423131${CONTENT}${FAIL_SIGNATURE}`, /tag 18/],
    ['sign-fail-03, algorithm -999', `D28445A1013903E6A104423131${CONTENT}${FAIL_SIGNATURE}`, /ES256/],
    ['sign-fail-04, algorithm "unknown"', `D2844AA10167756E6B6E6F776EA104423131${CONTENT}${FAIL_SIGNATURE}`, /ES256/],
    ['sign-pass-03, untagged', `8443A10126A104423131${CONTENT}${FAIL_SIGNATURE}`, /tag 18/],
    [
      'sign-pass-01, algorithm unprotected',
      `D28441A0A20126044231 31${CONTENT}${ES_SIGNATURE}`.replace(' ', ''),
      /ES256/,
    ],
  ])('%s is refused', (_, message, reason) => {
    expect(() => decodeSigned(hex(message), bounds)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(reason) }),
    );
  });

  test('sign-pass-01: an empty protected header counts as a missing one', () => {
    const structure = toBeSigned(hex('A0'), new Uint8Array(Buffer.from(content)));
    expect(toHex(structure)).toBe(`846A5369676E6174757265314040${CONTENT}`);
  });

  test('sign-pass-02: the signature covers external data', () => {
    const structure = toBeSigned(hex('A10126'), new Uint8Array(Buffer.from(content)), hex('11aa22bb33cc44dd55006699'));
    expect(toHex(structure)).toBe(`846A5369676E61747572653143A101264C11AA22BB33CC44DD55006699${CONTENT}`);
  });
});

describe('the COSE profile of commands', () => {
  const signature = `5840${'00'.repeat(64)}`;
  const good = `d28447a2012604424142a04100${signature}`;
  test('accepts a valid message', () => {
    expect(decodeSigned(hex(good), bounds).keyId).toEqual(hex('4142'));
  });
  test.each([
    ['no map in the protected header', `d2844101a04100${signature}`, /not a map/],
    ['an empty protected header', `d28440a04100${signature}`, /ends in the middle/],
    ['no key id', `d28443a10126a04100${signature}`, /no key id/],
    ['a key id that is not bytes', `d28445a201260401a04100${signature}`, /no key id/],
    ['two key ids', `d28447a2012604424142a1044141 4100${signature}`.replace(' ', ''), /two key ids/],
    ['critical parameters', `d2844aa301260281030442 4142a04100${signature}`.replace(' ', ''), /critical/],
    [
      'an algorithm outside the protected header too',
      `d28447a2012604424142a101264100${signature}`,
      /parameter 1 outside/,
    ],
    ['a detached payload', `d28447a2012604424142a0f6${signature}`, /no embedded payload/],
    ['no signature', 'd28447a2012604424142a04100f6', /no signature/],
    ['three members', 'd28347a2012604424142a04100', /array of four/],
    ['a map', 'd2a0', /array of four/],
    ['a longer head than needed', good.replace('4100', '580100'), /not encoded deterministically/],
    ['a key id twice in the header', `d28449a30126044141044142a04100${signature}`, /twice/],
    ['a tag within', `d28447a2012604424142a0c24100${signature}`, /tag 2/],
  ])('refuses %s', (_, message, reason) => {
    expect(() => decodeSigned(hex(message), bounds)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(reason) }),
    );
  });

  test('applies limits within the protected header', () => {
    const header = `${'81'.repeat(9)}00`;
    expect(() => decodeSigned(hex(`d2844a${header}a04100${signature}`), bounds)).toThrow(
      expect.objectContaining({ code: 'message.unbounded' }),
    );
  });
});

const algorithm = fc.constantFrom(ES256, EDDSA);
const keyId = fc.uint8Array({ maxLength: 20 });
const payload = fc.uint8Array({ maxLength: 400 });

test('signed messages are deterministic, are read back and verify', () => {
  fc.assert(
    fc.property(algorithm, keyId, payload, (algorithm, keyId, payload) => {
      const message = encodeSigned(payload, { algorithm, keyId }, signer(algorithm));
      expect(readItem(message).departures).toEqual([]);
      expect(() => checkBounds(message, { ...bounds, tag: 18 })).not.toThrow();
      const opened = decodeSigned(message, bounds);
      expect({ ...opened, signature: undefined, toBeSigned: undefined }).toEqual({ algorithm, keyId, payload });
      expect(verifies(opened)).toBe(true);
    }),
  );
});

test('changed messages cause a VigieError or do not verify', () => {
  let opened = 0;
  fc.assert(
    fc.property(
      algorithm,
      keyId,
      payload,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      (algorithm, keyId, payload, at, change, insert) => {
        const message = encodeSigned(payload, { algorithm, keyId }, signer(algorithm));
        const position = at % message.length;
        const changed = insert
          ? new Uint8Array([...message.subarray(0, position), change, ...message.subarray(position)])
          : message.map((byte, index) => (index === position ? byte ^ change : byte));
        let result: SignedMessage;
        try {
          result = decodeSigned(changed, bounds);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
          return;
        }
        opened++;
        expect(result.signature.length === 64 && verifies(result)).toBe(false);
      },
    ),
    { numRuns: 1000 },
  );
  expect(opened).toBeGreaterThan(100);
});

test('every truncation is refused', () => {
  const message = encodeSigned(new Uint8Array([1, 2, 3]), { algorithm: EDDSA, keyId: hex('01') }, signer(EDDSA));
  for (let length = 0; length < message.length; length++) {
    expect(() => decodeSigned(message.subarray(0, length), bounds)).toThrow(VigieError);
  }
});
