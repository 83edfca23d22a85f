/** Checks docs/profiles.md: its example is valid, and it describes every member. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { profileDefaults } from '../../config/defaults.ts';
import { loadProfile } from '../../config/profile.ts';
import { profileSchema } from '../../config/profile-schema.ts';
import { readDuration } from '../../config/quantities.ts';
import { channels } from '../../protocol/channels.ts';
import { slots } from '../../protocol/slots.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/profiles.md', root), 'utf8');
const signalsPage = readFileSync(new URL('docs/signals.md', root), 'utf8');

test('the example in docs/profiles.md is a profile without findings', () => {
  const example = /```yaml\n(.*?)```/s.exec(page)?.[1] as string;
  const folder = mkdtempSync(join(tmpdir(), 'vigie-page-'));
  try {
    writeFileSync(join(folder, 'profile.yaml'), example);
    writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
    const { profile, diagnostics } = loadProfile(folder, { shipped: folder });
    expect(diagnostics).toEqual([]);
    expect(profile?.sources).toHaveLength(6);
    expect(Object.keys(profile?.commands ?? {})).toEqual(['doors.lock']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the example in docs/signals.md is a profile without findings', () => {
  const example = /```yaml\n(.*?)```/s.exec(signalsPage)?.[1] as string;
  const folder = mkdtempSync(join(tmpdir(), 'vigie-signals-page-'));
  try {
    writeFileSync(join(folder, 'profile.yaml'), example);
    writeFileSync(join(folder, 'my-car.dbc'), 'VERSION ""\n');
    const { profile, diagnostics } = loadProfile(folder, { shipped: folder });
    expect(diagnostics).toEqual([]);
    expect(profile?.writtenSignals.map(({ signal, rule }) => [signal, rule.interval])).toEqual([
      ['CellMax', 1_000],
      ['*', 0],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every member and method of the format is explained', () => {
  const words = new Set<string>();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties, enum: names, ...rest } = schema as { properties?: object; enum?: string[] };
    for (const name of Object.keys(properties ?? {})) words.add(name);
    for (const name of names ?? []) words.add(name);
    for (const part of [...Object.values(properties ?? {}), ...Object.values(rest)]) walk(part);
  };
  walk(profileSchema);
  expect(words.size).toBeGreaterThan(30);
  const prose = page.replace(/```yaml\n.*?```/s, '') + signalsPage;
  const example = /```yaml\n(.*?)```/s.exec(page)?.[1] as string;
  for (const word of words) {
    const explained = prose.includes(`\`${word}\``) || prose.includes(`**${word}**`) || prose.includes(`## ${word}`);
    expect(explained || new RegExp(`\\b${word}: `).test(example), word).toBe(true);
  }
});

test('the tables contain the defaults of the loader', () => {
  const { telemetry, waypoints } = profileDefaults;
  const cell = (section: string, member: string) =>
    new RegExp(`## ${section}\\n.*?\\| \`${member}\` +\\|[^|]*\\| ([^ ]+) `, 's').exec(page)?.[1] as string;
  expect(readDuration(cell('telemetry', 'interval'))).toBe(telemetry.interval);
  expect(Number(cell('telemetry', 'deadBand'))).toBe(telemetry.deadBand);
  expect(readDuration(cell('telemetry', 'heartbeat'))).toBe(telemetry.heartbeat);
  expect(readDuration(cell('waypoints', 'interval'))).toBe(waypoints.interval);
  expect(Number(cell('waypoints', 'distance'))).toBe(waypoints.distance);
  expect(Number(cell('waypoints', 'heading'))).toBe(waypoints.heading);
  expect(Number(cell('waypoints', 'error'))).toBe(waypoints.error);
  const { alert, trip, collision, theft } = profileDefaults;
  expect(readDuration(cell('alerts', 'onAfter'))).toBe(alert.onAfter);
  expect(readDuration(cell('alerts', 'offAfter'))).toBe(alert.offAfter);
  expect(readDuration(cell('trips', 'grace'))).toBe(trip.grace);
  expect(Number(cell('trips', 'moving'))).toBe(trip.moving);
  expect(readDuration(cell('trips', 'silence'))).toBe(trip.silence);
  const more = 'maintenance, collision, acceleration and key';
  expect(Number(cell(more, 'threshold'))).toBe(collision.threshold);
  expect(Number(cell(more, 'speedChange'))).toBe(collision.speedChange);
  expect(readDuration(cell(more, 'before'))).toBe(collision.before);
  expect(readDuration(cell(more, 'after'))).toBe(collision.after);
  expect(Number(cell(more, 'distance'))).toBe(theft.distance);
  expect(readDuration(cell(more, 'within'))).toBe(theft.within);
});

test('the list of Status paths is complete', () => {
  const list = readFileSync(new URL('config/generated/status-paths.md', root), 'utf8');
  expect(list.match(/^\| `[^`]+`/gm)).toEqual([...slots, ...channels].map(({ path }) => `| \`${path}\``));
});
