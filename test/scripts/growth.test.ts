/** The parts of the benchmark's section on growth in which a wrong sign would make a wrong statement. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exponent } from '../../scripts/benchmark/exponent.ts';
import { plot } from '../../scripts/benchmark/plot.ts';

test('the exponent of a power law is found, whatever its factor', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1, max: 3, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 3, maxLength: 9 }),
      (power, factor, amounts) => {
        const points = amounts.sort((a, b) => a - b).map((x) => [x, factor * x ** power] as const);
        expect(exponent(points)).toBeCloseTo(power, 6);
      },
    ),
  );
});

test('a constant cost does not hide growth', () => {
  const points = [1, 10, 100, 1_000, 10_000, 100_000].map((x) => [x, 500 + x ** 2] as const);
  expect(exponent(points)).toBeGreaterThan(1.9);
});

test('values that are not above zero do not count', () => {
  expect(
    exponent([
      [1, -5],
      [10, 10],
      [100, 100],
      [1000, 1000],
    ]),
  ).toBeCloseTo(1);
  expect(exponent([[1, 1]])).toBeNaN();
});

test('every point of the drawing is at its position', () => {
  const svg = plot([
    {
      title: 'a < b & c',
      x: 'things',
      y: 'cost',
      lines: [
        {
          name: 'one',
          points: [
            [1, 1],
            [10, 10],
            [100, 100],
          ],
        },
      ],
    },
  ]);
  expect(svg).toContain('a &lt; b &amp; c');
  // Powers of ten are equidistant, and proportional growth lies on the dashed diagonal.
  const points = /<polyline points="([^"]+)"/
    .exec(svg)?.[1]
    ?.split(' ')
    .map((point) => point.split(',').map(Number));
  const [[ax, ay], [bx, by], [cx, cy]] = points as [[number, number], [number, number], [number, number]];
  expect(bx - ax).toBeCloseTo(cx - bx);
  expect(ay - by).toBeCloseTo(by - cy);
  expect(svg).toContain(`x1="${ax}" y1="${ay}" x2="${cx}" y2="${cy}"`);
});
