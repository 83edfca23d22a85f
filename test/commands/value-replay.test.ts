/** Recordings of phones and data loggers: CSV files played through a profile like a bus. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-value-replay-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface Message {
  readonly topic: string;
  readonly body: Record<string, unknown>;
}

async function replayed(...args: string[]): Promise<{ messages: Message[]; status: number | null; stderr: string }> {
  const { status, stdout, stderr } = await vigie('replay', ...args, '--format', 'ndjson');
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { status, stderr, messages: lines.map((line) => JSON.parse(line) as Message) };
}

const ofKind = (messages: readonly Message[], kind: string) =>
  messages.filter(({ topic }) => topic.endsWith(`/${kind}`)).map(({ body }) => body);

/** 14 March 2026, 10:00 in Paris. */
const begin = Date.UTC(2026, 2, 14, 9);
const pad = (number: number): string => String(number).padStart(2, '0');

/** A drive of five minutes at up to 50 km/h, recorded like by the app Torque. The engine stops at the end. */
function torque(): string {
  const rows = Array.from({ length: 300 }, (_, i) => {
    const speed = i < 200 ? Math.min(i, 50) : Math.max(0, 50 - (i - 200));
    const rpm = i < 270 ? 800 + speed * 30 : 0;
    const time = `14-Mar-2026 10:${pad(Math.floor(i / 60))}:${pad(i % 60)}.000`;
    return `-,${time},${(2.29 + i * 1e-4).toFixed(6)},48.850000,35.0,90,${rpm},${speed},${70 + i / 20}`;
  });
  const names =
    'GPS Time, Device Time, Longitude, Latitude, Altitude, Bearing,Engine RPM(rpm),Speed (OBD)(km/h),Engine Coolant Temperature(°C)';
  return `${[names, ...rows].join('\n')}\n`;
}

test('a recording of an OBD app produces a trip with the profile for any OBD-II car', async () => {
  const path = file('torque.csv', torque());
  const { messages, status, stderr } = await replayed(path, '--profile', 'generic-obd2', '--time-zone', 'Europe/Paris');
  expect(status, stderr).toBe(0);
  const trips = ofKind(messages, 'trip');
  expect(new Set(trips.map(({ id }) => id)).size).toBe(1);
  // The engine runs from the first row to the 270th.
  const trip = trips.at(-1);
  expect(trip).toMatchObject({ done: true, startedAt: begin });
  expect(Math.abs(Number(trip?.['stoppedAt']) - (begin + 270_000))).toBeLessThanOrEqual(1_000);
  // 50 rows of acceleration and 50 of braking at 25 km/h on average, 150 at 50 km/h, one a second.
  expect(trip?.['distance']).toBeCloseTo((50 * 25 + 150 * 50 + 50 * 25) / 3600, 1);
  const speeds = ofKind(messages, 'telemetry').flatMap(
    ({ series }) => (series as { path: string; at: number[]; values: number[] }[]) ?? [],
  );
  const speed = speeds
    .filter(({ path }) => path === 'kinetic.speed')
    .flatMap(({ at, values }) => at.map((t, i) => [t, values[i]]));
  expect(speed).toContainEqual([begin + 20_000, 20]);
  expect(stderr).toContain('odometer.mileage: OBD.Odometer never came');
  expect(stderr).toContain('300 rows and 0 frames');
});

const phone = `profile: 1
name: phone
buses:
  - { name: phone, values: true }
status:
  kinetic.speed: { signal: VALUES.Speed, timeout: 5s }
  lastPosition.latitude: { signal: VALUES.Latitude, timeout: 10s }
  lastPosition.longitude: { signal: VALUES.Longitude, timeout: 10s }
acceleration:
  longitudinal: { signal: VALUES.Acceleration_y }
  lateral: { signal: VALUES.Acceleration_x }
  vertical: { signal: VALUES.Acceleration_z }
`;

/**
 * Twenty seconds at 100 samples a second, in g with decimal commas. After ten seconds a stop from 50 km/h in a tenth of
 * a second.
 */
