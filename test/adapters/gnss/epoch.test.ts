import { describe, expect, it } from 'vitest';
import { NmeaParser } from '../../../adapters/gnss/index.ts';
import { bytesOf, parse, sentence, told } from './sentences.ts';

const gga = (time: string, satellites = '08', altitude = '545.4'): string =>
  `GPGGA,${time},4807.038,N,01130.000,E,1,${satellites},0.9,${altitude},M,46.9,M,,`;
const rmc = (time: string, date: string, status = 'A'): string =>
  `GPRMC,${time},${status},4807.038,N,01130.000,E,010.0,084.4,${date},003.1,W`;

describe('one epoch', () => {
  it('merges the sentences into one fix', () => {
    const { fixes, faults } = parse(
      told(
        gga('123519.00'),
        'GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1',
        'GPVTG,084.4,T,077.8,M,010.0,N,018.5,K,A',
        'GPGST,123519.00,,,,,3.1,2.2,4.4',
        'GPGLL,4807.038,N,01130.000,E,123519.00,A,A',
        rmc('123519.00', '230394'),
      ),
    );
    expect(faults).toEqual([]);
    expect(fixes).toEqual([
      {
        t: Date.UTC(1994, 2, 23, 12, 35, 19),
        latitude: 48.1173,
        longitude: 11.5,
        altitude: 545.4,
        speed: 18.52,
        heading: 84.4,
        fix: '3D',
        satellites: 8,
      },
    ]);
  });

  it.each(['GP', 'GL', 'GA', 'GB', 'BD', 'GQ', 'QZ', 'GI', 'GN', 'IN', 'II'])(
    'may come from any talker: %s',
    (talker) => {
      const { fixes } = parse(told(rmc('120000', '010120').replace('GP', talker)));
      expect(fixes).toMatchObject([{ t: Date.UTC(2020, 0, 1, 12), latitude: 48.1173, fix: '2D' }]);
    },
  );

  it('has only the members that the receiver reports', () => {
    expect(parse(told('GPGLL,4807.038,S,01130.000,W,120000,A')).fixes).toEqual([
      { latitude: -48.1173, longitude: -11.5, fix: '2D' },
    ]);
    expect(parse(told('GPRMC,120000,A,4807.038,N,01130.000,E,,,010120,,')).fixes).toEqual([
      { t: Date.UTC(2020, 0, 1, 12), latitude: 48.1173, longitude: 11.5, fix: '2D' },
    ]);
  });

  it('has no position without a fix', () => {
    const { fixes } = parse(told(gga('120000').replace('E,1,08', 'E,0,03'), rmc('120000', '010120', 'V')));
    expect(fixes).toEqual([{ fix: 'none', satellites: 3 }]);
  });

  it('ends with a repeated sentence if sentences have no time', () => {
    const { fixes, faults } = parse(told(...Array(3).fill(['GPRMC,,V,,,,,,,,,,N', 'GPGGA,,,,,,0,,,,M,,M,,']).flat()));
    expect(fixes).toEqual([{ fix: 'none' }, { fix: 'none' }, { fix: 'none' }]);
    expect(faults).toEqual([]);
  });

  it('gets 2D or 3D from GSA, the best of all systems', () => {
    const dimensions = (...gsa: string[]) => parse(told(gga('120000'), ...gsa)).fixes.map(({ fix }) => fix);
    expect(dimensions('GNGSA,A,2,01,02,03,,,,,,,,,,1,1,1')).toEqual(['2D']);
    expect(dimensions('GNGSA,A,1,,,,,,,,,,,,,1,1,1', 'GNGSA,A,3,65,66,67,68,,,,,,,,,1,1,1')).toEqual(['3D']);
    expect(dimensions('GNGSA,A,1,,,,,,,,,,,,,1,1,1')).toEqual(['none']);
    expect(dimensions()).toEqual(['3D']);
  });

  it('gets its number of satellites from GSA if GGA lacks it or has reached its maximum', () => {
    const gsa = (system: number, numbers: string) => `GNGSA,A,3,${numbers},1.0,0.6,0.8,${system}`;
    const gps = gsa(1, '01,02,03,04,05,06,07,08,09,10,11,12');
    const galileo = gsa(3, '01,02,03,,,,,,,,,');
    expect(parse(told(gga('120000', '12'), gps, galileo)).fixes[0]?.satellites).toBe(15);
    expect(parse(told(rmc('120000', '010120'), galileo)).fixes[0]?.satellites).toBe(3);
    expect(parse(told(gga('120000', '05'), gps)).fixes[0]?.satellites).toBe(5);
  });

  it('accepts VTG sentences older than version 2, and those in km/h only', () => {
    const speed = (vtg: string) => parse(told(gga('120000'), vtg)).fixes[0]?.speed;
    expect(speed('GPVTG,360.0,348.7,010.0,018.5')).toBe(18.52);
    expect(speed('GPVTG,360.0,T,,M,,N,018.5,K')).toBe(18.5);
    expect(speed('GPVTG,,T,,M,,N,,K,N')).toBeUndefined();
  });
});

