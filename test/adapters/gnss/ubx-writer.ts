/** Writes fixes as messages of u-blox receivers. */
import type { Fix } from '../../../adapters/gnss/index.ts';

/** A UBX frame around a payload. */
export function ubxFrame(message: number, payload: Uint8Array): Uint8Array {
  const checked = [message >> 8, message & 255, payload.length & 255, payload.length >> 8, ...payload];
  let a = 0;
  let b = 0;
  for (const byte of checked) {
    a = (a + byte) % 256;
    b = (b + a) % 256;
  }
  return Uint8Array.from([0xb5, 0x62, ...checked, a, b]);
}

/** 1980-01-06, on a Sunday. */
const gpsEpoch = Date.UTC(1980, 0, 6);
const week = 7 * 86_400_000;
const leapSeconds = 18;

/** Fields of a message that a fix does not determine. */
export interface Sky {
  /** Fix type, if it differs from the one that fits the fix. */
  readonly type?: number;
  readonly flags?: number;
  /** Flags for the validity of date and time. */
  readonly valid?: number;
  /** Nanoseconds to add to the millisecond of the fix. */
  readonly nano?: number;
}

const types = { none: 0, '2D': 2, '3D': 3 } as const;

function payloadOf(length: number, { t = 0 }: Fix, write: (view: DataView, itow: number) => void): Uint8Array {
  const payload = new Uint8Array(length);
  const view = new DataView(payload.buffer);
  const itow = (t - gpsEpoch + leapSeconds * 1000) % week;
  view.setUint32(0, itow, true);
  write(view, itow);
  return payload;
}

/** Year, month, day, hour, minute, second. */
function writeDate(view: DataView, at: number, t: number): void {
  const date = new Date(t);
  view.setUint16(at, date.getUTCFullYear(), true);
  const rest = [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()];
  for (const [i, value] of [...rest, date.getUTCSeconds()].entries()) view.setUint8(at + 2 + i, value);
}

const whole = (value: number | undefined, scale: number): number => Math.round((value ?? 0) * scale);
const okay = ({ fix }: Fix): number => (fix === 'none' ? 0 : 1);

export function pvt(fix: Fix, sky: Sky = {}): Uint8Array {
  const payload = payloadOf(92, fix, (view) => {
    const { t = 0 } = fix;
    writeDate(view, 4, t);
    view.setUint8(11, sky.valid ?? (fix.t === undefined ? 0 : 7));
    view.setInt32(16, (t % 1000) * 1e6 + (sky.nano ?? 0), true);
    view.setUint8(20, sky.type ?? types[fix.fix]);
    view.setUint8(21, sky.flags ?? okay(fix));
    view.setUint8(23, fix.satellites ?? 0);
    view.setInt32(24, whole(fix.longitude, 1e7), true);
    view.setInt32(28, whole(fix.latitude, 1e7), true);
    view.setInt32(32, whole(fix.altitude, 1000) + 47_000, true);
    view.setInt32(36, whole(fix.altitude, 1000), true);
    view.setInt32(60, whole(fix.speed, 1000 / 3.6), true);
    view.setInt32(64, whole(fix.heading, 1e5), true);
  });
  return ubxFrame(0x0107, payload);
}

export function posllh(fix: Fix): Uint8Array {
  const payload = payloadOf(28, fix, (view) => {
    view.setInt32(4, whole(fix.longitude, 1e7), true);
    view.setInt32(8, whole(fix.latitude, 1e7), true);
    view.setInt32(12, whole(fix.altitude, 1000) + 47_000, true);
    view.setInt32(16, whole(fix.altitude, 1000), true);
  });
  return ubxFrame(0x0102, payload);
}

/** @param centred X, Y, Z in m and their velocities in m/s */
export function sol(fix: Fix, sky: Sky = {}, centred: readonly number[] = []): Uint8Array {
  const payload = payloadOf(52, fix, (view) => {
    view.setUint16(8, Math.floor(((fix.t ?? 0) - gpsEpoch) / week), true);
    view.setUint8(10, sky.type ?? types[fix.fix]);
    view.setUint8(11, sky.flags ?? 0x0c | okay(fix));
    for (const [i, value] of centred.entries()) view.setInt32((i < 3 ? 12 : 16) + 4 * i, Math.round(value * 100), true);
    view.setUint8(47, fix.satellites ?? 0);
  });
  return ubxFrame(0x0106, payload);
}

export function status(fix: Fix, sky: Sky = {}): Uint8Array {
  const payload = payloadOf(16, fix, (view) => {
    view.setUint8(4, sky.type ?? types[fix.fix]);
    view.setUint8(5, sky.flags ?? 0x0c | okay(fix));
  });
  return ubxFrame(0x0103, payload);
}

export function velned(fix: Fix): Uint8Array {
  const payload = payloadOf(36, fix, (view) => {
    view.setUint32(16, whole(fix.speed, 100 / 3.6), true);
    view.setUint32(20, whole(fix.speed, 100 / 3.6), true);
    view.setInt32(24, whole(fix.heading, 1e5), true);
  });
  return ubxFrame(0x0112, payload);
}

export function timeUtc(fix: Fix, sky: Sky = {}): Uint8Array {
  const payload = payloadOf(20, fix, (view) => {
    const { t = 0 } = fix;
    view.setInt32(8, (t % 1000) * 1e6 + (sky.nano ?? 0), true);
    writeDate(view, 12, t);
    view.setUint8(19, sky.valid ?? (fix.t === undefined ? 0 : 7));
  });
  return ubxFrame(0x0121, payload);
}

export function timeGps(fix: Fix, sky: Sky = {}): Uint8Array {
  const payload = payloadOf(16, fix, (view) => {
    view.setInt32(4, sky.nano ?? 0, true);
    view.setInt16(8, Math.floor(((fix.t ?? 0) + leapSeconds * 1000 - gpsEpoch) / week), true);
    view.setInt8(10, leapSeconds);
    view.setUint8(11, sky.valid ?? 7);
  });
  return ubxFrame(0x0120, payload);
}

/** The end of the epoch. */
export function eoe(fix: Fix): Uint8Array {
  return ubxFrame(
    0x0161,
    payloadOf(4, fix, () => undefined),
  );
}

/** The messages of an epoch from a receiver without NAV-PVT. */
export function older(fix: Fix): Uint8Array {
  return Uint8Array.from([posllh(fix), sol(fix), velned(fix), timeUtc(fix)].flatMap((frame) => [...frame]));
}
