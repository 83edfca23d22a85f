/**
 * Navigation messages of u-blox receivers, class NAV (u-blox 8 / M8 Receiver Description and Protocol Specification,
 * UBX-13003221, §32.17). Little-endian; each begins with iTOW, the GPS time of week of its epoch in ms:
 *
 *     07 PVT      4 date and time, 11 valid, 16 nano, 20 fix type, 21 flags, 23 satellites, 24 longitude, 28 latitude,
 *                 36 height above the sea in mm, 60 ground speed in mm/s, 64 course, 78 flags3
 *     02 POSLLH   4 longitude, 8 latitude, 16 height above the sea in mm
 *     06 SOL      10 fix type, 11 flags, 12 X Y Z in cm, 28 vX vY vZ in cm/s, 47 satellites
 *     03 STATUS   4 fix type, 5 flags
 *     12 VELNED   20 ground speed in cm/s, 24 course
 *     21 TIMEUTC  8 nano, 12 date and time, 19 valid
 *     20 TIMEGPS  4 fraction of iTOW in ns, 8 week, 10 leap seconds, 11 valid
 *     61 EOE      end of the epoch: all its messages were sent
 *
 * Angles are in 1e-7 degrees, courses in 1e-5 degrees.
 */
import { defined } from '../../protocol/defined.ts';
import { groundFix, isNearSurface } from './earth-centred.ts';
import { type Fix, type FixKind, rounded } from './fix.ts';
import { midnight } from './sentence.ts';

/** Content of one epoch, from NAV-PVT, or else from the first other message; `t` is from the last UTC time. */
interface Epoch {
  readonly itow: number;
  t?: number;
  fix?: FixKind;
  satellites?: number;
  place?: Pick<Fix, 'latitude' | 'longitude' | 'altitude'>;
  motion?: Pick<Fix, 'speed' | 'heading'>;
  /** Position and motion from NAV-SOL, used only if no message with higher precision arrives. */
  solution?: Pick<Fix, 'latitude' | 'longitude' | 'speed' | 'heading'>;
}

interface Message {
  readonly name: string;
  /** Length in bytes of its payload; later versions of the protocol append to it. */
  readonly length: number;
  /** @returns the fault of the message */
  read(view: DataView, epoch: Epoch): string | undefined;
}

const classNames: Readonly<Record<number, string>> = {
  1: 'NAV',
  2: 'RXM',
  4: 'INF',
  5: 'ACK',
  6: 'CFG',
  10: 'MON',
  11: 'AID',
  13: 'TIM',
  16: 'ESF',
  19: 'MGA',
  33: 'LOG',
  40: 'HNR',
  41: 'NAV2',
};
const EOE = 0x0161;
const GPS_EPOCH = 315_964_800_000;
const WEEK = 604_800_000;
/** validDate, validTime, fullyResolved of NAV-PVT; validTOW, validWKN, validUTC of NAV-TIMEUTC; all of NAV-TIMEGPS. */
const RESOLVED = 7;
/** Bit gnssFixOK: within the configured limits of dilution and accuracy. */
const FIX_OK = 1;
/** Bit of flags3 in NAV-PVT: longitude, latitude and heights are invalid. */
const INVALID_PLACE = 1;

const messages: ReadonlyMap<number, Message> = new Map([
  [0x0107, { name: 'NAV-PVT', length: 84, read: pvt }],
  [0x0102, { name: 'NAV-POSLLH', length: 28, read: posllh }],
  [0x0106, { name: 'NAV-SOL', length: 52, read: sol }],
  [0x0103, { name: 'NAV-STATUS', length: 16, read: status }],
  [0x0112, { name: 'NAV-VELNED', length: 36, read: velned }],
  [0x0121, { name: 'NAV-TIMEUTC', length: 20, read: timeUtc }],
  [0x0120, { name: 'NAV-TIMEGPS', length: 16, read: timeGps }],
  [EOE, { name: 'NAV-EOE', length: 4, read: () => undefined }],
]);

/** Messages that provide a position, as text for display. */
export const ubxPositions = 'NAV-PVT, or NAV-POSLLH with NAV-SOL or NAV-STATUS';

/** Returns the name of a message for display, such as `NAV-PVT` or `RXM-0x15`. */
export function nameOfUbx(message: number): string {
  const name = classNames[message >> 8] ?? `0x${(message >> 8).toString(16).padStart(2, '0')}`;
  return messages.get(message)?.name ?? `${name}-0x${(message & 255).toString(16).padStart(2, '0')}`;
}

/** Merges the messages of one epoch, which have the same iTOW, into one fix. */
export class UbxEpochs {
  /** Number of positions that were ignored because no message of their epoch states whether they are valid. */
  unproven = 0;
  readonly #give: (fix: Fix) => void;
  #epoch: Epoch | undefined;

  constructor(give: (fix: Fix) => void) {
    this.#give = give;
  }

  /** Returns true if this class reads the message. */
  knows(message: number): boolean {
    return messages.has(message);
  }

