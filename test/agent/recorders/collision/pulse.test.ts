import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filtered, impactOf, speedChange } from '../../../../agent/recorders/collision/pulse.ts';

/** Gain of the filter for a sine of this frequency at 10,000 samples a second. */
function gain(frequency: number): number {
  const samples = Float64Array.from({ length: 20_000 }, (_, n) => Math.sin((2 * Math.PI * frequency * n) / 10_000));
  const middle = filtered(samples, 0.1).subarray(5_000, 15_000);
  return Math.max(...middle);
}

describe('filter CFC 60', () => {
  test('the gain of the CFC 60 filter lies within the corridor of SAE J211-1 figure 1', () => {
    // ±0.5 dB up to 60 Hz, between +0.5 and -4 dB at 100 Hz, at least -8 dB... at 200 Hz and -30 dB at 400 Hz.
    const decibels = (frequency: number): number => 20 * Math.log10(gain(frequency));
    expect(Math.abs(decibels(6))).toBeLessThan(0.5);
    expect(decibels(60)).toBeGreaterThan(-1);
    expect(decibels(60)).toBeLessThan(0.5);
    expect(decibels(100)).toBeGreaterThan(-4);
    expect(decibels(100)).toBeLessThan(-1);
    expect(decibels(200)).toBeLessThan(-8);
    expect(decibels(400)).toBeLessThan(-30);
  });

  test('the filter does not shift a peak', () => {
    const samples = Float64Array.from({ length: 400 }, (_, n) => -200 * Math.exp(-(((n - 200) / 40) ** 2)));
    const out = filtered(samples, 1);
    expect(out.indexOf(Math.min(...out))).toBe(200);
  });

  test('samples too far apart are not filtered', () => {
    const samples = Float64Array.of(0, -50, -80, -20, 0);
    expect([...filtered(samples, 10)]).toEqual([...samples]);
  });

  test('the filter keeps the change of speed for any pulse', () => {
    const pulse = fc.array(fc.double({ min: -400, max: 400, noNaN: true }), { minLength: 20, maxLength: 150 });
    fc.assert(
      fc.property(pulse, (middle) => {
        const quiet = new Array<number>(100).fill(0);
        const samples = Float64Array.from([...quiet, ...middle, ...quiet]);
        expect(speedChange(filtered(samples, 1), 1)).toBeCloseTo(speedChange(samples, 1), 1);
      }),
    );
  });
});

describe('impacts', () => {
  /** A half sine of this many ms that changes the speed by `change` km/h. */
  function pulse(change: number, ms: number): Float64Array {
    const peak = (change / 3.6 / (ms / 1000)) * (Math.PI / 2);
    return Float64Array.from({ length: 200 }, (_, n) => (n < ms ? peak * Math.sin((Math.PI * n) / ms) : 0));
  }

  const level = { longitudinal: 0, lateral: 0 };

  test.each([
    [{ longitudinal: -10 }, 'Front', 'Minimal'],
    [{ longitudinal: -20 }, 'Front', 'Minor'],
    [{ longitudinal: -50 }, 'Front', 'Major'],
    [{ longitudinal: 20 }, 'Rear', 'Minor'],
    [{ longitudinal: -8, lateral: 30 }, 'Lateral', 'Major'],
    [{ lateral: -16 }, 'Lateral', 'Minor'],
  ] as const)(
    'an impact with the change of speed %o has side %s and severity %s',
    (change: { longitudinal?: number; lateral?: number }, side, severity) => {
      const { longitudinal, lateral } = change;
      const impact = impactOf(
        {
          interval: 1,
          ...(longitudinal === undefined ? {} : { longitudinal: pulse(longitudinal, 100) }),
          ...(lateral === undefined ? {} : { lateral: pulse(lateral, 100) }),
        },
        level,
      );
      expect(impact).toMatchObject({ side, severity });
      expect(impact.longitudinalChange).toBeCloseTo(longitudinal ?? 0, 1);
      expect(impact.lateralChange).toBeCloseTo(lateral ?? 0, 1);
    },
  );

  test('the slope of the road does not count as part of an impact', () => {
    const samples = pulse(-20, 100).map((value) => value + 2);
    const impact = impactOf({ interval: 1, longitudinal: samples }, { longitudinal: 2, lateral: 0 });
    expect(impact.longitudinalChange).toBeCloseTo(-20, 0);
  });
});
