import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBits } from '../../../../adapters/can/dbc/index.ts';
import { Correlator, type Reference } from '../../../../adapters/can/inspect/index.ts';
import { wordFields, wordValue } from '../../../../adapters/can/inspect/word-fields.ts';
import { batchOf, type TestFrame } from './frames.ts';

function correlate(frames: readonly TestFrame[], reference: Reference, least = 0.5) {
  const correlator = new Correlator(reference);
  correlator.add(batchOf(frames), ['can0', 'can1']);
  correlator.endLog();
  return correlator.correlations(least, 20);
}

/** A movement like that of a car, from −1 to 1. */
const movement = (i: number): number => Math.sin(i / 40) * Math.cos(i / 170);
const noise = (i: number): number => {
  let hash = Math.imul(i + 1, 0x9e37_79b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) & 0xff;
};

/** Time between frames, ms. The reference has a value every 100 ms. */
const PERIOD = 20;
const record = (dataOf: (value: number, i: number) => number[]) =>
  Array.from({ length: 1000 }, (_, i) => ({ at: 1e12 + i * PERIOD, id: 0x123, data: dataOf(movement(i), i) }));
const reference = (of: (value: number) => number, relative = false): Reference => {
  const places = Array.from({ length: 190 }, (_, k) => 5 * k + 5);
  return {
    // Just after the frame, so that the frame is the latest one.
    times: places.map((i) => (relative ? 0 : 1e12) + i * PERIOD + 1),
    values: places.map((i) => of(movement(i))),
    relative,
  };
};

test('a field is read like a DBC signal with the same layout', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), (data) => {
      const padded = Uint8Array.from([...data, 0]);
      for (const field of wordFields(data.length)) {
        const raw = BigInt.asUintN(field.length, BigInt(wordValue(padded, field)));
        expect(raw, `${field.start}|${field.length}@${field.byteOrder}`).toBe(readBits(data, field));
        const value = wordValue(padded, field);
        expect(value < 0).toBe(field.signed && raw >= 1n << BigInt(field.length - 1));
      }
    }),
    { numRuns: 100 },
  );
});

describe('a field that follows a reference is found with its scale and offset', () => {
  const speed = (value: number): number => 100 + 90 * value;

  test('16 bits of the Motorola byte order', () => {
    const frames = record((value, i) => {
      const raw = Math.round(speed(value) * 100);
      return [noise(i), raw >> 8, raw & 0xff, 7];
    });
    const [best] = correlate(frames, reference(speed));
    expect(best).toMatchObject({ bus: 'can0', id: 0x123, samples: 190 });
    expect(best?.field).toMatchObject({ start: 15, length: 16, byteOrder: 'big', signed: false });
    expect(best?.coefficient).toBeCloseTo(1, 6);
    expect(best?.scale).toBeCloseTo(0.01, 6);
    expect(best?.offset).toBeCloseTo(0, 1);
  });

  test('12 bits of the Intel byte order, with a sign', () => {
    const frames = record((value, i) => {
      const raw = Math.round(value * 2000) & 0xfff;
      return [noise(i), ((raw & 0xf) << 4) | (noise(i) & 0xf), raw >> 4];
    });
    const [best] = correlate(frames, reference(speed));
    expect(best?.field).toMatchObject({ start: 12, length: 12, byteOrder: 'little', signed: true });
    expect(best?.scale).toBeCloseTo(90 / 2000, 4);
    expect(best?.offset).toBeCloseTo(100, 1);
  });

  test('a byte that falls as the reference grows, with times relative to the first frame', () => {
    const frames = record((value, i) => [noise(i), 3, Math.round(127 - 120 * value)]);
    const [best] = correlate(frames, reference(speed, true));
    expect(best?.field).toMatchObject({ start: 16, length: 8, signed: false });
    expect(best?.coefficient).toBeLessThan(-0.999);
    expect(best?.scale).toBeCloseTo(-0.75, 2);
  });

  test('a single bit', () => {
    const frames = record((value, i) => [noise(i), value > 0 ? 0x20 : 0]);
    const [best, ...others] = correlate(
      frames,
      reference((value) => (value > 0 ? 1 : 0)),
    );
    expect(best?.field).toMatchObject({ start: 13, length: 1 });
    for (const one of [best?.coefficient, best?.scale]) expect(one).toBeCloseTo(1, 9);
    expect(best?.offset).toBeCloseTo(0, 9);
    expect(others).toEqual([]);
  });
});

test('of fields that share bits only the best is named, and of equally good ones the narrowest', () => {
  const frames = record((value) => [0, Math.round(120 + 100 * value), 0]);
  const found = correlate(
    frames,
    reference((value) => value),
  );
  expect(found.map(({ field }) => [field.start, field.length])).toEqual([[8, 8]]);
});

test("noise, a constant reference and a reference outside the log's time match no field", () => {
  const noisy = record((_, i) => [noise(i), noise(3 * i), noise(7 * i), noise(11 * i)]);
  expect(
    correlate(
      noisy,
      reference((value) => value),
    ),
  ).toEqual([]);
  const frames = record((value) => [Math.round(120 + 100 * value)]);
  expect(
    correlate(
      frames,
      reference(() => 5),
    ),
  ).toEqual([]);
  const before = reference((value) => value);
  expect(correlate(frames, { ...before, times: before.times.map((time) => time - 1e6) })).toEqual([]);
});

test('correlation, scale and offset equal those of a naive computation', () => {
  const values = fc.array(
    fc.tuple(
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: -100_000, max: 100_000 }).map((value) => value / 100),
    ),
    {
      minLength: 12,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(values, (pairs) => {
      const frames = [...pairs.map(([raw]) => raw), 0].map((raw, i) => ({ at: i * 10, id: 1, data: [raw] }));
      const found = correlate(
        frames,
        { times: pairs.map((_, i) => i * 10 + 5), values: pairs.map(([, value]) => value), relative: false },
        0,
      );
      const byte = found.find(({ field }) => field.length === 8 && !field.signed);
      if (byte === undefined) return;
      const mean = (list: number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
      const [x, y] = [mean(pairs.map(([raw]) => raw)), mean(pairs.map(([, value]) => value))];
      const product = (a: (pair: [number, number]) => number, b: (pair: [number, number]) => number) =>
        pairs.reduce((sum, pair) => sum + a(pair) * b(pair), 0);
      const [dx, dy] = [([raw]: [number, number]) => raw - x, ([, value]: [number, number]) => value - y];
      const r = product(dx, dy) / Math.sqrt(product(dx, dx) * product(dy, dy));
      expect(byte.coefficient).toBeCloseTo(r, 6);
      expect(byte.scale).toBeCloseTo(product(dx, dy) / product(dx, dx), 6);
      expect(byte.offset).toBeCloseTo(y - (product(dx, dy) / product(dx, dx)) * x, 4);
    }),
    { numRuns: 200 },
  );
});