describe('time', () => {
  const times = (...contents: string[]) =>
    parse(told(...contents)).fixes.map(({ t }) => (t === undefined ? undefined : new Date(t).toISOString()));

  it('passes midnight although only RMC has the date and comes less often', () => {
    expect(
      times(gga('235958.5'), rmc('235958.5', '311223'), gga('235959.5'), gga('000000.5'), gga('000001.5')),
    ).toEqual([
      '2023-12-31T23:59:58.500Z',
      '2023-12-31T23:59:59.500Z',
      '2024-01-01T00:00:00.500Z',
      '2024-01-01T00:00:01.500Z',
    ]);
  });

  it('uses the date of RMC if RMC comes last in the first epoch of a day', () => {
    expect(times(rmc('235959', '280224'), gga('235959'), gga('000000'), rmc('000000', '290224'))).toEqual([
      '2024-02-28T23:59:59.000Z',
      '2024-02-29T00:00:00.000Z',
    ]);
  });

  it('uses the date of ZDA, before or after its epoch', () => {
    expect(times('GPZDA,000000.00,01,01,2024,00,00', gga('000000'), gga('000001'))).toEqual([
      '2024-01-01T00:00:00.000Z',
      '2024-01-01T00:00:01.000Z',
    ]);
    expect(times(gga('235959.9'), 'GPZDA,000000.00,01,01,2024,00,00', gga('000000.9'))).toEqual([
      '2023-12-31T23:59:59.900Z',
      '2024-01-01T00:00:00.900Z',
    ]);
  });

  it("is absent until there is a date, and keeps the receiver's value", () => {
    expect(times(gga('120000'), gga('120001'), rmc('120001', '060180'))).toEqual([
      undefined,
      '1980-01-06T12:00:01.000Z',
    ]);
    expect(times(rmc('120000', '311279'))).toEqual(['2079-12-31T12:00:00.000Z']);
  });

  it('may have a leap second and any number of decimals', () => {
    expect(times(rmc('235960.00', '311216'))).toEqual(['2017-01-01T00:00:00.000Z']);
    expect(times(rmc('120000', '010120'), gga('120000.000'), 'GPGLL,4807.038,N,01130.000,E,120000.00,A')).toHaveLength(
      1,
    );
    expect(times(rmc('120000.10', '010120'), rmc('120000.20', '010120'))).toHaveLength(2);
  });
});

describe('broken sentences', () => {
  const good = told(rmc('120000', '010120'));

  it.each([
    ['wrong checksum', `${sentence(gga('120000')).slice(0, -2)}00\n`, /^2: the checksum is 00, but the sentence gives/],
    ['no hexadecimal checksum', '$GPGGA,120000,,,,,0,,,,,,,,*G1\n', /^2: the checksum is not two hexadecimal digits/],
    ['cut by the next', '$GPGGA,120000,4807.0', /^2: the sentence was cut/],
    ['a byte that is not text', '$GPGGA,1200\x0200,4807.0\n', /^2: the sentence was cut/],
    ['too few fields', told('GPGGA,120000,4807.038,N'), /^2: GPGGA: 3 fields are too few, 9 are needed/],
    [
      'a latitude of letters',
      told(gga('120000').replace('4807.038', 'x')),
      /^2: GPGGA: the latitude is not a number: x/,
    ],
    [
      'a latitude beyond the pole',
      told(gga('120000').replace('4807.038', '9001.0')),
      /^2: GPGGA: the latitude is not degrees/,
    ],
    ['minutes beyond 59', told(gga('120000').replace('4807.038', '4861.0')), /^2: GPGGA: the latitude is not degrees/],
    [
      'an invalid hemisphere',
      told(gga('120000').replace(',N,', ',X,')),
      /^2: GPGGA: the latitude has no hemisphere NS: X/,
    ],
    ['an invalid time', told(gga('250000')), /^2: GPGGA: the time is not hhmmss.ss: 250000/],
    ['an invalid date', told('GPZDA,120000,31,02,2024,00,00'), /^2: GPZDA: there is no such date: 31,02,2024/],
  ])('%s: the sentence is counted and named, and the next one is read', (_, text, fault) => {
    const { fixes, faults } = parse(`${good}${text}${told(rmc('120001', '010120'))}`);
    expect(faults).toEqual([expect.stringMatching(fault)]);
    expect(fixes.map(({ t }) => t)).toEqual([Date.UTC(2020, 0, 1, 12), Date.UTC(2020, 0, 1, 12, 0, 1)]);
  });

  it('keep their position if only the date is wrong', () => {
    const { fixes, faults } = parse(told(rmc('120000', '320120')));
    expect(fixes).toMatchObject([{ latitude: 48.1173, fix: '2D' }]);
    expect(faults).toEqual(['1: GPRMC: the date is not ddmmyy: 320120']);
  });

  it('are counted beyond the first ten', () => {
    const parser = new NmeaParser({ file: 'f', latest: 0 });
    parser.push(bytesOf('$GPGGA,*00\n'.repeat(25)));
    expect(parser.faults.count).toBe(25);
    expect(parser.faults.first).toHaveLength(10);
    expect(parser.faults.first[9]).toMatchObject({ file: 'f', line: 10, severity: 'error' });
  });
});

describe('a live receiver', () => {
  it('yields a fix once when it falls silent', () => {
    const parser = new NmeaParser({ file: 'tty', latest: 0 });
    expect(parser.push(bytesOf(told(rmc('120000', '010120'), gga('120000'))))).toEqual([]);
    expect(parser.settle()).toMatchObject([{ t: Date.UTC(2020, 0, 1, 12), altitude: 545.4 }]);
    expect(parser.settle()).toEqual([]);
    // After the silence, a sentence without a time belongs to the next epoch.
    parser.push(bytesOf(told('GPVTG,10.0,T,,M,1.0,N,1.9,K,A', gga('120001'))));
    expect(parser.finish()).toMatchObject([{ t: Date.UTC(2020, 0, 1, 12, 0, 1), heading: 10, speed: 1.852 }]);
  });
});
