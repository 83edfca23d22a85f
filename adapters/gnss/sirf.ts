/**
 * Message 2, measured navigation data, of the SiRF binary protocol (SiRF Binary Protocol Reference Manual):
 *
 *     0  1..12       13..18            19    20    21    22..23  24..27        28
 *     2  X Y Z, m    vX vY vZ, m/s/8   mode  DOP   mode  week    time of week  satellites used
 *                                                               1/100 s
 *
 * Big-endian. It has no height above mean sea level. The week counts modulo 1024, and time is GPS time.
 */
import { type Fix, rounded } from './fix.ts';

const measuredNavigation = 2;
const shortest = 41;
/** 1980-01-06, UTC milliseconds. */
const gpsEpoch = 315_964_800_000;
const week = 7 * 86_400_000;
const rollover = 1024;
/**
 * Seconds that GPS time is ahead of UTC since 2017-01-01 (IERS Bulletin C 52). The message does not tell; times of
 * recordings from before 2017 come out up to five seconds early, as gpsd's do.
 */
const leapSeconds = 18;

/** WGS 84 ellipsoid: semi-major axis in metres and first eccentricity squared (NIMA TR8350.2). */
const a = 6_378_137;
const flattening = 1 / 298.257223563;
const e2 = flattening * (2 - flattening);
const degree = 180 / Math.PI;

/**
 * @param payload of a SiRF frame
 * @param latest UTC milliseconds: the week is the last that is not after this moment
 * @returns undefined for other messages
 */
export function readSirf(payload: Uint8Array, latest: number): Fix | undefined {
  if (payload[0] !== measuredNavigation || payload.length < shortest) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const t = instant(view.getUint16(22), view.getUint32(24) * 10, latest);
  const satellites = view.getUint8(28);
  // Position type: 1 to 3 satellites or held altitude is 2D, 4 and 6 are 3D, 7 is dead reckoning.
  const type = view.getUint8(19) & 7;
  const position = [view.getInt32(1), view.getInt32(5), view.getInt32(9)] as const;
  if (type === 0 || Math.hypot(...position) < a / 2) return { t, fix: 'none', satellites };
  const [latitude, longitude] = geodetic(...position);
  const velocity = [view.getInt16(13) / 8, view.getInt16(15) / 8, view.getInt16(17) / 8] as const;
  const [north, east] = horizontal(velocity, latitude, longitude);
  const course = Math.atan2(east, north) * degree;
  return {
    t,
    latitude: rounded(latitude * degree, 9),
    longitude: rounded(longitude * degree, 9),
    speed: rounded(Math.hypot(north, east) * 3.6, 6),
    heading: rounded(course < 0 ? course + 360 : course, 6),
    fix: type === 4 || type === 6 ? '3D' : '2D',
    satellites,
  };
}

function instant(weekNumber: number, timeOfWeek: number, latest: number): number {
  const first = gpsEpoch + weekNumber * week + timeOfWeek - leapSeconds * 1000;
  const rollovers = Math.floor((latest - first) / (rollover * week));
  return first + (weekNumber < rollover ? Math.max(0, rollovers) * rollover * week : 0);
}

/** Radians north and east of a point near the surface, given in metres from the centre of the earth. */
function geodetic(x: number, y: number, z: number): readonly [number, number] {
  const p = Math.hypot(x, y);
  // Converges by a factor of e² a step near the surface: eight steps are beyond a double's digits.
  let latitude = Math.atan2(z, p * (1 - e2));
  for (let step = 0; step < 8; step++) {
    const sine = Math.sin(latitude);
    const radius = a / Math.sqrt(1 - e2 * sine * sine);
    latitude = Math.atan2(z + e2 * radius * sine, p);
  }
  return [latitude, Math.atan2(y, x)];
}

/** The parts of an earth-centred velocity to the north and to the east at a place. */
function horizontal(
  [x, y, z]: readonly [number, number, number],
  latitude: number,
  longitude: number,
): readonly [number, number] {
  const outward = x * Math.cos(longitude) + y * Math.sin(longitude);
  return [z * Math.cos(latitude) - outward * Math.sin(latitude), y * Math.cos(longitude) - x * Math.sin(longitude)];
}
