import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareTraffic } from '../../../../adapters/can/inspect/index.ts';
import { type TestFrame, trafficOf } from './frames.ts';
import { send } from './protect.ts';

const DOOR = 0x208;

/**
 * Frames of a car: a door, a noisy measured value, a counter with a checksum, and an odometer that depends on the day.
 */
function recording({ open, day }: { open: (i: number) => boolean; day: number }): TestFrame[] {
  return Array.from({ length: 600 }, (_, i) => {
    const protectedData = Uint8Array.of(0, 0, ((i * i * i) >> 3) & 0xff, (i * i) & 0xff, 0, 0, 0, 0);
    send(protectedData, { method: 'e2e-profile-1', dataId: 7 }, i);
    return [
      { at: i * 10, id: DOOR, data: [0, open(i) ? 0x40 : 0, 0] },
      { at: i * 10 + 1, id: 0x0a0, data: [(1000 + ((i * 7919) % (day * 97))) & 0xff, day === 1 ? 3 : (i >> 3) & 0xff] },
      { at: i * 10 + 2, id: 0x100, data: protectedData },
      { at: i * 10 + 3, id: 0x351, data: [0, day === 1 ? 0x12 : 0x4d] },
    ];
  }).flat();
}

describe('the differences of two recordings', () => {
  const shut = trafficOf(recording({ open: () => false, day: 1 }));

  test('list first the bit of a door that is open in one recording and shut in the other', () => {
    const [first] = compareTraffic(shut, trafficOf(recording({ open: () => true, day: 2 })));
    expect(first).toMatchObject({
      id: DOOR,
      kind: 'value',
      start: 14,
      bits: 1,
      first: { value: 0 },
      second: { value: 1 },
    });
  });

  test('list first the bit of a door that opens and shuts in one recording, with the time', () => {
    const opened = recording({ open: (i) => i >= 200 && i < 300, day: 2 });
    const [first] = compareTraffic(shut, trafficOf(opened));
    expect(first).toMatchObject({ id: DOOR, kind: 'changes', start: 14, bits: 1, first: { value: 0 } });
    expect(first?.second).toMatchObject({ flips: 2, changedAt: 2000 });
    expect(first?.second).not.toHaveProperty('value');
    const [mirrored] = compareTraffic(trafficOf(opened), shut);
    expect(mirrored).toMatchObject({ id: DOOR, first: { flips: 2 }, second: { value: 0 } });
  });

  test('list counters and checksums last', () => {
    const still = trafficOf([{ at: 0, id: 0x100, data: [0, 0, 0, 0, 0, 0, 0, 0] }]);
    const moving = trafficOf(recording({ open: () => false, day: 1 }).filter(({ id }) => id === 0x100));
    const differences = compareTraffic(still, moving);
    const places = (protection: boolean) =>
      new Set(differences.filter((one) => one.protection === protection).map(({ start = 0 }) => start >> 3));
    expect([...places(true)].sort()).toEqual([0, 1]);
    expect([...places(false)].sort()).toEqual([2, 3]);
    expect(differences.findIndex(({ protection }) => protection === true)).toBeGreaterThan(
      differences.findLastIndex(({ protection }) => protection === false),
    );
  });

  test('are empty for equal recordings, and where the same bits change in both', () => {
    expect(compareTraffic(shut, trafficOf(recording({ open: () => false, day: 1 })))).toEqual([]);
    const flips = (order: readonly number[]) => trafficOf(order.map((byte, at) => ({ at, id: 1, data: [byte] })));
    expect(compareTraffic(flips([1, 2, 3]), flips([3, 0, 0]))).toEqual([]);
  });

  test('name identifiers that only one recording has, and different payload lengths', () => {
    const first = trafficOf([
      { at: 0, id: 1, data: [1] },
      { at: 1, id: 2, data: [1, 2] },
    ]);
    const second = trafficOf([
      { at: 0, id: 2, data: [1, 2, 3] },
      { at: 1, id: 3, data: [] },
    ]);
    expect(compareTraffic(first, second)).toMatchObject([
      { id: 1, kind: 'only', first: { frames: 1 }, second: { frames: 0 } },
      { id: 2, kind: 'length', first: { value: 2 }, second: { value: 3 } },
      { id: 3, kind: 'only', first: { frames: 0 }, second: { frames: 1 } },
    ]);
  });

  test('match buses by name, or the only bus of each recording', () => {
    const frames = [{ at: 0, id: 1, data: [1] }];
    expect(compareTraffic(trafficOf(frames, ['can0']), trafficOf(frames, ['vcan0']))).toEqual([]);
    const two = [...frames, { at: 0, id: 1, data: [1], bus: 1 }];
    const differences = compareTraffic(trafficOf(two, ['can0', 'can1']), trafficOf(two, ['can1', 'can2']));
    expect(differences.map(({ bus, kind }) => [bus, kind])).toEqual([
      ['can0', 'only'],
      ['can2', 'only'],
    ]);
  });

  test('cover exactly the bits that a naive comparison finds', () => {
    const byte = fc.constantFrom(0, 1, 2, 0x81, 0xff);
    const payloads = fc.array(fc.tuple(byte, byte), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(payloads, payloads, (first, second) => {
        const traffic = (list: readonly (readonly number[])[]) =>
          trafficOf(list.map((data, at) => ({ at, id: 1, data })));
        const found = new Map(
          compareTraffic(traffic(first), traffic(second)).flatMap(({ kind, start = 0, bits = 0 }) =>
            Array.from({ length: bits }, (_, i) => [start + i, kind] as const),
          ),
        );
        for (let bit = 0; bit < 16; bit++) {
          const seen = (list: readonly (readonly number[])[]) =>
            new Set(list.map((data) => (data[bit >> 3]! >> (bit & 7)) & 1));
          const [own, other] = [seen(first), seen(second)];
          const expected =
            own.size !== other.size ? 'changes' : own.size === 1 && [...own][0] !== [...other][0] ? 'value' : undefined;
          expect(found.get(bit)).toBe(expected);
        }
      }),
      { numRuns: 200 },
    );
  });
});
