import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fix, NmeaParser } from '../../../adapters/gnss/index.ts';
import { detectFixFormat } from '../../../adapters/gnss/reader.ts';
import { runs } from '../../rig/runs.ts';
import { bytesOf, parse, told } from './sentences.ts';
import { eoe, older, posllh, pvt, sol, status, timeGps, timeUtc, ubxFrame, velned } from './ubx-writer.ts';

/** Values in steps that UBX can represent. */
const noon: Fix = {
  t: Date.UTC(2024, 1, 29, 12),
  latitude: 48.1173021,
  longitude: -11.5166005,
  altitude: 545.432,
  speed: 36,
  heading: 84.41234,
  fix: '3D',
  satellites: 11,
};
const later = (ms: number): Fix => ({ ...noon, t: (noon.t as number) + ms });
const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
/** Sentences for the same times; they have fewer digits. */
const sentences = (second: number): Uint8Array =>
  bytesOf(
    told(
      `GNGGA,12000${second}.00,4807.03813,N,01130.99603,W,1,11,0.9,545.4,M,46.9,M,,`,
      `GNRMC,12000${second}.00,A,4807.03813,N,01130.99603,W,19.438,84.41,290224,,,A`,
    ),
  );

describe('NAV-PVT', () => {
  test('NAV-PVT becomes a fix with time, position, height, motion and satellites', () => {
    expect(parse(pvt(noon))).toEqual({ fixes: [noon], faults: [] });
  });

  test('NAV-PVT adds positive and negative nanoseconds to the second', () => {
    const times = [-400_000_000, -499_999, 499_999, 250_000_000].map((nano) => parse(pvt(noon, { nano })).fixes[0]?.t);
    expect(times.map((t) => (t as number) - (noon.t as number))).toEqual([-400, 0, 0, 250]);
  });

  test('a position needs gnssFixOK', () => {
    const { t, satellites } = noon;
    expect(parse(pvt(noon, { flags: 0xfe })).fixes).toEqual([{ t, satellites, fix: 'none' }]);
  });

  test.each([
    [0, 'none'],
    [1, 'none'],
    [2, '2D'],
    [3, '3D'],
    [4, '3D'],
    [5, 'none'],
    [6, 'none'],
  ])('fix type %i with gnssFixOK is %s', (type, fix) => {
    const [found] = parse(pvt(noon, { type })).fixes;
    expect(found?.fix).toBe(fix);
    expect(found?.latitude).toBe(fix === 'none' ? undefined : noon.latitude);
  });

  test.each([0, 1, 2, 3, 4, 5, 6])('a time with only the valid bits %i is ignored', (valid) => {
    const { t: _, ...timeless } = noon;
    expect(parse(pvt(noon, { valid })).fixes).toEqual([timeless]);
  });

  test('a position that the receiver marks as invalid is ignored', () => {
    const payload = pvt(noon).slice(6, -2);
    payload[78] = 1;
    expect(parse(ubxFrame(0x0107, payload)).fixes).toEqual([{ t: noon.t, satellites: 11, fix: 'none' }]);
  });

  test('a latitude beyond a pole and an invalid date are faults', () => {
    expect(parse(pvt({ ...noon, latitude: 91 }))).toEqual({
      fixes: [],
      faults: ['0: byte 0: NAV-PVT: the position is not on the earth'],
    });
    const payload = pvt(noon).slice(6, -2);
    payload[6] = 13;
    const { fixes, faults } = parse(ubxFrame(0x0107, payload));
    expect(faults).toEqual(['0: byte 0: NAV-PVT: there is no such date or time']);
    expect(fixes).toEqual([{ ...noon, t: undefined }]);
  });

  test('the shorter NAV-PVT of protocol 14 is read, and an even shorter one is a fault', () => {
    const payload = pvt(noon).slice(6, -2);
    expect(parse(ubxFrame(0x0107, payload.slice(0, 84))).fixes).toEqual([noon]);
    expect(parse(ubxFrame(0x0107, payload.slice(0, 83)))).toEqual({
      fixes: [],
      faults: ['0: byte 0: NAV-PVT: 83 bytes are too few, 84 are needed'],
    });
  });
});

