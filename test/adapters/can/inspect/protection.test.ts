/**
 * Finds counters and checksums in generated traffic. The seeds are fixed, because random traffic could look like a
 * counter or checksum by chance.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FoundChecksum, findChecksum, findCounters } from '../../../../adapters/can/inspect/index.ts';
import { batchOf, trafficOf } from './frames.ts';
import { crc8, type DataIdMode, type Sent, send } from './protect.ts';

/** Evenly distributed bytes, equal for equal seeds (xorshift32). */
function randomBytes(seed: number): () => number {
  let state = (seed ^ 0x9e37_79b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 8) & 0xff;
  };
}

/** Frames of a message in which some bytes move like measured values and others stay constant. */
function traffic(
  seed: number,
  length: number,
  count: number,
  finish: (data: Uint8Array, i: number) => void,
): Uint8Array[] {
  const random = randomBytes(seed);
  const moving = Array.from({ length }, () => random() < 160);
  // At least two bytes other than the checksum must move.
  for (const k of [2, 3, 4]) moving[k] = true;
  const data = Uint8Array.from({ length }, random);
  return Array.from({ length: count }, (_, i) => {
    for (let k = 0; k < length; k++) if (moving[k] && random() < 128) data[k] = (data[k]! + (random() % 7) - 3) & 0xff;
    const frame = data.slice();
    finish(frame, i);
    return frame;
  });
}

const found = (frames: Uint8Array[]): FoundChecksum | undefined => findChecksum(frames, findCounters([frames]));
const seeds = fc.integer({ min: 0, max: 1_000_000 });
const byteAt = (byte: number) => ({ start: byte * 8, length: 8, byteOrder: 'little' }) as const;
const nibbleAt = (start: number) => ({ start, length: 4, byteOrder: 'little' }) as const;

test('the naive sender agrees with the examples of the AUTOSAR E2E protocol specification', () => {
  const hex = (sent: Sent, i: number) => {
    const data = new Uint8Array(8);
    send(data, sent, i);
    return Buffer.from(data).toString('hex');
  };
  const both: Sent = { method: 'e2e-profile-1', dataId: 0x123 };
  expect([hex(both, 0), hex(both, 1)]).toEqual(['cc00000000000000', '9101000000000000']);
  const alternating: Sent = { ...both, mode: 'alternating' };
  expect([hex(alternating, 0), hex(alternating, 1)]).toEqual(['ce00000000000000', '0201000000000000']);
  const second: Sent = { method: 'e2e-profile-2', dataIds: Array.from({ length: 16 }, (_, i) => i + 1) };
  expect([hex(second, 0), hex(second, 1)]).toEqual(['0e00000000000000', '1b01000000000000']);
});

describe('a counter is found by trial', () => {
  test.each([
    ['a nibble from 0 to 15', 8, 4, 16],
    ['a nibble from 0 to 14', 12, 4, 15],
    ['a byte from 0 to 255', 56, 8, 256],
    ['a byte from 0 to 254', 0, 8, 255],
    ['two bits', 60, 2, 4],
    ['three bits within a byte', 33, 3, 8],
  ])('%s', (_, start, length, modulus) => {
    const field = { start, length, byteOrder: 'little' as const };
    const mask = (2 ** length - 1) << (start & 7);
    const frames = traffic(start + 1, 8, 600, (data, i) => {
      data[start >> 3] = (data[start >> 3]! & ~mask) | ((i % modulus) << (start & 7));
    });
    expect(findCounters([frames])).toEqual([{ field, modulus, frames: 599, right: 599 }]);
  });

  test('although one frame in fifty is lost', () => {
    const frames = traffic(3, 8, 600, (data, i) => {
      data[1] = i & 15;
    }).filter((_, i) => i % 50 !== 7);
    const [counter] = findCounters([frames]);
    expect(counter).toMatchObject({ field: nibbleAt(8), modulus: 16 });
    expect(counter!.frames - counter!.right).toBe(12);
  });

  test('of any length within a byte whose upper bits are constant', () => {
    for (let length = 2; length <= 8; length++) {
      const frames = traffic(3, 8, 700, (data, i) => {
        data[1] = (0x80 & ~(2 ** length - 1)) | (i % 2 ** length);
      });
      expect(findCounters([frames])).toMatchObject([{ field: { start: 8, length }, modulus: 2 ** length }]);
    }
  });

  test('only where a value counts, not where it grows, stays or changes randomly', () => {
    const growing = traffic(1, 8, 200, (data, i) => {
      data[0] = i;
    });
    expect(findCounters([growing])).toEqual([]);
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = randomBytes(seed);
        const frames = Array.from({ length: 200 }, () => Uint8Array.from({ length: 8 }, random));
        expect(findCounters([frames])).toEqual([]);
      }),
      { numRuns: 50, seed: 1 },
    );
  });
});

