/**
 * Two instances back to back over a wire that loses, repeats, delays and reorders frames. A sequence number has four
 * bits, so even the standard cannot distinguish a frame from the one sixteen later. Therefore answers have at most
 * fifteen consecutive frames, or delays are shorter than sixteen frames take. Frames do not name their message either,
 * so delayed frames arrive before the next request is sent.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexOf } from '../../../../adapters/obd/hex.ts';
import {
  consecutiveFrame,
  firstFrame,
  firstFrameBytes,
  padded,
  readControl,
  singleFrame,
} from '../../../../adapters/obd/isotp/control.ts';
import { IsoTp } from '../../../../adapters/obd/isotp/index.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { Bus, batchOf, ControlUnit, settled } from './wire.ts';

/** Delays in ms after which copies of a frame arrive; most frames arrive once without delay. */
const fates = (longest: number) =>
  fc.array(
    fc.oneof(
      { weight: 12, arbitrary: fc.constant([1]) },
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(fc.integer({ min: 1, max: longest }), { minLength: 1, maxLength: 3 }) },
    ),
    { minLength: 1, maxLength: 80 },
  );

const LONGEST_DELAY = 2500;

interface Trial {
  readonly sizes: readonly { readonly request: number; readonly answer: number }[];
  readonly fates: readonly (readonly number[])[];
  readonly blockSize: number;
  readonly separation: number;
  readonly frameLength: number;
  readonly target: number | undefined;
}

/** Bytes that identify their request and their position. */
function content(marker: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (marker * 31 + i * 7 + (i >> 8)) & 0xff);
}

async function trial({ sizes, fates, blockSize, separation, frameLength, target }: Trial): Promise<number> {
  const clock = new VirtualClock();
  const bus = new Bus(clock);
  const settings = { blockSize, separation, frameLength };
  const isotp = new IsoTp({
    clock,
    sender: bus,
    bus: 'obd',
    index: 0,
    settings,
    asleepAfter: Number.POSITIVE_INFINITY,
  });
  bus.join((frame) => isotp.receive(batchOf(frame)));
  new ControlUnit({
    clock,
    bus,
    listens: [0x7e0],
    answers: 0x7e8,
    settings,
    ...(target === undefined ? {} : { address: target, source: target }),
    serve: (request) => {
      const marker = request[2] as number;
      return [Uint8Array.of(0x62, 0xf1, marker, ...content(marker, sizes[marker]?.answer ?? 0))];
    },
  });
  bus.fate = (_, index) => fates[index % fates.length] as readonly number[];
  let whole = 0;
  for (const [marker, { request, answer }] of sizes.entries()) {
    await clock.settle(LONGEST_DELAY, 10);
    const payload = Uint8Array.of(0x22, 0xf1, marker, ...Array.from({ length: request * 2 }, () => 0xee));
    const address = {
      request: 0x7e0,
      extended: false,
      response: 0x7e8,
      ...(target === undefined ? {} : { target, source: target }),
    };
    const outcome = await settled(clock, isotp.request({ address, payload }));
    if (outcome.status === 'rejected') {
      expect(outcome.reason).toBeInstanceOf(VigieError);
      expect(['input.malformed', 'input.unreadable']).toContain((outcome.reason as VigieError).code);
      continue;
    }
    for (const { id, payload } of outcome.value) {
      expect(id).toBe(0x7e8);
      expect(hexOf(payload)).toBe(hexOf(Uint8Array.of(0x62, 0xf1, marker, ...content(marker, answer))));
      whole++;
    }
  }
  return whole;
}

const shape = {
  blockSize: fc.constantFrom(0, 1, 2, 8),
  separation: fc.constantFrom(0, 0.5, 3),
  frameLength: fc.constantFrom(8, 8, 64),
  target: fc.constantFrom(undefined, undefined, 0x2a),
};

