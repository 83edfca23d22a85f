import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32, portableCrc32 } from '../../../../adapters/can/log/crc32.ts';

test('the portable checksum of zip archives equals that of zlib, at once and in parts', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, at) => {
      expect(portableCrc32(bytes)).toBe(crc32(bytes));
      expect(portableCrc32(bytes.subarray(at), portableCrc32(bytes.subarray(0, at)))).toBe(crc32(bytes));
    }),
  );
});

test('the checksum of "123456789" is that of the standard', () => {
  expect(portableCrc32(new TextEncoder().encode('123456789'))).toBe(0xcbf4_3926);
});
