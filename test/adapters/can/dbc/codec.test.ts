import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DbcCodec, DbcFrameReader } from '../../../../adapters/can/dbc/index.ts';
import { BIT_RATE_SWITCH, EXTENDED, FD, type MessageCodec } from '../../../../agent/ports.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { batchOf, bytes } from './frames.ts';
import { database, type Layout, layout, naiveRaw, signalText } from './layouts.ts';

const doors = database(`BO_ 2147483904 Doors: 4 A
 SG_ Lock : 1|2@0+ (1,0) [0|2] "" A
 SG_ Level : 8|8@1- (0.5,10) [-40|60] "" A
 SG_ Mux M : 16|4@1+ (1,0) [0|0] "" A
 SG_ Window m2 : 24|8@1+ (1,0) [0|100] "" A
BO_ 5 Long: 10 A
 SG_ Ratio : 0|32@1- (1,0) [0|0] "" A
 SG_ Count : 32|48@1+ (1,0) [0|0] "" A
BO_ 2566834942 Transported: 70 A
BO_ 7 Wide: 8 A
 SG_ W : 0|64@1- (1,0) [0|0] "" A
VAL_ 2147483904 Lock 0 "None" 1 "Lock" 3 "Invalid" ;
SIG_VALTYPE_ 5 Ratio : 1;
BA_DEF_ BO_ "CANFD_BRS" ENUM "0","1";
BA_DEF_DEF_ "CANFD_BRS" "1";`);
const codec: MessageCodec = new DbcCodec([{ database: doors }]);
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

