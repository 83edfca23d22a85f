/** Interleaved responses of several control units, with lost, repeated or foreign frames. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readResponse } from '../../../adapters/obd/index.ts';
import { runs } from '../../rig/runs.ts';

/** Headers of the control units. Each response has distinctive bytes. */
const units = ['7E8', '7E9', '7EA', '18DAF110'];

const hex = (bytes: readonly number[]): string =>
  bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('');

function responseOf(unit: number, length: number): number[] {
  return [0x62, 0xf1, ...Array.from({ length: length - 2 }, (_, i) => (unit * 61 + i * 7 + (i >> 7) * 3) & 0xff)];
}

/** Frames of a response (ISO 15765-2 §9.6): first frame `1L LL`, consecutive frames `2N` with N from 1. */
function framesOf(payload: readonly number[]): string[] {
  if (payload.length <= 7) return [hex([payload.length, ...payload])];
  const frames = [hex([0x10 | (payload.length >> 8), payload.length & 0xff, ...payload.slice(0, 6)])];
  for (let at = 6, n = 1; at < payload.length; at += 7, n++) {
    const data = payload.slice(at, at + 7);
    while (data.length < 7) data.push(0xaa);
    frames.push(hex([0x20 | (n & 15), ...data]));
  }
  return frames;
}

/** Fate of a frame. */
type Fate = 'sent' | 'lost' | 'twice' | 'flow control before';
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 14, arbitrary: fc.constant<Fate>('sent') },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('lost', 'twice') },
  { weight: 1, arbitrary: fc.constant<Fate>('flow control before') },
);

function befallen(frames: readonly string[], fates: readonly Fate[]): string[] {
  return frames.flatMap((frame, i) => {
    switch (fates[i % fates.length]) {
      case 'lost':
        return [];
      case 'twice':
        return [frame, frame];
      case 'flow control before':
        return ['300000', frame];
      default:
        return [frame];
    }
  });
}

/**
 * Returns whether the frames follow each other directly, ignoring flow control: a naive test for "complete and in
 * order".
 */
function holds(sent: readonly string[], frames: readonly string[]): boolean {
  return sent
    .filter((frame) => !frame.startsWith('30'))
    .join(' ')
    .includes(frames.join(' '));
}

function consecutive(number: number): string {
  return hex([0x20 | number, 1, 2, 3, 4, 5, 6, 7]);
}

interface Unit {
  readonly length: number;
  /** Sequence number of a stray consecutive frame before the response. */
  readonly stray: number | undefined;
  readonly copies: readonly (readonly Fate[])[];
}

const unit: fc.Arbitrary<Unit> = fc.record({
  stray: fc.option(fc.nat(15), { nil: undefined }),
  length: fc.oneof(fc.integer({ min: 3, max: 40 }), fc.integer({ min: 100, max: 300 })),
  copies: fc.array(fc.array(fate, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
});

/** Merges the lists; each keeps its order. */
function interleaved(lists: readonly (readonly string[])[], order: readonly number[]): string[] {
  const left = lists.map((list) => [...list]);
  const lines: string[] = [];
  for (let turn = 0; left.some((list) => list.length > 0); turn++) {
    const some = left.filter((list) => list.length > 0);
    lines.push((some[(order[turn % order.length] as number) % some.length] as string[]).shift() as string);
  }
  return lines;
}

function decoded(lines: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { header, data } of readResponse(lines.join('\r'), () => false, false).messages) {
    found.set(header, [...(found.get(header) ?? []), hex([...data])]);
  }
  return found;
}

test('every response with complete frames in order is decoded, and nothing else', () => {
  const orders = fc.array(fc.nat(100), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: units.length }), orders, (scenario, order) => {
      const sent = scenario.map(({ length, stray, copies }, i) => {
        const frames = framesOf(responseOf(i, length));
        const before = stray === undefined ? [] : [consecutive(stray)];
        return [...before, ...copies.flatMap((fates) => befallen(frames, fates))];
      });
      const lines = sent.map((frames, i) => frames.map((frame) => `${units[i]}${frame}`));
      const foreign = order.slice(0, 20).map((number) => `7EF${consecutive(number & 15)}`);
      const found = decoded(interleaved([...lines, foreign], order));
      for (const [i, { length }] of scenario.entries()) {
        const payload = responseOf(i, length);
        const messages = found.get(units[i] as string) ?? [];
        for (const message of messages) expect(message).toBe(hex(payload));
        if (holds(sent[i] as string[], framesOf(payload))) expect(messages).not.toEqual([]);
      }
    }),
    { numRuns: runs(500, 20_000) },
  );
});

test('two copies of a response with frames interleaved in any order yield the response', () => {
  const orders = fc.array(fc.nat(1), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 300 }), orders, (length, order) => {
      const payload = responseOf(0, length);
      const copy = framesOf(payload).map((frame) => `7E8${frame}`);
      const messages = decoded(interleaved([copy, copy], order)).get('7E8') ?? [];
      expect(new Set(messages)).toEqual(new Set([hex(payload)]));
    }),
    { numRuns: runs(300, 10_000) },
  );
});
