/**
 * Writes the recordings of this folder: `node test/adapters/gnss/recorded/write.ts`. The `.chk` files contain the
 * reports of gpsd 3.22 for each recording, made by gpsfake:
 *
 *     gpsfake -q -1 -p -u NAME.log | grep -v 'class":"\\(VERSION\\|DEVICE\\|DEVICES\\|WATCH\\|SKY\\|ERROR\\)"' > NAME.log.chk
 *
 * without the device name that gpsfake makes up, `"device":"…",`.
 */
import { writeFileSync } from 'node:fs';
import type { Fix } from '../../../../adapters/gnss/index.ts';
import { bytesOf, sirfFrame, told } from '../sentences.ts';
import { eoe, posllh, pvt, sol, timeUtc, velned } from '../ubx-writer.ts';

const folder = new URL('./', import.meta.url);

function write(name: string, comments: readonly string[], content: string | Uint8Array): void {
  const head = bytesOf(comments.map((comment) => `# ${comment}\n`).join(''));
  const body = typeof content === 'string' ? bytesOf(content) : content;
  writeFileSync(new URL(`${name}.log`, folder), Uint8Array.from([...head, ...body]));
}

/** `4807.038,N` */
function angle(degrees: number, width: number, digits: number, [plus, minus]: readonly [string, string]): string {
  const size = Math.abs(degrees);
  const whole = Math.floor(size);
  const minutes = ((size - whole) * 60).toFixed(digits).padStart(digits + 3, '0');
  return `${String(whole).padStart(width, '0')}${minutes},${degrees < 0 ? minus : plus}`;
}

const place = (latitude: number, longitude: number, digits: number): string =>
  `${angle(latitude, 2, digits, ['N', 'S'])},${angle(longitude, 3, digits, ['E', 'W'])}`;
const clock = (at: number, digits: number): string => {
  const [, time = ''] = new Date(at).toISOString().split('T');
  return time.replaceAll(':', '').slice(0, digits === 0 ? 6 : 7 + digits);
};
const date = (at: number): string => {
  const [year = '', month = '', day = ''] = new Date(at).toISOString().slice(2, 10).split('-');
  return day + month + year;
};

/** Ground speed and course, and the end of a day and of a year. */
function equator(): string {
  const begin = Date.UTC(2023, 11, 31, 23, 59, 45);
  return Array.from({ length: 40 }, (_, second) => {
    const at = begin + second * 1000;
    const position = place(0.002 - second * 0.0001, -0.0025 + second * 0.00012, 4);
    const knots = (25 + (second % 7) * 0.31).toFixed(2);
    const course = (130 + second * 0.7).toFixed(2);
    return told(
      `GPGGA,${clock(at, 3)},${position},1,09,0.9,${(12.4 + second / 10).toFixed(1)},M,17.2,M,,0000`,
      'GPGSA,A,3,02,05,07,13,15,20,21,29,30,,,,1.6,0.9,1.3',
      `GPRMC,${clock(at, 3)},A,${position},${knots},${course},${date(at)},,,A`,
      `GPVTG,${course},T,,M,${knots},N,${(Number(knots) * 1.852).toFixed(1)},K,A`,
    );
  }).join('');
}

/** Ten fixes a second from a receiver with corrections, below sea level, across the 180th meridian. */
function antimeridian(): string {
  const begin = Date.UTC(2024, 1, 29, 4, 5, 6, 700);
  return Array.from({ length: 60 }, (_, tick) => {
    const at = begin + tick * 100;
    const east = 179.999998 + tick * 0.00000007123;
    const position = place(-16.5 - tick * 0.00000004567, east > 180 ? east - 360 : east, 8);
    const course = ((350 + tick * 0.513) % 360).toFixed(3);
    const quality = tick % 20 < 10 ? 4 : 5;
    return told(
      `GNGGA,${clock(at, 2)},${position},${quality},17,0.6,${(-2.5 - tick / 1000).toFixed(3)},M,57.812,M,1.2,0133`,
      `GNRMC,${clock(at, 2)},A,${position},${(3 + tick / 97).toFixed(3)},${course},${date(at)},12.5,E,${quality === 4 ? 'R' : 'F'}`,
    );
  }).join('');
}

