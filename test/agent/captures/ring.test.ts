import fc from 'fast-check';
import { expect, test } from 'vitest';
import { append, createBatch } from '../../../adapters/can/frames.ts';
import { FrameRing, SLOT_BYTES } from '../../../agent/captures/ring.ts';
import { type Frame, framesOf } from '../../adapters/can/log/frames.ts';

const buses = ['can0', 'can1'];

/** Frames of classic CAN and CAN FD, with unordered timestamps. */
const frame = fc
  .record({
    at: fc.integer({ min: 0, max: 1e6 }),
    id: fc.integer({ min: 0, max: 0xffff_ffff }),
    bus: fc.constantFrom(...buses),
    flags: fc.integer({ min: 0, max: 15 }),
    data: fc.uint8Array({ maxLength: 64 }),
  })
  .map(({ data, ...rest }): Frame => ({ ...rest, length: data.length, data: Buffer.from(data).toString('hex') }));

/** Naive implementation: the newest frames whose slots fit. */
function newest(frames: readonly Frame[], slots: number): Frame[] {
  const kept = [...frames];
  const room = ({ length }: Frame): number => Math.max(1, Math.ceil(length / 8));
  while (kept.reduce((sum, one) => sum + room(one), 0) > slots) kept.shift();
  return kept;
}

function listed(ring: FrameRing): number[] {
  const found: number[] = [];
  for (let at = ring.first; at < ring.next; at = ring.after(at)) found.push(at);
  return found;
}

test('the ring contains the same newest frames as a list of the same size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(frame, { maxLength: 20 }), { maxLength: 20 }),
      fc.integer({ min: 8, max: 60 }),
      (batches, slots) => {
        const ring = new FrameRing(slots * SLOT_BYTES);
        const given: Frame[] = [];
        for (const frames of batches) {
          const batch = createBatch(20, 20 * 64);
          for (const { at, id, bus, flags, length, data } of frames) {
            append(batch, at, id, buses.indexOf(bus), flags, Buffer.from(data, 'hex'), length);
          }
          for (let i = 0; i < batch.count; i++) ring.add(batch, i, batch.bus[i] as number);
          given.push(...frames);
          const kept = newest(given, slots);
          expect(framesOf(ring.copy(listed(ring)), buses)).toEqual(kept);
          expect(ring.overwritten).toBe(given.length - kept.length);
          expect(ring.lastOverwritten).toBe(given.at(-kept.length - 1)?.at ?? Number.NEGATIVE_INFINITY);
        }
      },
    ),
  );
});

test('the ring uses the memory it was given, at 24 bytes per classic CAN frame', () => {
  const ring = new FrameRing(240);
  const batch = createBatch(1, 8);
  append(batch, 1, 0x100, 0, 0, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 8);
  for (let i = 0; i < 11; i++) ring.add(batch, 0, 0);
  expect(listed(ring).length).toBe(10);
  expect(ring.overwritten).toBe(1);
});

test('a withheld frame stays in its place without its payload', () => {
  const ring = new FrameRing(240);
  const batch = createBatch(3, 3 * 64);
  for (const id of [1, 2, 3]) append(batch, id, id, 0, 1, new Uint8Array(20).fill(id), 20);
  for (let i = 0; i < 3; i++) ring.add(batch, i, 0);
  const [first, second, third] = listed(ring) as [number, number, number];
  ring.withhold(second);
  expect([first, second, third].map((one) => ring.withheld(one))).toEqual([false, true, false]);
  const [before, hidden, after] = framesOf(ring.copy([first, second, third]), buses);
  expect(before?.data).toBe('01'.repeat(20));
  expect(hidden?.data).toBe('00'.repeat(20));
  expect(after?.data).toBe('03'.repeat(20));
});

test('a clock correction shifts all frames in the ring by the same time', () => {
  const ring = new FrameRing(240);
  const batch = createBatch(2, 16);
  for (const at of [5, 7]) append(batch, at, 1, 0, 0, new Uint8Array(8), 8);
  for (let i = 0; i < 2; i++) ring.add(batch, i, 0);
  ring.shift(1_000);
  expect(listed(ring).map((one) => ring.at(one))).toEqual([1_005, 1_007]);
});
