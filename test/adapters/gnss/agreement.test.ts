import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GpsdParser, NmeaParser } from '../../../adapters/gnss/index.ts';
import { describeShared } from '../../shared.ts';
import { type Agreement, compare } from './agreement.ts';
import { own, type Recording, receivers, shared } from './recordings.ts';

/** Allowed reasons for a gpsd report without an equal fix. Any other difference is a failure. */
const causes: readonly { readonly cause: string; readonly files: readonly string[]; readonly what: RegExp }[] = [
  {
    // gpsd keeps 3D after the first altitude, although GSA reports 2 (held altitude) in this epoch.
    cause: 'GSA says 2D, gpsd keeps 3D because GGA has an altitude',
    files: ['sl869.log'],
    what: /^fix 3D is 2D$/,
  },
  {
    cause: 'gpsd reports the previous mode, because GSA of the epoch has not arrived',
    files: ['found-and-lost.log'],
    what: /^fix 3D is 2D$/,
  },
  {
    // SiRF message 2 contains an earth-centred position. gpsd adds the height from its own model of the geoid.
    cause: 'the receiver gives no height above mean sea level, gpsd computes one',
    files: ['bu303-moving.log', 'sirf.log'],
    what: /^altMSL [\d.]+ is missing$/,
  },
  {
    cause: 'gpsd reports the first epoch from NAV-SOL alone, before NAV-POSLLH',
    files: ['ubx-older.log'],
    what: /^altMSL 75\.\d+ is 12\.\d+$/,
  },
];

/** Number of reports, number that agree completely, and exceptions by cause. */
const expected: Readonly<Record<string, readonly [number, number, Readonly<Record<string, number>>]>> = {
  'antimeridian-rtk.log': [61, 61, {}],
  'bu303-moving.log': [12, 0, { 'the receiver gives no height above mean sea level, gpsd computes one': 12 }],
  'bu353s4.log': [27, 27, {}],
  'equator.log': [42, 42, {}],
  'found-and-lost.log': [36, 35, { 'gpsd reports the previous mode, because GSA of the epoch has not arrived': 1 }],
  'nmea-rtk.log': [123, 123, {}],
  'sirf.log': [20, 0, { 'the receiver gives no height above mean sea level, gpsd computes one': 20 }],
  'ubx.log': [30, 30, {}],
  'ubx-older.log': [30, 29, { 'gpsd reports the first epoch from NAV-SOL alone, before NAV-POSLLH': 1 }],
  'sl869.log': [95, 83, { 'GSA says 2D, gpsd keeps 3D because GGA has an altitude': 12 }],
};

function agreementOf({ name, path }: Recording): Agreement {
  const parser = new NmeaParser({ file: name, latest: Date.UTC(2026, 0, 1) });
  return compare(`${path}.chk`, [...parser.push(readFileSync(path)), ...parser.finish()]);
}

function causeOf(file: string, what: string): string | undefined {
  return causes.find((entry) => entry.files.includes(file) && entry.what.test(what))?.cause;
}

function agreesWithGpsd(recordings: readonly Recording[]): void {
  it.each(recordings)('$name: every report of gpsd equals a fix, or differs for a known reason', (recording) => {
    const { reports, agreeing, exceptions } = agreementOf(recording);
    const counts: Record<string, number> = {};
    for (const { line, what } of exceptions) {
      const cause = causeOf(recording.name, what);
      expect(cause, `${recording.name}.chk:${line}: ${what}`).toBeDefined();
      counts[cause as string] = (counts[cause as string] ?? 0) + 1;
    }
    expect(reports).toBeGreaterThan(0);
    if (expected[recording.name] !== undefined) expect([reports, agreeing, counts]).toEqual(expected[recording.name]);
  });

  it.each(recordings)('$name: positions and times agree without exception', (recording) => {
    const wrong = agreementOf(recording).exceptions.filter(({ what }) => /no fix of|lat|lon|speed|track/.test(what));
    expect(wrong).toEqual([]);
  });

  it.each(recordings)("$name: gpsd's own reports are read back without differences", ({ name, path }) => {
    const parser = new GpsdParser({ file: name });
    const fixes = [...parser.push(readFileSync(`${path}.chk`)), ...parser.finish()];
    const { agreeing, reports } = compare(`${path}.chk`, fixes);
    expect(parser.faults.first).toEqual([]);
    expect(agreeing).toBe(reports);
  });
}

describe('agreement with gpsd', () => agreesWithGpsd(receivers(own())));
describeShared('agreement with gpsd on recordings beside the project', () => agreesWithGpsd(receivers(shared())));