  /** @returns the fault of the message, which is then ignored */
  take(message: number, payload: Uint8Array): string | undefined {
    const known = messages.get(message);
    if (known === undefined) return undefined;
    if (payload.length < known.length) {
      return `${known.name}: ${payload.length} bytes are too few, ${known.length} are needed`;
    }
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    const itow = view.getUint32(0, true);
    if (this.#epoch?.itow !== itow) this.settle();
    if (message === EOE) {
      this.settle();
      return undefined;
    }
    this.#epoch ??= { itow };
    const fault = known.read(view, this.#epoch);
    return fault === undefined ? undefined : `${known.name}: ${fault}`;
  }

  /** Time of the current epoch; undefined if unknown. */
  get moment(): number | undefined {
    return this.#epoch?.t;
  }

  /** Emits the fix of the epoch. */
  settle(): void {
    const epoch = this.#epoch;
    this.#epoch = undefined;
    if (epoch === undefined) return;
    const { t, fix, satellites, solution, place = solution, motion = solution } = epoch;
    if (fix === undefined) {
      if (place !== undefined) this.unproven++;
      return;
    }
    const known = { ...defined({ t, satellites }), fix };
    if (fix === 'none') this.#give(known);
    // Without a position, emit nothing: another message, such as an NMEA sentence, contains the position.
    else if (place !== undefined) this.#give({ ...known, ...motion, ...place });
  }
}

function pvt(view: DataView, epoch: Epoch): string | undefined {
  const place = placeOf(view, 24, 36);
  if (place === undefined) return 'the position is not on the earth';
  const flags3 = view.byteLength > 78 ? view.getUint8(78) : 0;
  epoch.fix = (flags3 & INVALID_PLACE) === 0 ? kindOf(view.getUint8(20), view.getUint8(21)) : 'none';
  epoch.satellites = view.getUint8(23);
  epoch.place = place;
  epoch.motion = motionOf(view.getInt32(60, true) / 1000, view.getInt32(64, true));
  return (view.getUint8(11) & RESOLVED) === RESOLVED ? setTime(epoch, view, 4, 16) : undefined;
}

function posllh(view: DataView, epoch: Epoch): string | undefined {
  const place = placeOf(view, 4, 16);
  if (place === undefined) return 'the position is not on the earth';
  epoch.place ??= place;
  return undefined;
}

function sol(view: DataView, epoch: Epoch): undefined {
  epoch.fix ??= kindOf(view.getUint8(10), view.getUint8(11));
  epoch.satellites ??= view.getUint8(47);
  const metres = (at: number) => view.getInt32(at, true) / 100;
  const position = [metres(12), metres(16), metres(20)] as const;
  if (isNearSurface(position)) epoch.solution = groundFix(position, [metres(28), metres(32), metres(36)]);
}

function status(view: DataView, epoch: Epoch): undefined {
  epoch.fix ??= kindOf(view.getUint8(4), view.getUint8(5));
}

function velned(view: DataView, epoch: Epoch): undefined {
  epoch.motion ??= motionOf(view.getUint32(20, true) / 100, view.getInt32(24, true));
}

function timeUtc(view: DataView, epoch: Epoch): string | undefined {
  return (view.getUint8(19) & RESOLVED) === RESOLVED ? setTime(epoch, view, 12, 8) : undefined;
}

function timeGps(view: DataView, epoch: Epoch): undefined {
  if ((view.getUint8(11) & RESOLVED) !== RESOLVED) return;
  const week = GPS_EPOCH + view.getInt16(8, true) * WEEK + epoch.itow - view.getInt8(10) * 1000;
  epoch.t ??= Math.round(week + view.getInt32(4, true) / 1e6);
}

/** Returns 2D, 3D (also for satellites with dead reckoning) or none (dead reckoning alone, time alone). */
function kindOf(type: number, flags: number): FixKind {
  if ((flags & FIX_OK) === 0) return 'none';
  if (type === 2) return '2D';
  return type === 3 || type === 4 ? '3D' : 'none';
}

/** Returns the place, or undefined for angles outside their range. */
function placeOf(view: DataView, at: number, height: number): Epoch['place'] {
  const longitude = view.getInt32(at, true) / 1e7;
  const latitude = view.getInt32(at + 4, true) / 1e7;
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return undefined;
  return { latitude, longitude, altitude: view.getInt32(height, true) / 1000 };
}

/** Returns speed and heading. @param speed m/s @param course 1e-5 degrees */
function motionOf(speed: number, course: number): Pick<Fix, 'speed' | 'heading'> {
  const degrees = (course / 1e5) % 360;
  return { speed: rounded(Math.max(0, speed) * 3.6, 6), heading: rounded(degrees < 0 ? degrees + 360 : degrees, 6) };
}

/** Reads year, month, day, hour, minute, second from `at` on, and nanoseconds, which may be negative. */
function setTime(epoch: Epoch, view: DataView, at: number, nano: number): string | undefined {
  const [month, day, hour, minute, second] = [2, 3, 4, 5, 6].map((offset) => view.getUint8(at + offset)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const start = midnight(view.getUint16(at, true), month, day);
  // In a leap second, the second is 60.
  if (start === undefined || hour > 23 || minute > 59 || second > 60) return 'there is no such date or time';
  epoch.t = start + Math.round((hour * 3600 + minute * 60 + second) * 1000 + view.getInt32(nano, true) / 1e6);
  return undefined;
}
