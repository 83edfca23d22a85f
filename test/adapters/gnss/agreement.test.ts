import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GpsdParser, NmeaParser } from '../../../adapters/gnss/index.ts';
import { describeShared, sharedData } from '../../shared.ts';
import { type Agreement, compare } from './agreement.ts';

const folder = `${sharedData}gnss/`;

/** Why a report of gpsd has no equal among our fixes; anything else is a failure. */
const causes: readonly { readonly cause: string; readonly files: readonly string[]; readonly what: RegExp }[] = [
  {
    // gpsd keeps 3D once it had an altitude, although GSA says 2 (held altitude) in that epoch.
    cause: 'GSA says 2D, gpsd keeps 3D because GGA has an altitude',
    files: ['sl869.log'],
    what: /^fix 3D is 2D$/,
  },
  {
    // SiRF message 2 gives an earth-centred position; gpsd adds the height of its own model of the geoid.
    cause: 'the receiver gives no height above mean sea level, gpsd computes one',
    files: ['bu303-moving.log'],
    what: /^altMSL [\d.]+ is missing$/,
  },
];

/** Reports, those that agree in all, and exceptions by cause. */
const expected: Readonly<Record<string, readonly [number, number, Readonly<Record<string, number>>]>> = {
  'bu303-moving.log': [12, 0, { 'the receiver gives no height above mean sea level, gpsd computes one': 12 }],
  'bu353s4.log': [27, 27, {}],
  'nmea-rtk.log': [123, 123, {}],
  'sl869.log': [95, 83, { 'GSA says 2D, gpsd keeps 3D because GGA has an altitude': 12 }],
};

function agreementOf(file: string): Agreement {
  const parser = new NmeaParser({ file, latest: Date.UTC(2026, 0, 1) });
  const bytes = readFileSync(folder + file);
  return compare(`${folder}${file}.chk`, [...parser.push(bytes), ...parser.finish()]);
}

function causeOf(file: string, what: string): string | undefined {
  return causes.find((entry) => entry.files.includes(file) && entry.what.test(what))?.cause;
}

describeShared('agreement with gpsd', () => {
  const logs = readdirSync(folder).filter((file) => file.endsWith('.log'));

  it.each(logs)('%s: every report of gpsd has its fix, or a known cause why not', (file) => {
    const { reports, agreeing, exceptions } = agreementOf(file);
    const counts: Record<string, number> = {};
    for (const { line, what } of exceptions) {
      const cause = causeOf(file, what);
      expect(cause, `${file}.chk:${line}: ${what}`).toBeDefined();
      counts[cause as string] = (counts[cause as string] ?? 0) + 1;
    }
    expect(reports).toBeGreaterThan(0);
    if (expected[file] !== undefined) expect([reports, agreeing, counts]).toEqual(expected[file]);
  });

  it.each(logs)('%s: positions and times agree without exception', (file) => {
    const wrong = agreementOf(file).exceptions.filter(({ what }) => /no fix of|lat|lon|speed|track/.test(what));
    expect(wrong).toEqual([]);
  });

  it.each(logs)("%s: gpsd's own reports read back give what they say", (file) => {
    const parser = new GpsdParser({ file });
    const bytes = readFileSync(`${folder}${file}.chk`);
    const fixes = [...parser.push(bytes), ...parser.finish()];
    const { agreeing, reports } = compare(`${folder}${file}.chk`, fixes);
    expect(parser.faults.first).toEqual([]);
    expect(agreeing).toBe(reports);
  });
});
