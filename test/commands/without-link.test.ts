/** Faults that affect only the broker connection or the format number do not prevent recording. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';

/** Time limit for some starts of a process on a busy machine, ms. */
const STARTS = 120_000;
let folder: string;
let agent: VigieProcess;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-without-link-'));
});
afterEach(async () => {
  await agent.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test('a broken certificate and a damaged format number are reported, and the agent runs', {
  timeout: STARTS,
}, async () => {
  const [file, records] = [join(folder, 'vigie.yaml'), join(folder, 'records')];
  const tls = 'ca: ca.pem, cert: unit.pem, key: unit.key';
  const text = `configuration: 1
vin: VF3SERVCECAR00001
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: 'mqtts://127.0.0.1:1', ${tls} }
`;
  writeFileSync(file, text);
  for (const name of ['ca.pem', 'unit.pem']) writeFileSync(join(folder, name), 'no certificate');
  mkdirSync(records);
  writeFileSync(join(records, 'boot.json'), '{}');
  writeFileSync(join(records, 'version'), 'two');
  agent = new VigieProcess(['run', '-c', file]);
  await agent.says('unit.key cannot be read');
  await agent.says('records.versionDamaged');
  await agent.says('ready: ');
  await agent.says(`key cannot be read: ENOENT`);
  expect(readFileSync(join(records, 'version'), 'utf8')).toBe('1\n');
  const missing = await vigie('status', '-c', file, '--format', 'text');
  expect(missing.stdout, missing.stderr).toContain(join(folder, 'unit.key'));
  // The key exists now. The next attempt reads a damaged one.
  writeFileSync(join(folder, 'unit.key'), 'no key', { mode: 0o600 });
  await agent.says(`ca (${join(folder, 'ca.pem')}) is damaged`);
  const damaged = await vigie('status', '-c', file, '--format', 'text');
  expect(damaged.stdout, damaged.stderr).toContain(`ca (${join(folder, 'ca.pem')}) is damaged`);
});