function refusal(action: () => unknown): VigieError {
  try {
    action();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('encoding', () => {
  test('accepts physical values and names, and encodes omitted signals as raw 0', () => {
    expect(codec.encode('Doors', { Lock: 'Lock', Level: -20 })).toEqual({
      id: 256 + EXTENDED,
      flags: 0,
      data: bytes('01c40000'),
    });
    expect(hex(codec.encode('Doors', {}).data)).toBe('00000000');
    expect(hex(codec.encode('Doors', { Window: 100, Mux: 2 }).data)).toBe('00000264');
    expect(hex(codec.encode('Doors', { Level: 10.3 }).data)).toBe('00010000');
  });

  test('accepts a named value, and its number, outside the physical range', () => {
    expect(hex(codec.encode('Doors', { Lock: 'Invalid' }).data)).toBe('03000000');
    expect(hex(codec.encode('Doors', { Lock: 3 }).data)).toBe('03000000');
  });

  test('pads CAN FD payloads to a valid length', () => {
    const { flags, data } = codec.encode('Long', { Ratio: 1.5, Count: 2 ** 47 });
    expect(flags).toBe(FD | BIT_RATE_SWITCH);
    expect(hex(data)).toBe('0000c03f0000000000800000');
    expect(hex(codec.encode('Long', { Ratio: 'nan' }).data).slice(0, 8)).toBe('0000c07f');
  });

  test('accepts integers beyond 2^53 as text', () => {
    expect(hex(codec.encode('Wide', { W: '-9223372036854775807' }).data)).toBe('0100000000000080');
  });

  test.each<[string, Record<string, number | string>, string, RegExp]>([
    ['Door', {}, 'input.unknown', /no message Door; did you mean Doors/],
    ['Doors', { Lok: 1 }, 'input.unknown', /message Doors: there is no signal Lok; did you mean Lock/],
    ['Doors', { Lock: 'Lokc' }, 'input.unknown', /no value named 'Lokc'; did you mean Lock/],
    ['Doors', { Level: 'x' }, 'input.unknown', /it has no value table, give a number/],
    ['Doors', { Lock: 4 }, 'input.malformed', /4 does not fit, its 2 bits hold 0 to 3/],
    ['Doors', { Level: 61 }, 'input.malformed', /61 is outside its range -40 to 60/],
    ['Doors', { Level: Number.NaN }, 'input.malformed', /NaN cannot be carried/],
    ['Doors', { Window: 1 }, 'input.malformed', /Window is only in frames whose Mux is 2 \(raw\), not 0/],
    ['Transported', {}, 'input.malformed', /70 bytes do not fit in one/],
    ['Wide', { W: '9223372036854775808' }, 'input.malformed', /does not fit/],
  ])('%s %o is refused', (message, values, code, expected) => {
    const error = refusal(() => codec.encode(message, values));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(expected);
  });

  test('overlapping signals that do not agree are refused', () => {
    const one = new DbcCodec([
      {
        database: database(`BO_ 1 M: 1 A
 SG_ S : 0|8@1+ (1,0) [0|0] "" A
 SG_ T : 4|4@1+ (1,0) [0|0] "" A`),
      },
    ]);
    expect(hex(one.encode('M', { S: 0x21, T: 2 }).data)).toBe('21');
    expect(refusal(() => one.encode('M', { S: 0x21, T: 3 })).message).toMatch(/shares bits/);
  });
});

describe('decoding', () => {
  test('returns the physical values of the signals in the frame', () => {
    const frame = codec.encode('Doors', { Lock: 1, Level: -20, Mux: 2, Window: 7 });
    expect(codec.decode(frame)).toEqual({ message: 'Doors', signals: { Lock: 1, Level: -20, Mux: 2, Window: 7 } });
    expect(codec.decode({ ...frame, data: bytes('01c4') })?.signals).toEqual({ Lock: 1, Level: -20 });
    expect(codec.decode({ ...frame, id: 256 })).toBeUndefined();
  });
});

test('decoding returns the raw values that were encoded, for every layout', () => {
  /** Layouts that share no bits, each with a raw value. */
  const fields = fc
    .array(fc.tuple(layout(8), fc.bigInt(0n, 2n ** 64n - 1n)), { minLength: 1, maxLength: 5 })
    .map((list) => {
      let used = 0n;
      return list.flatMap(([field, bits]): { field: Layout; raw: bigint }[] => {
        const ones = Array.from({ length: 64 }, (_, bit) => {
          const data = new Uint8Array(8);
          data[bit >> 3] = 1 << (bit & 7);
          return naiveRaw(data, { ...field, type: 'unsigned' }) === 0n ? 0n : 1n << BigInt(bit);
        });
        const mask = ones.reduce((all, one) => all | one, 0n);
        if ((used & mask) !== 0n) return [];
        used |= mask;
        const raw = field.type === 'signed' ? BigInt.asIntN(field.length, bits) : BigInt.asUintN(field.length, bits);
        return [{ field, raw }];
      });
    });
  const scales = fc.constantFrom<[string, number, number]>(['(1,0)', 1, 0], ['(-2,7)', -2, 7], ['(10,-100)', 10, -100]);
  fc.assert(
    fc.property(fields, scales, (list, [scale, factor, offset]) => {
      const one = database(`BO_ 9 M: 8 A\n${list.map(({ field }, i) => signalText(`S${i}`, field, scale)).join('\n')}`);
      const values = Object.fromEntries(
        list.map(({ raw }, i) => {
          const physical = raw * BigInt(factor) + BigInt(offset);
          return [`S${i}`, Number.isSafeInteger(Number(physical)) ? Number(physical) : physical.toString()];
        }),
      );
      const frame = new DbcCodec([{ database: one }]).encode('M', values);
      for (const { field, raw } of list) expect(naiveRaw(frame.data, field)).toBe(raw);
      const read = new DbcFrameReader([{ database: one }], []).decode(batchOf([{ id: frame.id, data: frame.data }]), 0);
      expect(read?.signals).toEqual(values);
    }),
    { numRuns: 300 },
  );
});

test('floats of 16, 32 and 64 bits survive encoding and decoding', () => {
  const one = database(`BO_ 1 M: 14 A
 SG_ H : 0|16@1- (1,0) [0|0] "" A
 SG_ F : 23|32@0- (1,0) [0|0] "" A
 SG_ D : 48|64@1- (1,0) [0|0] "" A
SIG_VALTYPE_ 1 H : 1;
SIG_VALTYPE_ 1 F : 1;
SIG_VALTYPE_ 1 D : 2;`);
  const both = new DbcCodec([{ database: one }]);
  fc.assert(
    fc.property(fc.nat(0xffff), fc.float({ noNaN: true }), fc.double({ noNaN: true }), (h, F, D) => {
      const data = new Uint8Array(16);
      data.set([h & 255, h >> 8]);
      const H = both.decode({ id: 1, flags: FD, data })?.signals['H'] ?? 0;
      const text = (value: number) => (Number.isFinite(value) ? value : value > 0 ? 'inf' : '-inf');
      const frame = both.encode('M', { H: Number.isNaN(H) ? 'nan' : text(H), F: text(F), D: text(D) });
      // -0 + 0 is 0, because the decoder always adds the offset.
      expect(both.decode(frame)?.signals).toEqual({ H: H + 0, F: F + 0, D: D + 0 });
      if (!Number.isNaN(H) && H !== 0) expect(frame.data[0]! | (frame.data[1]! << 8)).toBe(h);
    }),
  );
});