describe('messages of older receivers', () => {
  test('POSLLH, SOL, VELNED and TIMEUTC of one epoch become one fix, in any order', () => {
    const parts = [posllh(noon), sol(noon), velned(noon), timeUtc(noon)];
    const orders = parts.flatMap((_, i) => [[...parts.slice(i), ...parts.slice(0, i)], parts.toReversed()]);
    for (const order of orders) expect(parse(joined(...order))).toEqual({ fixes: [noon], faults: [] });
  });

  test('another iTOW starts another epoch', () => {
    const bytes = joined(older(noon), older(later(250)), older(later(500)));
    expect(parse(bytes).fixes).toEqual([noon, later(250), later(500)]);
  });

  test('NAV-EOE ends the epoch at once', () => {
    const parser = new NmeaParser({ file: 'f', latest: 0 });
    expect(parser.push(older(noon))).toEqual([]);
    expect(parser.push(eoe(noon))).toEqual([noon]);
    expect(parser.finish()).toEqual([]);
  });

  test('SOL without GPSfixOK yields no position, and NAV-STATUS can replace SOL', () => {
    const { t, satellites } = noon;
    expect(parse(joined(posllh(noon), sol(noon, { flags: 0x0c }), timeUtc(noon))).fixes).toEqual([
      { t, satellites, fix: 'none' },
    ]);
    const { latitude, longitude, altitude } = noon;
    expect(parse(joined(posllh(noon), status(noon), timeUtc(noon))).fixes).toEqual([
      { t, latitude, longitude, altitude, fix: '3D' },
    ]);
    expect(parse(joined(posllh(noon), status(noon, { flags: 0 }), timeUtc(noon))).fixes).toEqual([{ t, fix: 'none' }]);
  });

  test('POSLLH without any message about its validity is left out and counted', () => {
    const parser = new NmeaParser({ file: 'f', latest: 0 });
    expect([...parser.push(joined(posllh(noon), velned(noon), posllh(later(1000)))), ...parser.finish()]).toEqual([]);
    expect(parser.unproven).toBe(2);
  });

  test.each([0, 1, 2, 3, 4, 5, 6])('TIMEUTC with only the valid bits %i yields no time', (valid) => {
    const { t: _, ...timeless } = noon;
    expect(parse(joined(posllh(noon), sol(noon), velned(noon), timeUtc(noon, { valid }))).fixes).toEqual([timeless]);
  });

  test('SOL and TIMEGPS, which gpsd requests from older receivers, become a fix without height', () => {
    // On the equator at 90° east, moving north at 10 m/s.
    const centred = [0, 6_378_137, 0, 0, 0, 10];
    const place = { t: noon.t, latitude: 0, longitude: 90, speed: 36, heading: 0, fix: '3D', satellites: 11 };
    expect(parse(joined(sol(noon, {}, centred), timeGps(noon))).fixes).toEqual([place]);
    // Week, time of week and leap seconds must all be valid.
    expect(parse(joined(sol(noon, {}, centred), timeGps(noon, { valid: 3 }))).fixes).toEqual([
      { ...place, t: undefined },
    ]);
  });

  test('NAV-PVT takes precedence over the other messages of its epoch', () => {
    const coarse = { ...noon, latitude: 48, speed: 7.2 };
    expect(parse(joined(older(coarse), pvt(noon))).fixes).toEqual([noon]);
    expect(parse(joined(pvt(noon), older(coarse))).fixes).toEqual([noon]);
  });
});

describe('UBX mixed with sentences', () => {
  test.each([
    ['before', (second: number) => joined(sentences(second), pvt(later(second * 1000)))],
    ['behind', (second: number) => joined(pvt(later(second * 1000)), sentences(second))],
    ['among', (second: number) => joined(posllh(later(second * 1000)), sentences(second), pvt(later(second * 1000)))],
  ])('sentences %s UBX of the same time yield no fix of their own', (_, epoch) => {
    const bytes = joined(...[0, 1, 2, 3].map(epoch));
    expect(parse(bytes)).toEqual({ fixes: [0, 1, 2, 3].map((second) => later(second * 1000)), faults: [] });
  });

  test('sentences provide the fixes for which there is no UBX', () => {
    const { fixes } = parse(
      joined(pvt(noon), sentences(0), sentences(1), sentences(2), pvt(later(3000)), sentences(3)),
    );
    expect(fixes.map(({ t }) => (t as number) - (noon.t as number))).toEqual([0, 1000, 2000, 3000]);
    expect(fixes.map(({ latitude }) => latitude === noon.latitude)).toEqual([true, false, false, true]);
  });

  test('UBX without a time does not duplicate fixes from sentences with a time', () => {
    const timeless = (second: number): Uint8Array => joined(posllh(later(second * 1000)), sol(later(second * 1000)));
    const { fixes } = parse(joined(...[0, 1, 2, 3].flatMap((second) => [sentences(second), timeless(second)])));
    expect(fixes.map(({ t }) => (t as number) - (noon.t as number))).toEqual([0, 1000, 2000, 3000]);
  });

  test('sentences yield fixes if UBX contains only TIMEUTC', () => {
    const { fixes } = parse(joined(timeUtc(noon), sentences(0), timeUtc(later(1000)), sentences(1)));
    expect(fixes.map(({ fix, t }) => [fix, t])).toEqual([
      ['3D', noon.t],
      ['3D', later(1000).t],
    ]);
  });
});

