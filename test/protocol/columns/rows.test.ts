import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberReader } from '../../../protocol/columns/numbers.ts';
import { columnsOfRows, rowsOfColumns } from '../../../protocol/columns/rows.ts';
import { VigieError } from '../../../protocol/errors.ts';

const read = (bytes: Uint8Array) => rowsOfColumns(new NumberReader(bytes));
const value = fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -(2 ** 51), max: 2 ** 51 }));
const rows = fc.array(
  fc
    .uniqueArray(fc.tuple(fc.nat(9), value), { selector: ([key]) => key, maxLength: 8 })
    .map((members) => new Map(members)),
  { maxLength: 40 },
);

describe('records as columns', () => {
  test('are read back with the same members', () => {
    fc.assert(
      fc.property(rows, (all) => {
        expect(read(columnsOfRows(all)!)).toEqual(all);
      }),
      { numRuns: 500 },
    );
  });

  test('golden: two members, one missing in the middle row', () => {
    const points = [
      new Map([
        [1, 30],
        [2, 1000],
      ]),
      new Map([[1, 20]]),
      new Map([
        [1, 0],
        [2, 990],
      ]),
    ];
    const golden = [
      3,
      2,
      1,
      3,
      10,
      60,
      1,
      3, // key 1: a run of 3, steps of 10, 30, -1 step, -2 steps
      2,
      1,
      1,
      1,
      10,
      0xd0,
      0x0f,
      1, // key 2: present, missing, present; steps of 10, 1000, -1 step
    ];
    expect([...columnsOfRows(points)!]).toEqual(golden);
    expect(read(Uint8Array.from(golden))).toEqual(points);
  });

  test.each<[string, ReadonlyMap<unknown, unknown>[]]>([
    ['an integer beyond 2^51', [new Map([[1, 2 ** 52]])]],
    ['a big integer', [new Map([[1, 2n ** 40n]])]],
    ['a text', [new Map([[1, 'x']])]],
    ['a fraction', [new Map([[1, 0.5]])]],
    ['too many', Array(20_000).fill(new Map())],
  ])('cannot represent %s', (_, all) => {
    expect(columnsOfRows(all)).toBeUndefined();
  });

  test.each<[string, number[]]>([
    ['more records than allowed', [0x81, 0x80, 0x01, 0]],
    ['more members than bytes', [1, 9, 1]],
    ['a run beyond the records', [1, 1, 1, 2, 1, 0]],
    ['a step of 0', [1, 1, 1, 1, 0, 0]],
    ['a member twice', [1, 2, 1, 1, 1, 0, 1, 1, 1, 0]],
    ['bytes behind the end', [0, 0, 0]],
    ['the end in the middle', [1, 1, 1]],
  ])('%s is refused', (_, bytes) => {
    expect(() => read(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: 'message.malformed' }));
  });

  test('of any bytes yield records or a VigieError', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(4), fc.nat(255)), { maxLength: 60 }), (bytes) => {
        try {
          read(Uint8Array.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
