import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberReader, NumberWriter, REACH } from '../../../protocol/columns/numbers.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const reader = (text: string): NumberReader => new NumberReader(new Uint8Array(Buffer.from(text, 'hex')));

describe('numbers of columns', () => {
  test.each([
    ['unsigned', 0, '00'],
    ['unsigned', 127, '7f'],
    ['unsigned', 128, '8001'],
    ['unsigned', 624_485, 'e58e26'],
    ['unsigned', Number.MAX_SAFE_INTEGER, 'ffffffffffffff0f'],
    ['signed', 0, '00'],
    ['signed', -1, '01'],
    ['signed', 1, '02'],
    ['signed', 63, '7e'],
    ['signed', -64, '7f'],
    ['signed', 64, '8001'],
    ['signed', -65, '8101'],
    ['signed', 2 ** 52, '8080808080808010'],
    ['signed', -(2 ** 53) + 2, 'fbffffffffffff1f'],
  ] as const)('golden: %s %d', (kind, value, text) => {
    const writer = new NumberWriter();
    writer[kind](value);
    expect(hex(writer.written)).toBe(text);
    expect(reader(text)[kind]()).toBe(value);
  });

  test('are read back in sequence, whatever their size', () => {
    const number = fc.oneof(
      fc.record({ kind: fc.constant('unsigned' as const), value: fc.maxSafeNat() }),
      fc.record({
        kind: fc.constant('signed' as const),
        // Includes differences of times and counts, which themselves reach 2^51.
        value: fc.oneof(fc.integer({ min: -200, max: 200 }), fc.integer({ min: -2 * REACH, max: 2 * REACH })),
      }),
    );
    fc.assert(
      fc.property(fc.array(number, { maxLength: 600 }), (numbers) => {
        const writer = new NumberWriter();
        for (const { kind, value } of numbers) writer[kind](value);
        const back = new NumberReader(writer.written);
        for (const { kind, value } of numbers) expect(back[kind]()).toBe(value + 0);
        expect(back.left).toBe(0);
      }),
    );
  });

  test.each([
    ['unsigned', ''],
    ['unsigned', '80'],
    ['signed', 'ff'],
    ['unsigned', '8080808080808010'],
    ['unsigned', '808080808080808000'],
    ['signed', 'ffffffffffffff7f'],
  ] as const)('%s %s is refused', (kind, text) => {
    expect(() => reader(text)[kind]()).toThrow(expect.objectContaining({ code: 'message.malformed' }));
  });
});
