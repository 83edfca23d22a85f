/** Checks docs/configuration.md: its examples pass the check, and it describes every setting. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configurationSchema, obdProtocols } from '../../config/configuration-schema.ts';
import { configurationDefaults } from '../../config/defaults.ts';
import { otherVariables, variables } from '../../config/environment.ts';
import { readDuration, readSize } from '../../config/quantities.ts';
import { shippedNames, shippedProfiles } from '../../config/shipped.ts';
import { profileWithReceiver } from '../drives/sky.ts';
import { vigie } from '../rig/bench.ts';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text as string);
const prose = page.replaceAll(/```yaml\n.*?```/gs, '');

describe('the examples in docs/configuration.md', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-configuration-page-'));
    // Files to which the examples refer.
    const bench = fileURLToPath(new URL('../../config/vehicles/bench/', import.meta.url));
    cpSync(bench, join(folder, 'my-car'), { recursive: true });
    mkdirSync(join(folder, 'my-car-with-position'));
    writeFileSync(join(folder, 'my-car-with-position', 'profile.yaml'), profileWithReceiver());
    mkdirSync(join(folder, 'keys'));
    for (const name of ['broker-ca.pem', 'car.pem', 'car-key.pem', 'password']) {
      writeFileSync(join(folder, name), 'x', { mode: 0o600 });
    }
    writeFileSync(join(folder, 'keys/trust.json'), '{ "version": 1, "keys": [] }');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('cover a CAN board, a USB stick, an OBD adapter with and without a receiver, ISO-TP and standard input', () => {
    expect(examples).toHaveLength(7);
    for (const way of ['socketcan', 'slcan', 'elm327', 'nmea', 'gpsd', 'isotp', "log: '-'", 'record']) {
      expect(examples.join('\n'), way).toContain(way);
    }
  });

  test.each(examples.map((text, i) => [i + 1, text] as const))('example %d passes `vigie check`', async (i, text) => {
    const file = join(folder, `vigie-${i}.yaml`);
    writeFileSync(file, text.replace('/etc/vigie/password', './password'));
    const { status, stdout, stderr } = await vigie('check', '-c', file);
    const own = stdout.split('\n').filter((line) => line.includes(file));
    expect(own).toEqual([]);
    expect(status, stdout + stderr).toBe(0);
  });
});

test('docs/configuration.md explains every member and every choice', () => {
  const words = new Set<string>();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties, enum: names, ...rest } = schema as { properties?: object; enum?: (string | number)[] };
    for (const name of Object.keys(properties ?? {})) words.add(name);
    for (const name of names ?? []) if (typeof name === 'string' && !/^\d$/.test(name)) words.add(name);
    for (const part of [...Object.values(properties ?? {}), ...Object.values(rest)]) walk(part);
  };
  walk(configurationSchema);
  expect(words.size).toBeGreaterThan(45);
  expect([...words]).toEqual(expect.arrayContaining([...obdProtocols]));
  expect([...words].filter((word) => !prose.includes(`\`${word}\``))).toEqual([]);
});

test('docs/configuration.md lists every environment variable', () => {
  for (const { name } of variables) expect(prose).toContain(`\`${name}\``);
  for (const [name] of prose.matchAll(/VIGIE_[A-Z_]*[A-Z]/g)) {
    expect([...variables.map((variable) => variable.name), ...otherVariables]).toContain(name);
  }
});

test('docs/configuration.md names every shipped profile', () => {
  for (const name of shippedNames(shippedProfiles)) expect(prose).toContain(`\`${name}\``);
});

test('the tables in docs/configuration.md contain the defaults of the loader', () => {
  const cell = (section: string, member: string): string => {
    const table = prose.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
    const row = table.split('\n').find((line) => line.startsWith(`| \`${member}\` `)) ?? '';
    return row.split('|').at(-2)?.trim() ?? '';
  };
  const { data, bitrate, speed, loop, record, mqtt, outbox, captures, log } = configurationDefaults;
  expect(/^\| `data` .*\| (\S+) +\|$/m.exec(prose)?.[1]).toBe(data);
  expect(Number(cell('can', 'bitrate').replace('k', '000'))).toBe(bitrate);
  expect(Number(cell('can', 'speed'))).toBe(speed);
  expect(cell('can', 'loop')).toBe(String(loop));
  expect(readSize(cell('record', 'size'))).toBe(record.size);
  expect(Number(cell('record', 'keep'))).toBe(record.keep);
  expect(cell('mqtt', 'protocol')).toBe(mqtt.protocol);
  expect(readDuration(cell('mqtt', 'keepalive'))).toBe(mqtt.keepalive);
  expect(readSize(cell('commands, outbox', 'limit'))).toBe(outbox.limit);
  expect(readSize(cell('commands, outbox', 'keepAcknowledged'))).toBe(outbox.keepAcknowledged);
  expect(readSize(cell('commands, outbox', 'memory'))).toBe(captures.memory);
  expect(readDuration(cell('commands, outbox', 'batch'))).toBe(outbox.batch);
  expect(cell('commands, outbox', 'level')).toBe(log.level);
});

test('the table of power settings contains the defaults of the loader', () => {
  const section = prose.split(/^## /m).find((part) => part.startsWith('power')) ?? '';
  const cells = new Map(
    section
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map((row) => [row[1]?.replaceAll('`', '') ?? '', row[3] ?? '']),
  );
  const { battery, ...times } = configurationDefaults.power;
  expect(Number(cells.get('battery'))).toBe(battery);
  for (const [name, time] of Object.entries(times))
    expect([name, readDuration(cells.get(name) ?? '')]).toEqual([name, time]);
});
