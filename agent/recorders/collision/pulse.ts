/**
 * Evaluation of a crash pulse: filtered according to SAE J211-1:2014 (channel frequency class 60, appendix C),
 * integrated to the change of speed, and classified by side and severity.
 */
import type { CollisionSeverity, CollisionSide } from '../../../protocol/schema/collision.ts';

/** Acceleration in m/s² at equal intervals; an axis without a sensor is omitted. */
export interface Samples {
  /** Time in ms between samples. */
  readonly interval: number;
  readonly longitudinal?: Float64Array;
  readonly lateral?: Float64Array;
  readonly vertical?: Float64Array;
}

/** Channel frequency class for the acceleration of the body structure when it is integrated. SAE J211-1 table 1. */
const CLASS = 60;
/** Changes of speed in km/h below which airbags and tensioners commonly do not fire, and from which both fire. */
const SEVERITY = { minor: 15, major: 25 };

/**
 * The filter of SAE J211-1 appendix C: two poles, run forwards and backwards so that no peak is shifted. If the samples
 * are too far apart for the class, there is nothing to filter, and they are returned unchanged.
 */
export function filtered(samples: Float64Array, interval: number): Float64Array {
  const wd = 2 * Math.PI * CLASS * 2.0775;
  const half = (wd * interval) / 2000;
  if (!(half < Math.PI / 2) || samples.length < 2) return samples.slice();
  const wa = Math.tan(half);
  const scale = 1 + Math.SQRT2 * wa + wa * wa;
  const b0 = (wa * wa) / scale;
  const a1 = (-2 * (wa * wa - 1)) / scale;
  const a2 = (-1 + Math.SQRT2 * wa - wa * wa) / scale;
  const pass = (input: Float64Array): Float64Array => {
    const first = input[0] as number;
    const output = new Float64Array(input.length);
    let [x1, x2, y1, y2] = [first, first, first, first];
    for (let n = 0; n < input.length; n++) {
      const x = input[n] as number;
      const y = b0 * (x + 2 * x1 + x2) + a1 * y1 + a2 * y2;
      output[n] = y;
      [x2, x1, y2, y1] = [x1, x, y1, y];
    }
    return output.reverse();
  };
  return pass(pass(samples));
}

/** Returns the change of speed in km/h over all samples, integrated by trapezoids. */
export function speedChange(samples: Float64Array, interval: number): number {
  let sum = 0;
  for (let n = 1; n < samples.length; n++) sum += ((samples[n] as number) + (samples[n - 1] as number)) / 2;
  return ((sum * interval) / 1000) * 3.6;
}

interface Impact {
  /** Change in km/h; a gain is positive. */
  readonly longitudinalChange: number;
  /** Change in km/h; to the left is positive. */
  readonly lateralChange: number;
  readonly side: CollisionSide;
  readonly severity: CollisionSeverity;
}

/** Returns the change of speed in the plane, with side and severity. Subtracts `rest`: a sensor offset, or a slope. */
export function impactOf(samples: Samples, rest: { readonly longitudinal: number; readonly lateral: number }): Impact {
  const along = change(samples.longitudinal, rest.longitudinal, samples.interval);
  const across = change(samples.lateral, rest.lateral, samples.interval);
  const total = Math.hypot(along, across);
  return {
    longitudinalChange: along,
    lateralChange: across,
    // A car that is slowed down was hit at the front; one that is pushed forward, at the rear.
    side: Math.abs(across) > Math.abs(along) ? 'Lateral' : along < 0 ? 'Front' : 'Rear',
    severity: total >= SEVERITY.major ? 'Major' : total >= SEVERITY.minor ? 'Minor' : 'Minimal',
  };
}

function change(axis: Float64Array | undefined, rest: number, interval: number): number {
  if (axis === undefined) return 0;
  return speedChange(
    filtered(axis, interval).map((value) => value - rest),
    interval,
  );
}