function crash(hit: boolean): string {
  const lines = Array.from({ length: 2_000 }, (_, i) => {
    const hard = hit && i >= 1_000 && i < 1_010;
    const speed = hit && i >= 1_000 ? 0 : 50;
    const cells = [i / 100, 0.01, hard ? -14.2 : 0.02, 1, speed];
    return cells.map((cell) => String(cell).replace('.', ',')).join(';');
  });
  const names = 'Time (s);Acceleration x (g);Acceleration y (g);Acceleration z (g);Speed (km/h)';
  return `\ufeff${['# StartTime = 03/14/2026 09:00:00', names, ...lines].join('\r\n')}\r\n`;
}

test('a recording of accelerations produces a collision only if the car is hit', async () => {
  const profile = file('profile.yaml', phone);
  const hit = await replayed(file('crash.csv', crash(true)), '--profile', profile);
  expect(hit.status, hit.stderr).toBe(0);
  const collisions = ofKind(hit.messages, 'collision');
  expect(new Set(collisions.map(({ id }) => id)).size).toBe(1);
  // Ten samples of 14.2 g, 10 ms each, are 50.1 km/h.
  expect(collisions[0]).toMatchObject({ createdAt: begin + 10_000, details: [{ side: 'Front' }] });
  expect(Math.abs(Number(collisions[0]?.['longitudinalChange']) + 14.2 * 9.80665 * 0.1 * 3.6)).toBeLessThan(1);
  const calm = await replayed(file('calm.csv', crash(false)), '--profile', profile);
  expect(calm.status, calm.stderr).toBe(0);
  expect(ofKind(calm.messages, 'collision')).toEqual([]);
});

test('check accepts a profile of columns, and reports a bus of two kinds', async () => {
  const sound = await vigie('check', '--profile', file('profile.yaml', phone));
  expect(sound.status, sound.stdout + sound.stderr).toBe(0);
  const both = phone.replace('values: true', 'values: true, gnss: true');
  const wrong = await vigie('check', '--profile', file('wrong.yaml', both));
  expect(wrong.status).not.toBe(0);
  expect(wrong.stdout + wrong.stderr).toContain('only one of dbc, obd, gnss and values');
});

test('decode prints the rows of a table of values, and its assumptions', async () => {
  const path = file(
    'values.csv',
    'Time;Speed (mph);Temp (°C)\n14.03.2026 10:00:00;10,0;\n14.03.2026 10:00:01;20,0;21,5\n',
  );
  const json = await vigie('decode', path);
  expect(json.status, json.stderr).toBe(0);
  expect(
    json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { t: Date.UTC(2026, 2, 14, 10), values: { Speed: 16.09344 } },
    { t: Date.UTC(2026, 2, 14, 10, 0, 1), values: { Speed: 32.18688, Temp: 21.5 } },
  ]);
  expect(json.stderr).toContain('local times were read as UTC');
  const text = await vigie('decode', path, '--format', 'text', '--time-zone', 'Europe/Paris');
  expect(text.stdout.split('\n')[1]).toBe('2026-03-14T09:00:01.000Z Speed=32.18688 km/h Temp=21.5 °C');
  expect(text.stderr).toBe('');
  const unknown = await vigie('decode', path, '--time-zone', 'Europe/Pariss');
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('Europe/Paris')]);
});

test('a table with many unreadable rows ends with status 1 and the reasons', async () => {
  const rows = Array.from({ length: 50 }, (_, i) => `2026-03-14T10:00:${pad(i)}Z,${i % 10 === 5 ? 'much' : i}`);
  const { status, stderr } = await vigie('decode', file('bad.csv', `Time,Speed (km/h)\n${rows.join('\n')}\n`));
  expect(status).toBe(1);
  expect(stderr).toContain('45 rows read as a table of values, 5 left out (10.0 %)');
  expect(stderr).toContain('Speed is not a number: much');
});

test('a table without any column of the profile lists its own columns', async () => {
  const path = file(
    'foreign.csv',
    'Time,Wind (m/s),Humidity (%)\n2026-03-14T10:00:00Z,3,50\n2026-03-14T10:00:01Z,4,51\n',
  );
  const { stderr } = await replayed(path, '--profile', file('profile.yaml', phone));
  expect(stderr).toContain('the profile names no column of the table; its columns are VALUES.Wind, VALUES.Humidity');
});