describe('over a wire that loses, repeats, delays and reorders', () => {
  it('an answer arrives unchanged, or an error is reported', async () => {
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          sizes: fc.array(fc.record({ request: fc.nat({ max: 40 }), answer: fc.nat({ max: 90 }) }), {
            minLength: 1,
            maxLength: 4,
          }),
          fates: fates(LONGEST_DELAY),
          ...shape,
        }),
        async (given) => {
          whole += await trial(given);
        },
      ),
      { numRuns: 150 },
    );
    expect(whole).toBeGreaterThan(50);
  });

  it('a long answer arrives unchanged, or an error is reported', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          sizes: fc.array(fc.record({ request: fc.constant(0), answer: fc.integer({ min: 100, max: 5000 }) }), {
            minLength: 1,
            maxLength: 2,
          }),
          fates: fates(20),
          ...shape,
          separation: fc.constantFrom(3, 5),
        }),
        async (given) => {
          await trial(given);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('every answer arrives if there are no disturbances', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          sizes: fc.array(
            fc.record({
              request: fc.nat({ max: 2000 }),
              answer: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 6000 })),
            }),
            { minLength: 1, maxLength: 3 },
          ),
          fates: fc.constant([[1]]),
          ...shape,
        }),
        async (given) => {
          expect(await trial(given)).toBe(given.sizes.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('whatever frames arrive', () => {
  const data = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    // Plausible frames: control information before random bytes.
    fc
      .tuple(
        fc.constantFrom(0x03, 0x07, 0x10, 0x1f, 0x20, 0x21, 0x22, 0x30, 0x31, 0x32, 0x3f),
        fc.uint8Array({ maxLength: 7 }),
      )
      .map(([control, rest]) => Uint8Array.of(control, ...rest)),
    fc
      .constantFrom('0362F101CCCCCCCC', '037F2278CCCCCCCC', '100A62F101000000', '2100000000000000')
      .map((text) => Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))),
  );

  it('a request ends with its answers or a VigieError', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(0x7e8, 0x7e9, 0x123), data, fc.nat({ max: 300 })), { maxLength: 40 }),
        fc.constantFrom(2, 40),
        fc.boolean(),
        async (frames, size, functional) => {
          const clock = new VirtualClock();
          const bus = new Bus(clock);
          const isotp = new IsoTp({ clock, sender: bus, bus: 'obd', index: 0, asleepAfter: Number.POSITIVE_INFINITY });
          bus.join((frame) => isotp.receive(batchOf(frame)));
          const put = bus.join(() => undefined);
          const payload = Uint8Array.of(0x22, ...Array.from({ length: size / 2 }, () => [0xf1, 0x01]).flat());
          const address = { request: functional && size === 2 ? 0x7df : 0x7e0, extended: false };
          let at = 0;
          for (const [id, data, delay] of frames) {
            at += delay;
            clock.after(at, () => put({ id, flags: 0, data }));
          }
          const outcome = await settled(clock, isotp.request({ address, payload }));
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(VigieError);
          else {
            for (const { payload } of outcome.value) {
              expect(['62F101', '7F22']).toContain(hexOf(payload.subarray(0, payload[0] === 0x7f ? 2 : 3)));
            }
          }
          // After an interrupted answer the requester waits for its sender until N_Cr (1 s) after the last frame.
          clock.advance(400 * frames.length + 2_010);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('segments', () => {
  it('reproduce the message for any length', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 4000, max: 5000 })),
        fc.constantFrom(8, 12, 64),
        fc.constantFrom(undefined, 0x2a),
        (size, frameLength, target) => {
          const payload = content(1, size);
          const taken = target === undefined ? 0 : 1;
          const room = frameLength - taken;
          const strip = (frame: Uint8Array) => padded(frame, target, 0xcc).subarray(taken);
          const single = singleFrame(payload, room, taken);
          if (single !== undefined) {
            const data = strip(single);
            const control = readControl(data, taken);
            if (control?.kind !== 'single') throw new Error(`no single frame: ${hexOf(data)}`);
            expect(data.subarray(control.begin, control.begin + control.length)).toEqual(payload);
            return;
          }
          const first = strip(firstFrame(payload, room));
          const control = readControl(first, taken);
          if (control?.kind !== 'first') throw new Error(`no first frame: ${hexOf(first)}`);
          expect(control.length).toBe(size);
          const bytes = [...first.subarray(control.begin)];
          expect(bytes).toHaveLength(firstFrameBytes(size, room));
          for (let index = 1; bytes.length < size; index = (index + 1) & 15) {
            const data = strip(consecutiveFrame(payload, bytes.length, index, room));
            expect(readControl(data, taken)).toEqual({ kind: 'consecutive', index });
            bytes.push(...data.subarray(1, 1 + Math.min(room - 1, size - bytes.length)));
          }
          expect(Uint8Array.from(bytes)).toEqual(payload);
        },
      ),
    );
  });

  it('are parsed from any bytes without an exception, and never extend beyond them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(0, 1) as fc.Arbitrary<0 | 1>, (data, taken) => {
        const control = readControl(data, taken);
        if (control?.kind === 'single') expect(control.begin + control.length).toBeLessThanOrEqual(data.length);
        if (control?.kind === 'first') expect(control.length).toBeGreaterThan(data.length - control.begin);
        if (control?.kind === 'flow') expect(control.separation).toBeLessThanOrEqual(127);
      }),
      { numRuns: 2000 },
    );
  });
});
