import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { append, createBatch } from '../../../adapters/can/frames.ts';
import { EXTENDED, FD, REMOTE } from '../../../agent/ports.ts';
import { packFrames, unpackFrames } from '../../../protocol/captures/capture.ts';
import { columnsOfFrames, framesOfColumns } from '../../../protocol/captures/columns.ts';
import { portableDeflate } from '../../../protocol/columns/deflate.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { type Frame, framesOf } from '../../adapters/can/log/frames.ts';

const buses = ['can0', 'can1'];
const start = Date.UTC(2026, 0, 1);

/** Times in whole microseconds, often equal, often out of order. */
const frame = fc
  .record({
    micros: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 1e9 })),
    id: fc.constantFrom(0x100, 0x101, (0x18fef100 | EXTENDED) >>> 0, 0x1ff | REMOTE),
    bus: fc.constantFrom(...buses),
    flags: fc.constantFrom(0, FD, FD | 2, 8),
    data: fc.oneof(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ minLength: 64, maxLength: 64 })),
  })
  .map(({ micros, data, id, ...rest }): Frame => {
    const bytes = (id & REMOTE) === 0 ? data : new Uint8Array(data.length);
    return { ...rest, id, at: start + micros / 1000, length: data.length, data: Buffer.from(bytes).toString('hex') };
  });

function batchOf(frames: readonly Frame[]) {
  const batch = createBatch(frames.length, frames.length * 64 + 8);
  for (const { at, id, bus, flags, length, data } of frames) {
    append(batch, at, id, buses.indexOf(bus), flags, Buffer.from(data, 'hex'), length);
  }
  return batch;
}

const micros = (frames: readonly Frame[]) => frames.map(({ at, ...rest }) => ({ ...rest, at: Math.round(at * 1000) }));

test('frames are read back in order, with times to the microsecond', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 80 }), (frames) => {
      const { frames: count, ...packed } = packFrames(batchOf(frames), start, portableDeflate);
      const read = framesOf(unpackFrames(packed), buses);
      expect(count).toBe(frames.length);
      expect(micros(read)).toEqual(micros(frames));
      expect(packed.start).toBeLessThanOrEqual(Math.min(...frames.map(({ at }) => at), start + 1e9));
    }),
  );
});

test('changed columns are read or refused as malformed, and cause no other error', () => {
  const frames = batchOf(fc.sample(frame, { numRuns: 20, seed: 7 }));
  const columns = columnsOfFrames(frames, start).slice();
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(columns.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.nat(columns.length),
      (changes, length) => {
        const changed = columns.slice(0, length === 0 ? columns.length : length);
        for (const [at, value] of changes) if (at < changed.length) changed[at] = value;
        try {
          expect(framesOfColumns(changed, start, 4_096).count).toBeLessThanOrEqual(4_096);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
          expect((error as VigieError).code).toBe('message.malformed');
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a count of frames that exceeds the bytes is refused before memory is allocated', () => {
  const columns = Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 1, 0, 0, 0, 0);
  expect(() => framesOfColumns(columns, start, 2 ** 31)).toThrowError(
    expect.objectContaining({ code: 'message.malformed' }),
  );
});

test('periodic frames with a counter in the payload take less than three bytes each', () => {
  const frames = Array.from(
    { length: 4_000 },
    (_, i): Frame => ({
      at: start + i / 4 + ((i * 7) % 11) / 1000,
      id: 0x100 + (i % 20),
      bus: 'can0',
      flags: 0,
      length: 8,
      data: Buffer.from([i / 20, 1, 2, 3, 4, 5, 6, (i / 320) & 0xff].map(Math.floor)).toString('hex'),
    }),
  );
  expect(
    packFrames(batchOf(frames), start, (bytes) => deflateRawSync(bytes)).columns.length / frames.length,
  ).toBeLessThan(3);
});
