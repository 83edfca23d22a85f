import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FixParser, GpsdParser, NmeaParser } from '../../../adapters/gnss/index.ts';
import { liveBuffers } from '../../rig/live-buffers.ts';
import { describeShared } from '../../shared.ts';
import { own, type Recording, shared } from './recordings.ts';
import { bytesOf, parse, sentence, sirfFrame, told } from './sentences.ts';
import { older, pvt, timeUtc } from './ubx-writer.ts';

const latest = Date.UTC(2026, 0, 1);
const first = 'GPRMC,120000,A,4807.038,N,01130.000,E,010.0,084.4,010120,,';
const second = 'GPRMC,120001,A,4807.038,N,01130.000,E,010.0,084.4,010120,,';
const instants = [Date.UTC(2020, 0, 1, 12), Date.UTC(2020, 0, 1, 12, 0, 1)];

describe('sentences among other data', () => {
  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CR LF', '\r\n'],
    ['nothing', ''],
    ['empty lines', '\n\n\r\n'],
    ['binary of another protocol', '\xd3\x00\x13\xb5\xb5\x62\xff$\x00#\xff\x0a{"\x01$GP\x00\x0a'],
    ['a UBX frame', '\xb5\x62\x05\x01\x02\x00\x06\x01\x0f\x38'],
    ['bytes with the upper half set', '\xa0\xa2\xff\xff\xb0\xb3\xa0'],
    ['a comment that quotes a sentence', `\n# like ${sentence(second.replace('120001', '130000'))}\n`],
    ['proprietary sentences and AIS', `\n${told('PUBX,00,1')}$PMTK001,604,3*32\n!AIVDM,1,1,,A,1,0*00\n`],
    ['a dollar sign', '\ncosts $5, $ and $A\n'],
    ["gpsd's greeting", '\n{"class":"VERSION","release":"3.25"}\n'],
  ])('may end with %s', (_, between) => {
    const { fixes, faults } = parse(`${sentence(first)}${between}${sentence(second)}`);
    expect(fixes.map(({ t }) => t)).toEqual(instants);
    expect(faults).toEqual([]);
  });

  it('may lack the checksum if they have a line end', () => {
    expect(parse(`$${first}\n$${second}`)).toEqual({
      fixes: [expect.objectContaining({ t: instants[0] })],
      faults: ['2: the sentence was cut'],
    });
  });

  it('may follow a time stamp or a tag block', () => {
    const { fixes } = parse(`2020-01-01T12:00:00Z: ${sentence(first)}\n\\s:r1,c:1577880001*00\\${sentence(second)}\n`);
    expect(fixes.map(({ t }) => t)).toEqual(instants);
  });

  it('have the line numbers of the file', () => {
    const text = `# one\r\n# two\r\n${told(first)}\n\r$GPGGA,*00\n`;
    expect(parse(text).faults).toEqual([expect.stringMatching(/^6: /)]);
  });
});

describe('SiRF binary', () => {
  /** A point on the equator at 90° east, moving north at 10 m/s, 3D, week 2048 + 302, second 518418. */
  const payload = new Uint8Array(41);
  const view = new DataView(payload.buffer);
  payload[0] = 2;
  view.setInt32(5, 6_378_137);
  view.setInt16(17, 80);
  payload[19] = 4;
  view.setUint16(22, 302);
  view.setUint32(24, 518_418_00);
  payload[28] = 7;

  it('message 2 is a fix', () => {
    const { fixes, faults } = parse(sirfFrame(payload));
    expect(faults).toEqual([]);
    expect(fixes).toEqual([
      {
        t: Date.UTC(2025, 0, 25),
        latitude: 0,
        longitude: 90,
        speed: 36,
        heading: 0,
        fix: '3D',
        satellites: 7,
      },
    ]);
  });

  it('the week is the latest possible one before the recording', () => {
    const header = bytesOf('# Date: 2005-06-12\n');
    expect(parse(Uint8Array.from([...header, ...sirfFrame(payload)])).fixes[0]?.t).toBe(Date.UTC(2005, 5, 11));
  });

  it('other messages, and message 2 without a fix, yield no position', () => {
    expect(parse(sirfFrame(payload.map((byte, i) => (i === 19 ? 0 : byte)))).fixes).toEqual([
      { t: Date.UTC(2025, 0, 25), fix: 'none', satellites: 7 },
    ]);
    expect(parse(sirfFrame(payload.map((byte, i) => (i === 0 ? 4 : byte)))).fixes).toEqual([]);
  });

  it('a wrong checksum is a fault', () => {
    const frame = sirfFrame(payload);
    frame[20] = 1;
    expect(parse(frame)).toEqual({ fixes: [], faults: ['1: the checksum of the SiRF frame is wrong'] });
  });
});

