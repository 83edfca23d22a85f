/**
 * Message 2, measured navigation data, of the SiRF binary protocol (SiRF Binary Protocol Reference Manual):
 *
 *     0  1..12       13..18            19    20    21    22..23  24..27        28
 *     2  X Y Z, m    vX vY vZ, m/s/8   mode  DOP   mode  week    time of week  satellites used
 *                                                               1/100 s
 *
 * Big-endian. It has no height above mean sea level. The week counts modulo 1024, and time is GPS time.
 */
import { DAY } from '../../protocol/calendar.ts';
import { groundFix, isNearSurface } from './earth-centred.ts';
import type { Fix } from './fix.ts';

const measuredNavigation = 2;
const shortest = 41;
/** 1980-01-06 in UTC ms. */
const gpsEpoch = 315_964_800_000;
const week = 7 * DAY;
const rollover = 1024;
/**
 * Seconds by which GPS time is ahead of UTC since 2017-01-01 (IERS Bulletin C 52). The message does not contain them;
 * times of recordings before 2017 are up to five seconds early, like gpsd's.
 */
const leapSeconds = 18;

/**
 * @param payload of a SiRF frame
 * @param latest UTC ms: selects the last week that is not after this time
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
  if (type === 0 || !isNearSurface(position)) return { t, fix: 'none', satellites };
  const velocity = [view.getInt16(13) / 8, view.getInt16(15) / 8, view.getInt16(17) / 8] as const;
  return { t, ...groundFix(position, velocity), fix: type === 4 || type === 6 ? '3D' : '2D', satellites };
}

function instant(weekNumber: number, timeOfWeek: number, latest: number): number {
  const first = gpsEpoch + weekNumber * week + timeOfWeek - leapSeconds * 1000;
  const rollovers = Math.floor((latest - first) / (rollover * week));
  return first + (weekNumber < rollover ? Math.max(0, rollovers) * rollover * week : 0);
}
