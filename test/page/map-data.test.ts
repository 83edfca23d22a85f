/** Land, borders and cities of the maps on the page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type LandMap, landMapOf, namedCities, type Place, partIn } from '../../page/shared/map-data.ts';

const file = fileURLToPath(new URL('../../page/generated/map.json', import.meta.url));
const map = landMapOf(JSON.parse(readFileSync(file, 'utf8')));
const world = { west: -180, east: 180, south: -90, north: 90 };

/** Even-odd rule: counts how often a ray to the east crosses the ring. */
function contains(ring: readonly Place[], [x, y]: Place): boolean {
  return ring.reduce((inside, [ax, ay], at) => {
    const [bx, by] = ring[(at + 1) % ring.length] as Place;
    const crosses = ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax);
    return crosses ? !inside : inside;
  }, false);
}

const isLand = (part: LandMap, place: Place): boolean => part.land.some((ring) => contains(ring, place));
/** Includes land that continues across the date line. */
const isLandOfWorld = ([x, y]: Place): boolean =>
  isLand(map, [x, y]) || isLand(map, [x + 360, y]) || isLand(map, [x - 360, y]);

describe('world map', () => {
  test.each<[string, Place]>([
    ['Paris', [2.35, 48.85]],
    ['Brest', [-4.2, 48.4]],
    ['Corsica', [9.1, 42.2]],
    ['Tokyo', [139.5, 35.8]],
    ['Cape Town', [18.9, -33.8]],
    ['the South Pole', [10, -85]],
    ['Anadyr', [177, 64.5]],
    ['Chukotka, east of the date line', [-175, 66.5]],
  ])('%s is on land', (_, place) => expect(isLandOfWorld(place)).toBe(true));

  test.each<[string, Place]>([
    ['the Channel', [-1, 50]],
    ['the Bay of Biscay', [-4, 45]],
    ['the Pacific', [-140, 10]],
    ['the Mediterranean', [5, 41]],
    ['the Norwegian Sea at the latitude of Chukotka', [3, 67]],
  ])('%s is sea', (_, place) => expect(isLandOfWorld(place)).toBe(false));

  test('borders are lines between countries: some near the Rhine, none in Australia', () => {
    const points = map.borders.flat();
    expect(points.some(([x, y]) => Math.hypot(x - 7.6, y - 48.2) < 0.3)).toBe(true);
    expect(points.some(([x, y]) => x > 115 && x < 152 && y > -38 && y < -18)).toBe(false);
  });

  test('cities lie on land, the largest first', () => {
    expect(map.cities[0]?.name).toBe('Tokyo');
    expect(map.cities.map(({ name }) => name)).toContain('Paris');
    const wet = map.cities.filter(({ place }) => !isLandOfWorld(place));
    // Small islands are left out, and ports lie on simplified coasts.
    expect(wet.length).toBeLessThan(map.cities.length / 5);
  });
});

describe('map windows', () => {
  const window = { west: 1, east: 3, south: 48, north: 49 };

  test('a map window has no point outside', () => {
    const points = partIn(map, window).land.flat();
    expect(points.length).toBeGreaterThan(0);
    for (const [x, y] of points) {
      expect(x).toBeGreaterThanOrEqual(1);
      expect(x).toBeLessThanOrEqual(3);
      expect(y).toBeGreaterThanOrEqual(48);
      expect(y).toBeLessThanOrEqual(49);
    }
  });

  test('a map window contains land exactly where the world map does', () => {
    const wide = { west: -6, east: 10, south: 41, north: 52 };
    const part = partIn(map, wide);
    for (let x = wide.west + 0.13; x < wide.east; x += 0.71) {
      for (let y = wide.south + 0.11; y < wide.north; y += 0.53) {
        expect(isLand(part, [x, y]), `${x} ${y}`).toBe(isLand(map, [x, y]));
      }
    }
  });

  test('a map window across the date line shows both sides', () => {
    const part = partIn(map, { west: 176, east: 184, south: -20, north: 72 });
    expect(isLand(part, [178, -17.8])).toBe(true);
    expect(isLand(part, [182, 66.5])).toBe(true);
  });

  test('a map window names only cities that have room, the largest first', () => {
    const names = namedCities(partIn(map, world), ([x, y]) => [(x + 180) * 2, (90 - y) * 2]).map(({ name }) => name);
    expect(names[0]).toBe('Tokyo');
    expect(names.length).toBeLessThan(map.cities.length);
    expect(names.length).toBeGreaterThan(40);
  });
});
