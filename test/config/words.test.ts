/** Durations, sizes, and the schemas for editors. */

import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configurationDefaults, profileDefaults } from '../../config/defaults.ts';
import { Findings, pointer } from '../../config/findings.ts';
import { readDuration, readSize, writeDuration } from '../../config/quantities.ts';
import { shippedProfiles } from '../../config/shipped.ts';
import { validProfile, write } from './valid-profile.ts';

test.each([
  ['250ms', 250],
  ['5s', 5000],
  ['1.5s', 1500],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['0.001ms', 1],
  [1500, 1500],
])('the time %s is %d ms', (written, time) => {
  expect(readDuration(written)).toBe(time);
});

test.each([
  ['64MiB', 67_108_864],
  ['500kB', 500_000],
  ['1.5GiB', 1_610_612_736],
  ['7B', 7],
  [4096, 4096],
])('the size %s is %d bytes', (written, size) => {
  expect(readSize(written)).toBe(size);
});

test('a duration is read back as it was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), (time) => {
      expect(readDuration(writeDuration(time))).toBe(time);
    }),
  );
});

describe('findings', () => {
  const lines = new Map([
    ['/a', 3],
    ['/a/b~1c', 4],
  ]);

  test('have the line of the member or of its nearest parent', () => {
    const findings = new Findings('f.yaml', lines);
    expect(findings.line(pointer('a', 'b/c'))).toBe(4);
    expect(findings.line(pointer('a', 'b/c', 0, 'd~e'))).toBe(4);
    expect(findings.line('/a/x')).toBe(3);
    expect(findings.line('/x')).toBe(0);
  });

  test('distrust a member with a fault inside, but not its siblings', () => {
    const findings = new Findings('f.yaml', lines);
    findings.distrust('/a/b');
    expect(['', '/a', '/a/b', '/a/bc', '/x'].map((at) => findings.sound(at))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('schemas for editors', () => {
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../config/generated/${name}`, import.meta.url), 'utf8'));
  // The files use draft 07. A keyword of a newer draft would be ignored there, and fails here.
  const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: true });
  const profile = ajv.compile(read('profile.schema.json'));
  const configuration = ajv.compile(read('vigie.schema.json'));

  test('accept every valid profile, and the shipped one', () => {
    const bench = parse(readFileSync(`${shippedProfiles}/bench/profile.yaml`, 'utf8'));
    expect(profile(bench), JSON.stringify(profile.errors)).toBe(true);
    fc.assert(
      fc.property(validProfile, (tree) => profile(parse(write(tree).text))),
      { numRuns: 100 },
    );
  });

  test('refuse unknown members and paths', () => {
    const bench = parse(readFileSync(`${shippedProfiles}/bench/profile.yaml`, 'utf8'));
    expect(profile({ ...bench, telemetri: {} })).toBe(false);
    expect(profile({ ...bench, status: { 'kinetic.sped': { signal: 'A.B' } } })).toBe(false);
    expect(configuration({ configuration: 1 })).toBe(false);
  });

  test('accept the defaults', () => {
    const { speed, loop, mqtt, outbox, log, data } = configurationDefaults;
    const whole = {
      configuration: 1,
      vin: 'VF30A00000B000042',
      profile: 'bench',
      data,
      can: [{ bus: 'body', log: 'a.log', speed, loop }],
      mqtt: { url: 'mqtt://localhost', ...mqtt },
      outbox,
      log,
    };
    expect(configuration(whole), JSON.stringify(configuration.errors)).toBe(true);
    const { telemetry, waypoints } = profileDefaults;
    const bench = parse(readFileSync(`${shippedProfiles}/bench/profile.yaml`, 'utf8'));
    expect(profile({ ...bench, telemetry: { default: telemetry }, waypoints })).toBe(true);
  });
});
