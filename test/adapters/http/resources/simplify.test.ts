import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Coordinates, simplified } from '../../../../adapters/http/resources/simplify.ts';
import { deviation } from '../../../../agent/model/position.ts';

const itself = (point: Coordinates): Coordinates => point;

/** Points within a few kilometres of each other, also across the date line. */
const way = fc
  .tuple(
    fc.integer({ min: -60, max: 60 }),
    fc.constantFrom(2, 179.98, -179.98),
    fc.array(fc.tuple(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -300, max: 300 })), { maxLength: 60 }),
  )
  .map(([latitude, longitude, steps]) =>
    steps.map(([north, east]) => ({
      latitude: latitude + north / 10_000,
      longitude: ((longitude + east / 10_000 + 540) % 360) - 180,
    })),
  );

test('no removed point lies farther than the tolerance from the simplified line', () => {
  fc.assert(
    fc.property(way, fc.integer({ min: 0, max: 5_000 }), (points, tolerance) => {
      const left = simplified(points, itself, tolerance);
      const places = left.map((point) => points.indexOf(point));
      for (const [index, point] of points.entries()) {
        const after = places.findIndex((place) => place >= index);
        const [from, to] = [left[Math.max(0, after - 1)] ?? point, left[after] ?? point];
        if (!left.includes(point)) expect(deviation(from, to, point)).toBeLessThanOrEqual(tolerance);
      }
    }),
  );
});

test('the first and last point and the order remain, and no point is new', () => {
  fc.assert(
    fc.property(way, fc.integer({ min: 0, max: 5_000 }), (points, tolerance) => {
      const left = simplified(points, itself, tolerance);
      expect(left[0]).toBe(points[0]);
      expect(left.at(-1)).toBe(points.at(-1));
      const places = left.map((point) => points.indexOf(point));
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }),
  );
});

test('a straight line is reduced to its ends, and a detour longer than the tolerance remains', () => {
  const line = [0, 1, 2, 3, 4].map((step) => ({ latitude: 48, longitude: 2 + step / 1000 }));
  expect(simplified(line, itself, 1)).toEqual([line[0], line[4]]);
  const detour = line.map((point, index) => (index === 2 ? { ...point, latitude: 48.001 } : point));
  expect(simplified(detour, itself, 100)).toContain(detour[2]);
  expect(simplified(detour, itself, 200)).toEqual([detour[0], detour[4]]);
});

test('a very long line with hardly a removable point is simplified in proportional time', () => {
  const zigzag = Array.from({ length: 20_000 }, (_, index) => ({
    latitude: 48 + (index % 2) / 100,
    longitude: 2 + index / 10_000,
  }));
  expect(simplified(zigzag, itself, 1).length).toBeGreaterThan(19_000);
});
