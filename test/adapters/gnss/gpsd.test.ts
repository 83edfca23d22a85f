import { describe, expect, it } from 'vitest';
import { GpsdParser } from '../../../adapters/gnss/index.ts';
import { bytesOf, told } from './sentences.ts';

function parse(...lines: readonly (string | object)[]) {
  const parser = new GpsdParser({ file: 'gpsd' });
  const text = lines.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join('');
  return { fixes: [...parser.push(bytesOf(text)), ...parser.finish()], faults: parser.faults.first };
}

const tpv = { class: 'TPV', device: '/dev/ttyUSB0', mode: 3, time: '2020-01-01T12:00:00.500Z', lat: 48.5, lon: -3.25 };

describe('reports of gpsd', () => {
  it('become fixes in the units of Vigie', () => {
    const { fixes } = parse(
      { class: 'SKY', uSat: 9 },
      { ...tpv, alt: 100, altMSL: 52.5, altHAE: 100, speed: 10, track: 84.4 },
    );
    expect(fixes).toEqual([
      {
        t: Date.UTC(2020, 0, 1, 12, 0, 0, 500),
        latitude: 48.5,
        longitude: -3.25,
        altitude: 52.5,
        speed: 36,
        heading: 84.4,
        fix: '3D',
        satellites: 9,
      },
    ]);
  });

  it('with the same time become one fix, the last', () => {
    const later = { ...tpv, time: '2020-01-01T12:00:01.500Z' };
    const { fixes } = parse({ ...tpv, mode: 2 }, { ...tpv, speed: 1 }, { class: 'SKY', uSat: 5 }, later, {
      ...later,
      mode: 2,
    });
    expect(fixes).toMatchObject([
      { fix: '3D', speed: 3.6, satellites: 5 },
      { fix: '2D', satellites: 5 },
    ]);
  });

  it('have no position without a fix', () => {
    expect(parse({ class: 'TPV', mode: 1 }, { ...tpv, mode: 0 }).fixes).toEqual([
      { fix: 'none' },
      { fix: 'none', t: Date.UTC(2020, 0, 1, 12, 0, 0, 500) },
    ]);
  });

  it('may be in older formats: seconds, another name of altitude, a list of satellites', () => {
    const satellites = [
      { PRN: 1, used: true },
      { PRN: 2, used: false },
      { PRN: 3, used: true },
    ];
    expect(parse({ class: 'SKY', satellites }, { ...tpv, time: 1_577_880_000.5, alt: 52.5 }).fixes).toMatchObject([
      { t: 1_577_880_000_500, altitude: 52.5, satellites: 2 },
    ]);
  });

  it('replace the sentences that gpsd passes on with them', () => {
    const { fixes } = parse(told('GPGLL,4807.038,N,01130.000,E,120000,A'), tpv);
    expect(fixes).toHaveLength(1);
  });

  it('are faults if they are broken', () => {
    const { fixes, faults } = parse('{"class":"TPV","mode":\n', tpv, '{"class":"TPV","lat":1');
    expect(fixes).toHaveLength(1);
    expect(faults.map(({ line, message }) => [line, message])).toEqual([
      [1, 'the line is not a JSON object'],
      [3, 'the line is not a JSON object'],
    ]);
  });
});
