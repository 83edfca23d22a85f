import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { field } from './sets.ts';

describe('a field in an answer', () => {
  it.each([
    ['bits from the most significant', { bix: 4, len: 8 }, 'ABCD', 0xbc],
    ['across three bytes', { bix: 7, len: 12, max: 4096 }, '018001', 0xc00],
    ['one bit', { bix: 15, len: 1, max: 1, unit: 'noyes' }, '0001', 1],
    ['two bytes', { len: 16, max: 65535 }, '1234', 0x1234],
    ['two bytes, least significant first', { len: 16, max: 65535, blsb: true }, '3412', 0x1234],
    ['twelve bits, least significant byte first', { bix: 4, len: 12, max: 4095, blsb: true }, '34A2', 0x234],
    ['48 bits', { len: 48, max: 2 ** 48 }, 'FFFFFFFFFFFE', 2 ** 48 - 2],
    ['48 bits between bytes', { bix: 3, len: 48, max: 2 ** 48 }, '1FFFFFFFFFFFC0', 2 ** 48 - 2],
    ['beyond 2^53, written out', { len: 64, max: 2 ** 64 }, 'FFFFFFFFFFFFFFFF', '18446744073709551615'],
    ['64 bits, signed', { len: 64, min: -1000, sign: true }, 'FFFFFFFFFFFFFFFE', -2],
    ['signed', { sign: true, min: -128, max: 127 }, '80', -128],
    ['signed within a byte', { bix: 2, len: 4, sign: true, min: -8 }, '20', -8],
    ['scaled', { mul: 100, div: 255, add: -1, max: 100 }, 'FF', 99],
    ['clamped to max', { max: 100 }, 'FF', 100],
    ['clamped to min', { add: -40, min: -30 }, '00', -30],
    ['clamped to 0 without min', { add: -40 }, '00', 0],
    ['not clamped by equal bounds', { min: 7, max: 7 }, '20', 32],
    ['not clamped without bounds', { max: undefined, add: -40 }, '00', -40],
    ['null from nullmax on', { nullmax: 200 }, 'C8', undefined],
    ['a value below nullmax', { nullmax: 200 }, 'C7', 199],
    ['null up to nullmin', { add: -50, nullmin: -48, min: -50 }, '02', undefined],
    ['null is decided before clamping', { max: 1, nullmax: 2 }, '02', undefined],
    ['text', { bix: 8, len: 40, unit: 'ascii' }, '0100414243FF', 'ABC'],
    ['text between bytes', { bix: 4, len: 16, unit: 'ascii' }, '041420', 'AB'],
    ['a name', { map: { 1: { value: 'OPEN', description: 'Door open' } } }, '01', 'OPEN'],
    ['a name written plainly', { map: { '02': 'SHUT' } }, '02', 'SHUT'],
    ['a signed name', { sign: true, map: { '-1': { value: 'REVERSE' } } }, 'FF', 'REVERSE'],
    ['the raw value where there is no name', { map: { 1: { value: 'OPEN' } } }, '07', 7],
  ])('%s', (_, fmt, data, expected) => {
    expect(field(fmt, data)).toBe(expected);
  });

  it('has the same value by each way of decoding', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 9, maxLength: 9 }),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 1, max: 48 }),
        fc.boolean(),
        (data, bix, len, sign) => {
          const whole = BigInt(`0x${Buffer.from(data).toString('hex')}`);
          const bits = BigInt.asUintN(len, whole >> BigInt(72 - bix - len));
          const expected = Number(sign ? BigInt.asIntN(len, bits) : bits);
          const fmt = { bix, len, sign, min: -(2 ** 49), max: 2 ** 49 };
          expect(field(fmt, Buffer.from(data).toString('hex'))).toBe(expected);
        },
      ),
    );
  });

  it('with blsb has the value of the reversed bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2, maxLength: 6 }), (data) => {
        const hex = Buffer.from(data).toString('hex');
        const reversed = Buffer.from(data.toReversed()).toString('hex');
        const fmt = { len: 8 * data.length, max: 2 ** 48 };
        expect(field({ ...fmt, blsb: true }, hex)).toBe(field(fmt, reversed));
      }),
    );
  });
});