/** Pushes the bytes in pieces of the given sizes, then finishes. */
function inPieces(parser: FixParser, bytes: Uint8Array, sizes: readonly number[]): unknown {
  const fixes = [];
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number;
    fixes.push(...parser.push(bytes.subarray(from, from + size)));
    from += size;
  }
  return [[...fixes, ...parser.finish()], parser.faults.count, parser.faults.first];
}

const parsers = (): readonly FixParser[] => [new NmeaParser({ file: 'f', latest }), new GpsdParser({ file: 'f' })];

const fragment = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom('$', '*', '\r', '\n', '#', '{"class":', ',', '\xa0\xa2\x00\x03', '\xb0\xb3').map(bytesOf),
  fc
    .constantFrom(first, second, 'GPGGA,120001,4807.038,N,01130.000,E,1,08,0.9,545.4,M,,M,,')
    .map((s) => bytesOf(sentence(s))),
  fc
    .constantFrom('{"class":"TPV","mode":3,"lat":1,"lon":2,"time":1e300}\n', '{"class":"SKY","satellites":[null]}\n')
    .map(bytesOf),
);
const place = { t: Date.UTC(2020, 0, 1, 12, 0, 1), latitude: 48.1173, longitude: 11.5, fix: '3D' } as const;
const ubx = fc.oneof(
  fc.constantFrom(pvt(place), pvt({ fix: 'none' }), older(place), timeUtc(place)),
  fc
    .tuple(fc.constantFrom(pvt(place), older(place)), fc.nat(200), fc.nat(255))
    .map(([bytes, at, value]) => bytes.map((byte, i) => (i === at ? value : byte))),
  fc.tuple(fc.constantFrom(pvt(place), older(place)), fc.nat(200)).map(([bytes, to]) => bytes.slice(0, to)),
);
const stream = fc
  .array(fc.oneof({ weight: 3, arbitrary: fragment }, { weight: 1, arbitrary: ubx }), { maxLength: 40 })
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));
const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 });

describe('any bytes', () => {
  it('cause no exception, and yield the same however they are split', () => {
    fc.assert(
      fc.property(stream, sizes, (bytes, pieces) => {
        const whole = parsers().map((parser) => inPieces(parser, bytes, [bytes.length || 1]));
        const cut = parsers().map((parser) => inPieces(parser, bytes, pieces));
        expect(cut).toEqual(whole);
      }),
    );
  });

  it('keep at most one unfinished record in memory', () => {
    for (const endless of [
      '$GPGGA,',
      '{"class":"TPV",',
      '# ',
      '\xa0\xa2\x03\xff',
      '\xb5\x62\x01\x07\x00\x20',
      '\x00',
    ]) {
      const block = bytesOf(endless + 'A'.repeat(50_000));
      const all = parsers();
      const before = liveBuffers();
      for (const parser of all) {
        for (let i = 0; i < 100; i++) parser.push(i === 0 ? block : block.subarray(endless.length));
      }
      // Without a limit, each parser would hold 5 MB.
      expect(liveBuffers() - before).toBeLessThan(4_000_000);
      expect(all.length).toBeGreaterThan(1);
    }
  });
});

function damagedRecordings(paths: readonly Recording[]): void {
  const recordings = paths.map(({ path }) => new Uint8Array(readFileSync(path)));
  const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 60 });

  it('cause no exception, and every fix is plausible', () => {
    fc.assert(
      fc.property(fc.constantFrom(...recordings), damage, (recording, changes) => {
        const bytes = recording.slice();
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        for (const parser of parsers()) {
          for (const fix of [...parser.push(bytes), ...parser.finish()]) {
            const { t = 0, latitude = 0, longitude = 0, satellites = 0 } = fix;
            expect(Number.isNaN(new Date(t).getTime())).toBe(false);
            expect(Math.abs(latitude)).toBeLessThanOrEqual(90);
            expect(Math.abs(longitude)).toBeLessThanOrEqual(180);
            expect(satellites).toBeGreaterThanOrEqual(0);
            if (fix.fix === 'none') expect(fix.latitude ?? fix.longitude ?? fix.altitude).toBeUndefined();
          }
        }
      }),
    );
  });
}

describe('damaged recordings', () => damagedRecordings(own()));
describeShared('damaged recordings beside the project', () => damagedRecordings(shared()));