describe('damage', () => {
  const frames = [0, 1, 2, 3].map((second) => pvt(later(second * 1000)));
  const whole = joined(...frames);
  const fixes = [0, 1, 2, 3].map((second) => later(second * 1000));

  test('a wrong checksum is a fault, and the frames around it are read', () => {
    const bytes = whole.slice();
    bytes[100 + 40] = (bytes[140] as number) ^ 1;
    expect(parse(bytes)).toEqual({
      fixes: [fixes[0], fixes[2], fixes[3]],
      faults: ['0: the checksum of the UBX frame at byte 100 is wrong'],
    });
  });

  test('wherever a frame is damaged or shortened, only that frame is lost', () => {
    for (let at = 0; at < 100; at++) {
      const changed = whole.slice();
      changed[100 + at] = (changed[100 + at] as number) ^ 0x80;
      const removed = joined(whole.subarray(0, 100 + at), whole.subarray(101 + at));
      for (const bytes of [changed, removed]) {
        expect(parse(bytes).fixes, `byte ${at}`).toEqual([fixes[0], fixes[2], fixes[3]]);
      }
    }
  });

  test('a file that ends within a frame yields the fixes before it, and a diagnostic', () => {
    for (let length = 0; length <= whole.length; length++) {
      const found = parse(whole.subarray(0, length));
      expect(found.fixes, `${length} bytes`).toEqual(fixes.slice(0, Math.floor(length / 100)));
      // Fewer bytes than a header may be anything.
      expect(found.faults).toEqual(
        length % 100 < 6 ? [] : [`0: the UBX frame at byte ${length - (length % 100)} was cut`],
      );
    }
  });

  test('a wrong length does not swallow the following frames', () => {
    const bytes = whole.slice();
    bytes[4] = 250;
    expect(parse(bytes).fixes).toEqual(fixes.slice(1));
  });

  test('messages without a fix are counted by name', () => {
    const parser = new NmeaParser({ file: 'f', latest: 0 });
    parser.push(joined(ubxFrame(0x0215, new Uint8Array(16)), ubxFrame(0x0135, new Uint8Array(8)), pvt(noon)));
    expect(parser.finish()).toEqual([noon]);
    expect([...parser.others]).toEqual([
      ['UBX RXM-0x15', 1],
      ['UBX NAV-0x35', 1],
    ]);
  });
});

describe('any UBX messages', () => {
  const anyFix = fc
    .record({
      t: fc.integer({ min: Date.UTC(2019, 0, 1), max: Date.UTC(2035, 0, 1) }),
      latitude: fc.integer({ min: -900_000_000, max: 900_000_000 }).map((value) => value / 1e7),
      longitude: fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }).map((value) => value / 1e7),
      altitude: fc.integer({ min: -500_000, max: 9_000_000 }).map((value) => value / 1000),
      speed: fc.integer({ min: 0, max: 10_000 }).map((value) => (value * 36) / 1000),
      heading: fc.integer({ min: 0, max: 35_999_999 }).map((value) => value / 1e5),
      fix: fc.constantFrom('2D' as const, '3D' as const),
      satellites: fc.integer({ min: 0, max: 60 }),
    })
    .map((fix): Fix => fix);
  const pieces = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });

  test('are read back however they are split', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyFix, fc.boolean()), { maxLength: 6 }), pieces, (drive, sizes) => {
        const bytes = joined(...drive.map(([fix, old]) => (old ? older(fix) : pvt(fix))));
        const parser = new NmeaParser({ file: 'f', latest: 0 });
        const fixes: Fix[] = [];
        for (let from = 0, i = 0; from < bytes.length; i++) {
          const size = sizes[i % sizes.length] as number;
          fixes.push(...parser.push(bytes.subarray(from, from + size)));
          from += size;
        }
        fixes.push(...parser.finish());
        const expected = drive.map(([fix]) => fix);
        expect(fixes).toHaveLength(expected.length);
        for (const [i, fix] of fixes.entries()) {
          const { speed = 0, ...rest } = expected[i] as Fix;
          expect({ ...fix, speed: undefined }).toEqual({ ...rest, speed: undefined });
          // VELNED has a resolution of 1 cm/s.
          expect(Math.abs((fix.speed ?? 0) - speed)).toBeLessThan(0.019);
        }
        expect(parser.faults.count).toBe(0);
      }),
      { numRuns: runs(200, 2000) },
    );
  });
});

test("one frame identifies a recording, even after gpsd's greeting", () => {
  const greeting = bytesOf('{"class":"VERSION","release":"3.22"}\r\n{"class":"WATCH","enable":true,"raw":2}\r\n');
  expect(detectFixFormat(pvt(noon))).toBe('nmea');
  expect(detectFixFormat(joined(greeting, pvt(noon)))).toBe('nmea');
  expect(detectFixFormat(joined(greeting, bytesOf('{"class":"TPV","mode":1}\r\n'), pvt(noon)))).toBe('gpsd');
  expect(detectFixFormat(pvt(noon).fill(0, 98))).toBe(undefined);
});