/** No fix, two dimensions, three, two again, and none, with satellites of two systems in view. */
function foundAndLost(): string {
  const begin = Date.UTC(2022, 5, 7, 10, 11, 12);
  const modes = [
    ...Array(5).fill(1),
    ...Array(6).fill(2),
    ...Array(12).fill(3),
    ...Array(4).fill(2),
    ...Array(5).fill(1),
  ];
  return (modes as number[])
    .map((mode, second) => {
      const at = begin + second * 1000;
      const fixed = mode > 1;
      const position = fixed ? place(47.2 + second * 0.00011, -1.55 + second * 0.00007, 5) : ',,,';
      const altitude = mode === 3 ? `${(38 + second / 8).toFixed(1)},M,48.0,M` : ',M,,M';
      const used = fixed ? '02,05,07' : ',,';
      const dilution = fixed ? '2.6,2.4,1.0' : '99.9,99.9,99.9';
      return told(
        `GNRMC,${clock(at, 2)},${fixed ? 'A' : 'V'},${position},${fixed ? '7.25,33.40' : ','},${date(at)},,,${fixed ? 'A' : 'N'}`,
        `GNGGA,${clock(at, 2)},${position},${fixed ? 1 : 0},${fixed ? '06' : '00'},${fixed ? '2.4' : '99.9'},${altitude},,`,
        `GNGSA,A,${mode},${used},,,,,,,,,,${dilution}`,
        `GNGSA,A,${mode},${fixed ? '76,65,78' : ',,'},,,,,,,,,,${dilution}`,
        'GPGSV,1,1,03,02,86,086,31,05,20,023,39,07,36,327,28',
        'GLGSV,1,1,03,76,08,007,22,65,10,040,25,78,51,239,30',
      );
    })
    .join('');
}

/** Earth-centred coordinates of a position on WGS 84, m. */
function earthCentred(latitude: number, longitude: number, height: number): [x: number, y: number, z: number] {
  const [phi, lambda] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  const flattening = 1 / 298.257_223_563;
  const eccentricity = flattening * (2 - flattening);
  const normal = 6_378_137 / Math.sqrt(1 - eccentricity * Math.sin(phi) ** 2);
  const across = (normal + height) * Math.cos(phi);
  return [across * Math.cos(lambda), across * Math.sin(lambda), (normal * (1 - eccentricity) + height) * Math.sin(phi)];
}

/** SiRF message 2: earth-centred position in m, velocity in 1/8 m/s, mode, week, 1/100 s, satellites. */
function sirf(): Uint8Array {
  const frames = Array.from({ length: 20 }, (_, second) => {
    const payload = new Uint8Array(41);
    const view = new DataView(payload.buffer);
    payload[0] = 2;
    const [here, next] = [second, second + 1].map((at) => earthCentred(-22.95 + at * 1e-4, -43.2 + at * 2e-4, 35));
    for (const [axis, metres] of (here as number[]).entries()) {
      view.setInt32(1 + 4 * axis, Math.round(metres));
      view.setInt16(13 + 2 * axis, Math.round(((next?.[axis] as number) - metres) * 8));
    }
    payload[19] = second < 10 ? 4 : 3;
    payload[20] = 6;
    // Weeks restart after 1024: 15 June 2005 is in week 303 of the second cycle.
    view.setUint16(22, 303);
    view.setUint32(24, (3 * 86_400 + 36_000 + second) * 100);
    payload[28] = second < 10 ? 7 : 3;
    return [...sirfFrame(payload)];
  });
  return Uint8Array.from(frames.flat());
}

/** A drive along the coast, four fixes a second, at the end of a year. */
function coast(tick: number): Fix {
  return {
    t: Date.UTC(2023, 11, 31, 23, 59, 57) + tick * 250,
    latitude: Math.round(-33.9 * 1e7 + tick * 311) / 1e7,
    longitude: Math.round(18.4 * 1e7 - tick * 173) / 1e7,
    altitude: (12_340 - tick * 17) / 1000,
    speed: ((14_000 + tick * 37) * 3.6) / 1000,
    heading: Math.round(337 * 1e5 + tick * 12_345) / 1e5,
    fix: tick < 4 ? '2D' : '3D',
    satellites: 9,
  };
}

const joined = (parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** No fix at first, later fixes combined with dead reckoning. */
function ubx(): Uint8Array {
  const epochs = Array.from({ length: 30 }, (_, tick) => {
    const fix: Fix = tick < 3 ? { ...coast(tick), fix: 'none' } : coast(tick);
    return [pvt(fix, tick > 20 ? { type: 4 } : {}), eoe(fix)];
  });
  return joined(epochs.flat());
}

/**
 * Messages of receivers without NAV-PVT. In this case gpsd reports the position of one epoch with the speed of another,
 * so all epochs are alike: on rollers, on the equator at 90° east, pointing north, where cm/s along the axes of the
 * earth are exact.
 */
function olderUbx(): Uint8Array {
  const epochs = Array.from({ length: 30 }, (_, tick) => {
    const fix = { ...coast(4), t: coast(tick).t as number, latitude: 0, longitude: 90, speed: 50.4, heading: 0 };
    const centred = [...earthCentred(0, 90, fix.altitude as number), 0, 0, 14];
    return [timeUtc(fix), sol(fix, {}, centred), velned(fix), posllh(fix), eoe(fix)];
  });
  return joined(epochs.flat());
}

const made = ['Made for the tests by write.ts; no receiver was there'];
write('equator', [...made, 'Date: 2024-01-01'], equator());
write('antimeridian-rtk', [...made, 'Date: 2024-02-29'], antimeridian());
write('found-and-lost', [...made, 'Date: 2022-06-07'], foundAndLost());
write('sirf', [...made, 'Date: 2005-06-15'], sirf());
write('ubx', [...made, 'Date: 2024-01-01'], ubx());
write('ubx-older', [...made, 'Date: 2024-01-01'], olderUbx());
