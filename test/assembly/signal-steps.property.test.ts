/** Every signal that a profile may record can be sent, whatever its bits and resolution. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepFault } from '../../assembly/signal-steps.ts';
import type { CustomSignal } from '../../protocol/profile.ts';
import { telemetryFromSignals } from '../../protocol/signals/telemetry.ts';
import { custom } from '../agent/signals/car.ts';
import { runs } from '../rig/runs.ts';

const magnitude = fc
  .tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: -310, max: 300 }))
  .map(([digits, exponent]) => Number(`${digits}e${exponent}`));
const described = fc.record({
  type: fc.constantFrom('signed' as const, 'unsigned' as const),
  length: fc.integer({ min: 2, max: 64 }),
  factor: fc.oneof(fc.constantFrom(1, 0.1, 0.001, 2), magnitude),
  offset: fc.oneof(fc.constantFrom(0, -40), magnitude),
});

test('if check finds no fault, every value fits into columns and the signal has more than one value', () => {
  let sound = 0;
  let faulty = 0;
  fc.assert(
    fc.property(described, magnitude, fc.constantFrom(0, 1e-3, 1, 1e9, 1e300), (bits, resolution, deadBand) => {
      const rule = { interval: 0, deadBand, heartbeat: 60_000 };
      const signal: CustomSignal = custom('S', { raw: false, resolution, rule });
      const fault = stepFault(signal, bits as never);
      const [first, last] =
        bits.type === 'signed' ? [-(2 ** (bits.length - 1)), 2 ** (bits.length - 1) - 1] : [0, 2 ** bits.length - 1];
      const values = [first, last].map((raw) => raw * bits.factor + bits.offset);
      const counts = values.map((value) => Math.round(value / resolution));
      const fits = counts.every((count) => Math.abs(count) <= 2 ** 51);
      if (fault === undefined) {
        sound++;
        const readings = counts.map((count) => ({ number: 1, count: count + 0, at: 0 }));
        const options = { catalog: new Uint8Array(8), resolution: () => 1 as const };
        expect(() => telemetryFromSignals(readings, options)).not.toThrow();
        expect(new Set(counts).size === 2 || values[0] === values[1]).toBe(true);
      } else {
        faulty++;
        const span = Math.abs((values[1] as number) - (values[0] as number));
        const never = counts[0] === counts[1] || deadBand > span;
        expect([fault.message, !fits || never || !counts.every(Number.isFinite)]).toEqual([fault.message, true]);
      }
    }),
    { numRuns: runs(2_000, 20_000) },
  );
  expect(Math.min(sound, faulty)).toBeGreaterThan(20);
});
