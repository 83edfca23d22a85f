import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObservedMessage } from '../../../../adapters/can/inspect/index.ts';
import { ERROR, EXTENDED, FD, REMOTE } from '../../../../agent/ports.ts';
import { batchOf, type TestFrame, trafficOf } from './frames.ts';

const only = (frames: readonly TestFrame[]): ObservedMessage => {
  const { messages } = trafficOf(frames);
  expect(messages).toHaveLength(1);
  return messages[0]!;
};

describe('the statistics of a message', () => {
  test('contain which bits change, how often, and when first', () => {
    const message = only([
      { at: 0, id: 1, data: [0x01, 0xff] },
      { at: 10, id: 1, data: [0x01, 0x7f] },
      { at: 20, id: 1, data: [0x03, 0xff] },
      { at: 30, id: 1, data: [0x03, 0xff] },
    ]);
    expect([...message.changed.subarray(0, 2)]).toEqual([0x02, 0x80]);
    expect([...message.latest.subarray(0, 2)]).toEqual([0x03, 0xff]);
    expect(message.flips[1]).toBe(1);
    expect(message.flips[15]).toBe(2);
    expect([message.firstFlips[1], message.firstFlips[15]]).toEqual([20, 10]);
    expect([message.changes, message.changedBits]).toEqual([2, 2]);
  });

  test('do not count a missing byte as a change', () => {
    const message = only([
      { at: 0, id: 1, data: [1] },
      { at: 1, id: 1, data: [1, 2, 3] },
      { at: 2, id: 1, data: [1, 2] },
      { at: 3, id: 1, data: [1, 2, 3] },
    ]);
    expect(message.changedBits).toBe(0);
    expect(message.changes).toBe(3);
    expect([...message.lengths]).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
  });

  test('grow with the first long CAN FD frame and keep earlier counts', () => {
    const long = new Uint8Array(64).fill(7);
    const message = only([
      { at: 0, id: 1, data: [7, 1] },
      { at: 1, id: 1, data: [7, 3] },
      { at: 2, id: 1, data: long, flags: FD },
      { at: 3, id: 1, data: [...long.subarray(0, 63), 8], flags: FD },
    ]);
    expect([message.longest, message.fdFrames]).toEqual([64, 2]);
    expect([...message.lengths]).toEqual([
      [2, 2],
      [64, 2],
    ]);
    // 1, 3, 7: bits 1 and 2 of byte 1. 7, 8: four bits of the last byte.
    expect([message.changed[1], message.changed[63]]).toEqual([0x06, 0x0f]);
    expect([message.flips[9], message.flips[63 * 8 + 3]]).toEqual([1, 1]);
  });

  test('contain the median interval, and a jitter that ignores a single pause', () => {
    const frames = Array.from({ length: 100 }, (_, i) => ({ at: i * 10 + (i >= 50 ? 60_000 : 0), id: 1, data: [0] }));
    const { intervals } = only(frames);
    expect([intervals.count, intervals.median, intervals.jitter]).toEqual([99, 10, 0]);
    expect([intervals.minimum, intervals.maximum]).toEqual([10, 60_010]);
  });

  test('exclude the interval between two logs, and one in which the log jumps back', () => {
    const traffic = trafficOf([
      { at: 5000, id: 1, data: [0] },
      { at: 5010, id: 1, data: [0] },
      { at: 100, id: 1, data: [0] },
    ]);
    traffic.endLog();
    traffic.add(batchOf([{ at: 9000, id: 1, data: [0] }]), ['can0']);
    const [message] = traffic.messages;
    expect([message?.frames, message?.intervals.count, message?.intervals.median]).toEqual([4, 1, 10]);
  });

  test('contain a median close to the true one if there are more intervals than samples', () => {
    // Two frames every 100 ms, the second 5 ms late: an evenly spaced sample would see mostly equal intervals.
    const frames: TestFrame[] = [];
    for (let i = 0; i < 8000; i++) frames.push({ at: i * 100 + (i % 4 === 0 ? 5 : 0), id: 1, data: [0] });
    const { intervals } = only(frames);
    expect([intervals.count, intervals.median]).toEqual([7999, 100]);
    // 105, 95, 100, 100, …
    expect(intervals.jitter).toBe(5);
  });
});

describe('traffic statistics', () => {
  test('count remote and error frames separately from data frames', () => {
    const traffic = trafficOf([
      { at: 0, id: 0x123, data: [1] },
      { at: 1, id: 0x123 | REMOTE, data: [0] },
      { at: 2, id: ERROR | 0x80, data: [0, 0, 0, 0, 0, 0, 0, 0] },
      { at: 3, id: 0x7df | REMOTE, data: [] },
    ]);
    expect(traffic.buses).toMatchObject([{ name: 'can0', frames: 1, remotes: 2, errors: 1, first: 0, last: 3 }]);
    expect(traffic.messages.map(({ id, frames, remotes }) => [id, frames, remotes])).toEqual([
      [0x123, 1, 1],
      [0x7df, 0, 1],
    ]);
  });

  test('keep 11-bit and 29-bit identifiers apart', () => {
    const traffic = trafficOf([
      { at: 0, id: 0x123 | EXTENDED, data: [1] },
      { at: 0, id: 0x123, data: [1] },
    ]);
    expect(traffic.messages.map(({ id }) => id)).toEqual([0x123, (0x123 | EXTENDED) >>> 0]);
  });

  test('match a bus by its name across logs, and list no bus without frames', () => {
    const traffic = trafficOf([{ at: 0, id: 1, data: [1], bus: 1 }], ['body', 'drive']);
    traffic.endLog();
    traffic.add(batchOf([{ at: 0, id: 1, data: [2] }]), ['drive']);
    expect(traffic.buses.map(({ name, frames }) => [name, frames])).toEqual([['drive', 2]]);
    expect(traffic.messages[0]?.changed[0]).toBe(3);
  });

  test('agree with a naive count of any frames', () => {
    const frame = fc.record({
      at: fc.integer({ min: 0, max: 1000 }),
      id: fc.constantFrom(1, 2, 0x7ff, 1 | EXTENDED, 0x1fff_ffff | EXTENDED),
      bus: fc.integer({ min: 0, max: 1 }),
      data: fc.uint8Array({ minLength: 0, maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 60 }), (frames) => {
        for (const message of trafficOf(frames).messages) {
          const name = trafficOf(frames).buses[message.bus]!.name;
          const own = frames.filter(({ id, bus }) => id >>> 0 === message.id && `can${bus}` === name);
          expect(message.frames).toBe(own.length);
          const longest = Math.max(...own.map(({ data }) => data.length));
          const changed = Array.from({ length: longest }, (_, k) => {
            const values = own.flatMap(({ data }) => (k < data.length ? [data[k]!] : []));
            return values.reduce((mask, value) => mask | (value ^ values[0]!), 0);
          });
          expect([...message.changed.subarray(0, message.longest)]).toEqual(changed);
          for (let bit = 0; bit < longest * 8; bit++) {
            const values = own.flatMap(({ data }) =>
              bit >> 3 < data.length ? [(data[bit >> 3]! >> (bit & 7)) & 1] : [],
            );
            const flips = values.filter((value, i) => i > 0 && value !== values[i - 1]).length;
            expect(message.flips[bit] ?? 0).toBe(flips);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
