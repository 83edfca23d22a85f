import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc8H2f, crc8J1850 } from '../../../../adapters/can/dbc/crc8.ts';
import { type Protection, protect } from '../../../../adapters/can/dbc/index.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { bytes } from './frames.ts';

const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
const protectedBytes = (data: string, protection: Protection, counter = 0): string => {
  const payload = bytes(data);
  protect(payload, protection, counter);
  return hex(payload);
};

/** Check values of the AUTOSAR CRC library specification. */
describe('CRC-8', () => {
  test.each([
    ['00000000', 0x59, 0x12],
    ['f20183', 0x37, 0xc2],
    ['0faa0055', 0x79, 0xc6],
    ['00ff5511', 0xb8, 0x77],
    ['332255aabbccddeeff', 0xcb, 0x11],
    ['926b55', 0x8c, 0x33],
    ['ffffffff', 0x74, 0x6c],
    ['313233343536373839', 0x4b, 0xdf],
  ])('%s', (data, j1850, h2f) => {
    expect(crc8J1850(bytes(data))).toBe(j1850);
    expect(crc8H2f(bytes(data))).toBe(h2f);
  });
});

/** Examples of the AUTOSAR E2E protocol specification: eight zero bytes, Data ID 0x123. */
describe('AUTOSAR E2E', () => {
  test('profile 1', () => {
    const protection: Protection = { method: 'e2e-profile-1', dataId: 0x123, crcOffset: 0, counterOffset: 8 };
    expect(protectedBytes('0000000000000000', protection)).toBe('cc00000000000000');
    expect(protectedBytes('0000000000000000', protection, 1)).toBe('9101000000000000');
    expect(protectedBytes('0000000000000000', protection, 15)).toBe('cc00000000000000');
  });

  test('profile 2', () => {
    const dataIds = Array.from({ length: 16 }, (_, i) => i + 1);
    const expected = [0x0e, 0x1b, 0x98, 0x31, 0x0d, 0x18, 0x9b, 0x65, 0x08, 0x1d, 0x9e, 0x37, 0x0b, 0x1e, 0x9d, 0xcd];
    expected.forEach((crc, counter) => {
      const data = Uint8Array.of(crc, counter, 0, 0, 0, 0, 0, 0);
      expect(protectedBytes('0000000000000000', { method: 'e2e-profile-2', dataIds }, counter)).toBe(hex(data));
    });
    expect(protectedBytes('0000000000000000', { method: 'e2e-profile-2', dataIds }, 16)).toBe('0e00000000000000');
    const none = Array.from({ length: 16 }, () => 0);
    expect(protectedBytes('0000000000000000', { method: 'e2e-profile-2', dataIds: none }, 1)).toBe('4501000000000000');
  });
});

describe('sums', () => {
  test('the checksum is the sum of the bytes, or their exclusive or', () => {
    const field = { start: 24, length: 8, byteOrder: 'little' } as const;
    expect(protectedBytes('102030ff', { method: 'sum', ...field })).toBe('10203060');
    expect(protectedBytes('f0f030ff', { method: 'sum', ...field })).toBe('f0f03010');
    expect(protectedBytes('112233ff', { method: 'xor', ...field })).toBe('11223300');
    const low = { start: 24, length: 4, byteOrder: 'little' } as const;
    const counter = { start: 28, length: 2, byteOrder: 'little' } as const;
    // The sum includes the counter, here 6 modulo 4: 0x12 + 0x34 + 0x56 + 0x20.
    expect(protectedBytes('12345600', { method: 'sum', ...low, counter }, 6)).toBe('1234562c');
  });

  test('a CRC-8 in the middle of the payload covers the bytes on both sides', () => {
    // Worked example: the CRC covers f2, 01 and 83.
    const protection: Protection = { method: 'crc8-j1850', start: 16, length: 8, byteOrder: 'little' };
    expect(protectedBytes('f201ff83', protection)).toBe('f2013783');
  });
});

const field = { start: 0, length: 8, byteOrder: 'little' } as const;
const counter = { start: 15, length: 4, byteOrder: 'big' } as const;
const all: Protection[] = [
  { method: 'sum', ...field, counter },
  { method: 'xor', ...field, counter },
  { method: 'crc8-j1850', ...field, counter },
  { method: 'e2e-profile-1', dataId: 0x5a5, crcOffset: 0, counterOffset: 8 },
  { method: 'e2e-profile-1', dataId: 0x5a5, crcOffset: 24, counterOffset: 32 },
  { method: 'e2e-profile-2', dataIds: Array.from({ length: 16 }, (_, i) => 255 - 7 * i) },
];

test.each(all)('changing one bit invalidates the counter or checksum of %o', (protection) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 5, maxLength: 64 }), fc.nat(1000), fc.nat(), (data, count, flipped) => {
      protect(data, protection, count);
      const again = data.slice();
      protect(again, protection, count);
      expect(again).toEqual(data);
      const bit = flipped % (data.length * 8);
      data[bit >> 3]! ^= 1 << (bit & 7);
      const right = data.slice();
      protect(right, protection, count);
      expect(right).not.toEqual(data);
    }),
  );
});

test.each<[Protection, RegExp]>([
  [{ method: 'sum', start: 60, length: 8, byteOrder: 'little' }, /the checksum lies past the 8 bytes/],
  [{ method: 'sum', ...field, counter: { start: 64, length: 4, byteOrder: 'little' } }, /the counter lies past/],
  [{ method: 'sum', start: -1, length: 8, byteOrder: 'little' }, /not a place of 1 to 32 bits/],
  [{ method: 'crc8-j1850', start: 4, length: 8, byteOrder: 'little' }, /one whole byte/],
  [{ method: 'e2e-profile-1', dataId: 0x1_0000, crcOffset: 0, counterOffset: 8 }, /data id 65536 is not 0 to 65535/],
  [{ method: 'e2e-profile-2', dataIds: [1, 2] }, /needs 16 data ids/],
])('a protection that does not fit the payload is refused: %o', (protection, expected) => {
  const action = () => protect(new Uint8Array(8), protection);
  expect(action).toThrow(VigieError);
  expect(action).toThrow(expected);
});
