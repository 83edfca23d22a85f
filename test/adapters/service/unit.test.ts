/** Checks the systemd units with systemd's own tools. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../config/configuration.ts';
import { describePeer } from '../../rig/peers.ts';

const file = fileURLToPath(new URL('../../../scripts/service/vigie.service', import.meta.url));
const unit = readFileSync(file, 'utf8');
const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });

describePeer('systemd-analyze', 'systemd', () => {
  test('rates the exposure of the service at 2.0 or less', () => {
    const { stdout } = analyze('security', '--offline=true', '--no-pager', file);
    const [, level] = /Overall exposure level for vigie\.service: ([0-9.]+)/.exec(stdout) ?? [];
    expect(Number(level)).toBeGreaterThan(0);
    expect(Number(level)).toBeLessThanOrEqual(2);
  });

  test('accepts every line of the service', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-unit-'));
    try {
      const path = join(folder, 'vigie.service');
      writeFileSync(path, unit.replaceAll('/usr/bin/vigie', '/bin/true'));
      const { stderr } = analyze('verify', '--man=no', path);
      expect(stderr.split('\n').filter((line) => line.includes('vigie.service'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

const hubFile = fileURLToPath(new URL('../../../scripts/service/vigie-hub.service', import.meta.url));

describePeer('systemd-analyze', 'systemd and the hub', () => {
  test("rates the exposure of the hub's service at 2.0 or less", () => {
    const { stdout } = analyze('security', '--offline=true', '--no-pager', hubFile);
    const [, level] = /Overall exposure level for vigie-hub\.service: ([0-9.]+)/.exec(stdout) ?? [];
    expect(Number(level)).toBeGreaterThan(0);
    expect(Number(level)).toBeLessThanOrEqual(2);
  });

  test("accepts every line of the hub's service", () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-unit-'));
    try {
      const path = join(folder, 'vigie-hub.service');
      writeFileSync(path, readFileSync(hubFile, 'utf8').replaceAll('/usr/bin/vigie', '/bin/true'));
      const { stderr } = analyze('verify', '--man=no', path);
      expect(stderr.split('\n').filter((line) => line.includes('vigie-hub.service'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('the unit has the settings that the agent relies on', () => {
  for (const line of [
    'Type=notify',
    'StateDirectory=vigie',
    'Restart=always',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_CAN',
  ]) {
    expect(unit.split('\n')).toContain(line);
  }
  expect(unit).toMatch(/^WatchdogSec=\d+s$/m);
  expect(unit).toMatch(/^MemoryMax=/m);
  expect(unit).toMatch(/^CPUQuota=/m);
  expect(unit).toContain('--disallow-code-generation-from-strings');
  expect(unit).toMatch(/^ExecStartPre=-\S+ check /m);
});

test('the example configuration lacks only the password, which the unit provides', () => {
  const example = fileURLToPath(new URL('../../../scripts/service/vigie.yaml', import.meta.url));
  const { diagnostics } = loadConfiguration(example, {});
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ message }) => message)).toEqual([
    '/etc/credstore/vigie.password cannot be read: it does not exist',
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'vigie-credentials-'));
  try {
    writeFileSync(join(folder, 'vigie.password'), 'secret\n', { mode: 0o600 });
    const { configuration } = loadConfiguration(example, { CREDENTIALS_DIRECTORY: folder });
    expect(configuration?.mqtt.passwordFile).toBe(join(folder, 'vigie.password'));
    expect(configuration?.metrics).toEqual({ kind: 'unix', path: '/run/vigie/metrics.sock' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