describe('a checksum and its constant are found by trial', () => {
  test('exclusive or, sum and negated sum of bytes, at any byte', () => {
    const kinds = fc.constantFrom<{ method: 'sum' | 'xor'; negate: boolean }>(
      { method: 'xor', negate: false },
      { method: 'sum', negate: false },
      { method: 'sum', negate: true },
    );
    fc.assert(
      fc.property(
        kinds,
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom(0, 5, 7),
        seeds,
        (kind, initial, byte, seed) => {
          const sent: Sent = { ...byteAt(byte), ...kind, initial };
          const checksum = found(traffic(seed, 8, 300, (data) => send(data, sent)));
          const method = kind.method === 'xor' ? 'xor' : kind.negate ? 'negated-sum' : 'sum';
          expect(checksum).toMatchObject({ method, constant: initial, frames: 300, right: 300 });
          // A constant exclusive or does not show which byte holds it.
          if (method === 'sum') expect(checksum?.place).toEqual({ byte, bit: 0, length: 8 });
        },
      ),
      { numRuns: 60, seed: 1 },
    );
  });

  test("a negated sum of nibbles in four bits with a counter of two bits, as in Honda's frames", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const sent: Sent = {
          ...nibbleAt(56),
          method: 'sum',
          unit: 'nibble',
          negate: true,
          initial: 8,
          counter: { start: 60, length: 2, byteOrder: 'little' },
        };
        const frames = traffic(seed, 8, 300, (data, i) => {
          data[7] = 0;
          send(data, sent, i);
        });
        expect(findCounters([frames])).toMatchObject([{ field: { start: 60, length: 2 }, modulus: 4 }]);
        expect(found(frames)).toMatchObject({
          place: { byte: 7, bit: 0, length: 4 },
          method: 'negated-sum',
          constant: 8,
          frames: 300,
        });
      }),
      { numRuns: 20, seed: 1 },
    );
  });

  test.each([
    ['SAE J1850', 0x1d, 'crc8-j1850'],
    ['CRC8H2F', 0x2f, 'crc8-h2f'],
  ] as const)('CRC-8 %s with any start value, inversion and prefix', (_, polynomial, method) => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(
        byte,
        byte,
        fc.array(byte, { maxLength: 4 }),
        fc.integer({ min: 0, max: 7 }),
        seeds,
        (start, invert, prefix, at, seed) => {
          const frames = traffic(seed, 8, 300, (data) => {
            data[at] = crc8(polynomial, [...prefix, ...data.filter((_, k) => k !== at)], start, invert);
          });
          const zeros = [0, 0, 0, 0, 0, 0, 0];
          expect(found(frames)).toMatchObject({
            place: { byte: at, bit: 0, length: 8 },
            method,
            appended: 0,
            constant: crc8(polynomial, [...prefix, ...zeros], start, invert) ^ crc8(polynomial, zeros, 0xff, 0xff),
          });
        },
      ),
      { numRuns: 40, seed: 1 },
    );
  });

  test('AUTOSAR E2E profile 1 with its Data ID, also if its bytes alternate', () => {
    const modes = fc.constantFrom<DataIdMode>('both', 'alternating', 'low', 'nibble');
    fc.assert(
      fc.property(modes, fc.integer({ min: 0x100, max: 0xfff }), seeds, (mode, dataId, seed) => {
        const sent: Sent = { method: 'e2e-profile-1', dataId, mode };
        const frames = traffic(seed, 8, 400, (data, i) => {
          data[1] = 0;
          send(data, sent, i);
        });
        const checksum = found(frames);
        expect(checksum).toMatchObject({
          place: { byte: 0 },
          method: 'crc8-j1850',
          profile: { names: '1 or 11' },
          right: 400,
        });
        const known = mode === 'alternating' && dataId >>> 8 !== (dataId & 0xff);
        expect(checksum?.profile?.dataId).toBe(known ? dataId : undefined);
        expect(findCounters([frames])).toMatchObject([{ field: nibbleAt(8), modulus: 15 }]);
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  test('AUTOSAR E2E profile 2 with its list of Data IDs', () => {
    const lists = fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(lists, seeds, (dataIds, seed) => {
        const sent: Sent = { method: 'e2e-profile-2', dataIds };
        const frames = traffic(seed, 8, 400, (data, i) => {
          data[1]! &= 0xf0;
          send(data, sent, i);
        });
        expect(found(frames)).toMatchObject({
          place: { byte: 0 },
          method: 'crc8-h2f',
          appended: 1,
          profile: { names: '2 or 22', dataIds },
          frames: 400,
          right: 400,
        });
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  test('a sum over a frame in which little but the counter changes', () => {
    const message = trafficOf(
      Array.from({ length: 320 }, (_, i) => {
        const data = Uint8Array.of(0, 0, 0, i & 15, Math.floor(i / 40), Math.floor(i / 10), 0, 0);
        send(data, { ...byteAt(7), method: 'sum', initial: 9 });
        return { at: i, id: 1, data };
      }),
    ).messages[0]!;
    const { counters, checksum } = message.findProtection();
    expect(checksum).toMatchObject({ place: { byte: 7 }, method: 'sum', constant: 9 });
    expect(counters).toMatchObject([{ field: nibbleAt(24) }]);
  });

  test('in a CAN FD frame of 64 bytes', () => {
    const sent: Sent = { method: 'e2e-profile-2', dataIds: Array.from({ length: 16 }, (_, i) => 17 * i) };
    const frames = traffic(5, 64, 200, (data, i) => send(data, sent, i));
    expect(found(frames)).toMatchObject({ place: { byte: 0 }, profile: { names: '2 or 22' } });
  });

  test('although the first frames have wrong checksums', () => {
    const frames = traffic(5, 8, 300, (data, i) => {
      send(data, { ...byteAt(7), method: 'xor' });
      if (i < 5) data[7]! ^= 0x55;
    });
    expect(found(frames)).toMatchObject({ method: 'xor', frames: 300, right: 295 });
  });
});

describe('no checksum is found', () => {
  test('in random payloads, with a counter or without', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 8 }), fc.boolean(), (seed, length, counts) => {
        const random = randomBytes(seed);
        const frames = Array.from({ length: 300 }, (_, i) => {
          const data = Uint8Array.from({ length }, random);
          if (counts) data[0] = (data[0]! & 0xf0) | (i & 15);
          return data;
        });
        expect(found(frames)).toBeUndefined();
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  test('in payloads that move like measured values', () => {
    fc.assert(
      fc.property(seeds, fc.constantFrom(2, 4, 8), (seed, length) => {
        expect(found(traffic(seed, Math.max(4, length), 300, () => undefined))).toBeUndefined();
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  test('in too few frames, or if only a counter changes', () => {
    const sent: Sent = { ...byteAt(7), method: 'xor', counter: nibbleAt(48) };
    const random = traffic(1, 8, 19, (data, i) => send(data, sent, i));
    expect(found(random)).toBeUndefined();
    const still = Array.from({ length: 300 }, (_, i) => {
      const data = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
      send(data, sent, i);
      return data;
    });
    expect(findCounters([still])).toMatchObject([{ field: nibbleAt(48) }]);
    expect(found(still)).toBeUndefined();
  });

  test('where a byte copies or complements another', () => {
    const copies = traffic(7, 8, 300, (data) => {
      data[7] = data[2]!;
    });
    expect(found(copies)).toBeUndefined();
    const complements = traffic(7, 8, 300, (data) => {
      data.set([~data[2]!, ~data[3]!, ...data.subarray(2, 4), 0, 0, 0, 0]);
    });
    expect(found(complements)).toBeUndefined();
  });
});

describe('the sample of a message', () => {
  const PERIOD = 10;
  const received = (count: number, dataOf: (i: number) => Uint8Array) => {
    const frames = Array.from({ length: count }, (_, i) => ({ at: i * PERIOD, id: 1, data: dataOf(i) }));
    return trafficOf(frames).messages[0]!;
  };

  test('yields a checksum although the car first stands still for long', () => {
    const random = randomBytes(1);
    const message = received(20_000, (i) => {
      const data = new Uint8Array(8);
      if (i > 10_000) for (let k = 2; k < 7; k++) data[k] = random();
      send(data, { method: 'e2e-profile-1', dataId: 0x123 }, i);
      return data;
    });
    const { counters, checksum } = message.findProtection();
    expect(counters).toMatchObject([{ field: nibbleAt(8), modulus: 15 }]);
    expect(checksum).toMatchObject({ method: 'crc8-j1850', profile: { names: '1 or 11' } });
  });

  test('is not much larger for a million frames than for a hundred thousand', () => {
    const data = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const batch = batchOf(Array.from({ length: 100_000 }, (_, i) => ({ at: i, id: 1, data })));
    const traffic = trafficOf([]);
    const held: number[] = [];
    for (let round = 0; round < 10; round++) {
      for (let i = 0; i < batch.count; i++) batch.data[batch.offset[i]!] = Math.floor(i / 3);
      traffic.add(batch, ['can0']);
      held.push(traffic.messages[0]!.sample.frames(8).length);
    }
    expect(held[0]).toBeLessThan(1000);
    expect((held[9] as number) - (held[0] as number)).toBe(64);
  });

  test('contains only frames of the most frequent length', () => {
    const random = randomBytes(3);
    const message = received(900, (i) => {
      const data = Uint8Array.from({ length: i % 3 === 0 ? 5 : 8 }, random);
      if (data.length === 8) send(data, { ...byteAt(7), method: 'xor', initial: 0x5a });
      return data;
    });
    expect(message.findProtection().checksum).toMatchObject({ method: 'xor', constant: 0x5a });
  });
});
