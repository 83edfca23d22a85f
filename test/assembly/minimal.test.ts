/** Minimal mode: if it cannot start, it closes its files; if trusted keys are missing, it waits for them. */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { generateKey } from '../../adapters/keys/index.ts';
import { beginRecords } from '../../assembly/directory.ts';
import { Configurations } from '../../assembly/generation.ts';
import { startMinimal } from '../../assembly/minimal.ts';
import { Service, Starts } from '../../assembly/service.ts';
import { MemoryLog } from '../rig/log.ts';

const VIN = 'VF3VGEBENCH000001';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-minimal-'));
  mkdirSync(join(folder, 'records'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Number of journal files that this process has open (proc(5)). */
function openFiles(): number {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // readdir's own descriptor is already closed.
      return '';
    }
  });
  return targets.filter((path) => path.startsWith(join(folder, 'records', 'outbox'))).length;
}

test('the minimal mode waits for missing keys; if it cannot start, it closes its records', async () => {
  const [data, file] = [join(folder, 'records'), join(folder, 'vigie.yaml')];
  writeFileSync(
    file,
    `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://127.0.0.1:1 }
commands: { trust: keys/trust.json }
`,
  );
  // The key existed when the configuration was read.
  await generateKey(join(folder, 'keys'), 'owner', { algorithm: 'ES256', kinds: ['Doors'] });
  const [clock, log] = [new SystemClock(), new MemoryLog()];
  await beginRecords(data, log);
  const configurations = await Configurations.open({ file, data, environment: {}, clock, log, unwritten: {} });
  const { configuration } = await configurations.choose();
  rmSync(join(folder, 'keys'), { recursive: true });
  const starts = await Starts.open(data, log);
  const options = { vin: VIN, profile: 'bench', data, clock, log, environment: {}, configurations, starts };
  const service = await Service.open({ ...options, minimal: 'a test' });
  try {
    const parts = { configuration, mqtt: { url: 'mqtt://127.0.0.1:1' }, data, service, clock, log, reason: 'a test' };
    await expect(startMinimal({ ...parts, mqtt: { url: 'no address' } })).rejects.toBeInstanceOf(Error);
    expect(openFiles()).toBe(0);
    const stop = await startMinimal(parts);
    expect(openFiles()).toBeGreaterThan(0);
    expect(service.report().lacking?.trust).toContain('trust.json');
    expect(log.lines.some(({ level, event }) => level === 'error' && event === 'trust.unavailable')).toBe(true);
    await stop();
    expect(openFiles()).toBe(0);
    await generateKey(join(folder, 'keys'), 'owner', { algorithm: 'ES256', kinds: ['Doors'] });
    await (await startMinimal(parts))();
    expect(service.report().lacking).toBeUndefined();
  } finally {
    configurations.close();
    await service.close(true);
  }
});
