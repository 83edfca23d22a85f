import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Ledger } from '../../commands/received.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';

const waypoint = (seq: number): Uint8Array =>
  encodeMessage({
    version: 1,
    kind: 'waypoint',
    seq,
    boot: 1,
    at: 0,
    clock: 'ntp',
    body: { points: [{ at: 0, latitude: 48, longitude: 2, type: 'Acquire' }] },
  });

describe('what a receiver keeps of the numbers it has seen', () => {
  test('each message is admitted once, in whatever order, and what is missing is counted', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1 }), (arrivals) => {
        const ledger = new Ledger();
        const seen = new Set<number>();
        for (const seq of arrivals) {
          expect(ledger.admit(waypoint(seq))).toBe(!seen.has(seq));
          seen.add(seq);
        }
        const missing = Math.max(...seen) - Math.min(...seen) + 1 - seen.size;
        expect(ledger.missing).toBe(missing);
      }),
    );
  });

  test('a retained message is shown, and what came after it before this receiver listened is not missing', () => {
    const ledger = new Ledger();
    expect(ledger.admit(waypoint(3), true)).toBe(true);
    expect(ledger.admit(waypoint(9))).toBe(true);
    expect(ledger.missing).toBe(0);
  });
});
