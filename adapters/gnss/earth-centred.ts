/** Converts positions and velocities in earth-centred coordinates, which some binary protocols use, to a fix. */
import { type Fix, rounded } from './fix.ts';

/** WGS 84 ellipsoid: semi-major axis in metres and first eccentricity squared (NIMA TR8350.2). */
const a = 6_378_137;
const flattening = 1 / 298.257223563;
const e2 = flattening * (2 - flattening);
const degree = 180 / Math.PI;

/** X, Y, Z in metres, or in metres per second. */
type EarthCentred = readonly [x: number, y: number, z: number];

/** Returns false for zeros and for positions that no receiver in a car can have measured. */
export function isNearSurface(position: EarthCentred): boolean {
  const distance = Math.hypot(...position);
  return distance > a / 2 && distance < 2 * a;
}

export function groundFix(
  position: EarthCentred,
  velocity: EarthCentred,
): Required<Pick<Fix, 'latitude' | 'longitude' | 'speed' | 'heading'>> {
  const [latitude, longitude] = geodetic(...position);
  const [north, east] = horizontal(velocity, latitude, longitude);
  const course = Math.atan2(east, north) * degree;
  return {
    latitude: rounded(latitude * degree, 9),
    longitude: rounded(longitude * degree, 9),
    speed: rounded(Math.hypot(north, east) * 3.6, 6),
    heading: rounded(course < 0 ? course + 360 : course, 6),
  };
}

/** Returns latitude and longitude in radians of a point near the surface, given in metres from the earth's centre. */
function geodetic(x: number, y: number, z: number): readonly [number, number] {
  const p = Math.hypot(x, y);
  // Each step near the surface reduces the error by a factor of e²: eight steps exceed the precision of a double.
  let latitude = Math.atan2(z, p * (1 - e2));
  for (let step = 0; step < 8; step++) {
    const sine = Math.sin(latitude);
    const radius = a / Math.sqrt(1 - e2 * sine * sine);
    latitude = Math.atan2(z + e2 * radius * sine, p);
  }
  return [latitude, Math.atan2(y, x)];
}

/** Returns the north and east components of an earth-centred velocity at a place. */
function horizontal([x, y, z]: EarthCentred, latitude: number, longitude: number): readonly [number, number] {
  const outward = x * Math.cos(longitude) + y * Math.sin(longitude);
  return [z * Math.cos(latitude) - outward * Math.sin(latitude), y * Math.cos(longitude) - x * Math.sin(longitude)];
}
