import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { configurationDefaults } from '../../config/defaults.ts';
import { defaultsOf, powerSettings } from '../../protocol/settings.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-power-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(power: string, keepalive = '60s') {
  const file = join(folder, 'vigie.yaml');
  writeFileSync(
    file,
    `configuration: 1
vin: VF3VGEBENCH000001
profile: bench
can: [{ bus: can, simulated: true }]
mqtt: { url: 'mqtt://127.0.0.1', keepalive: ${keepalive} }
${power}`,
  );
  return loadConfiguration(file, {});
}

describe('the section power', () => {
  test('defaults to the agent’s own values and the keep-alive of mqtt', () => {
    const { configuration, diagnostics } = load('', '90s');
    expect(diagnostics).toEqual([]);
    expect(configuration?.power).toEqual({ ...defaultsOf(powerSettings), keepalive: 90_000 });
    expect(configurationDefaults.power).toEqual(defaultsOf(powerSettings));
  });

  test('overrides only the given values', () => {
    const { configuration, diagnostics } = load('power: { standbyFor: 1m, battery: 35, keepalive: 15m }');
    expect(diagnostics).toEqual([]);
    expect(configuration?.power).toEqual({
      ...defaultsOf(powerSettings),
      standbyFor: 60_000,
      battery: 35,
      keepalive: 900_000,
    });
  });

  test.each([
    ['power: { busSilentAfter: 500ms }', /silent.*write at least 2s/],
    ['power: { keepalive: 30s }', /more often than one that is awake \(60s\)/],
    ['power: { keepalive: 90500ms }', /whole seconds/],
    ['power: { standbyFor: 10s }', /low battery the unit would stay awake for longer/],
    ['power: { battery: 120 }', /100/],
    ['power: { lingers: 10s }', /lingers/],
  ])('%s is a fault with its line and advice', (power, said) => {
    const { configuration, diagnostics } = load(power);
    expect(configuration).toBeUndefined();
    expect(diagnostics.map(({ line, message, fix }) => `${line} ${message} ${fix ?? ''}`).join('\n')).toMatch(said);
    expect(diagnostics.map(({ line }) => line)).toEqual([6]);
  });
});
