/** Backup and restore of a hub on SQLite, through the command line. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { startHub } from '../../../hub/start/hub.ts';
import { openRegistry } from '../../../hub/start/registry.ts';
import { vigie } from '../../rig/bench.ts';
import { MemoryLog } from '../../rig/log.ts';

const [KEPT, REMOVED, FORGOTTEN, MOVED, LATER] = [
  'VF3VGEHVBK0000001',
  'VF3VGEHVBK0000002',
  'VF3VGEHVBK0000003',
  'VF3VGEHVBK0000004',
  'VF3VGEHVBK0000005',
] as const;
const NORTH = { kind: 'fleet', id: 'north' } as const;
const SOUTH = { kind: 'fleet', id: 'south' } as const;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'vigie-hub-backup-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const start = (data: string) => startHub({ data, port: 0, http: 0, clock: new SystemClock(), log: new MemoryLog() });

test('access that was withdrawn after a backup stays withdrawn when the backup is restored', async () => {
  const above = folder();
  const [data, copy] = [join(above, 'hub'), join(above, 'copy.sqlite')];
  const hub = await start(data);
  const { registry, close } = await openRegistry({ data }, new MemoryLog());
  for (const vin of [KEPT, REMOVED, FORGOTTEN, MOVED]) await registry.add(vin, [NORTH, SOUTH], Date.now());
  const tokenOf = async (): Promise<string> =>
    (await vigie('hub', 'token', '--fleet', 'north', '--data', data)).stdout.trim();
  const before = await tokenOf();
  expect(await vigie('hub', 'backup', copy, '--data', data)).toMatchObject({ status: 0, stderr: '' });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const after = await tokenOf();
  await registry.remove(REMOVED, Date.now());
  await registry.forget(FORGOTTEN, Date.now());
  await registry.leave(MOVED, [SOUTH], Date.now());
  await registry.add(LATER, [NORTH], Date.now());
  await close();

  const refused = await vigie('hub', 'restore', copy, '--data', data);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('uses it; end that one')]);
  await hub.stop();
  const restored = await vigie('hub', 'restore', copy, '--data', data);
  expect(restored).toMatchObject({ status: 0, stderr: '' });
  expect(restored.stdout.split('\n').slice(1, 6)).toEqual([
    '1 token withdrawn: print new ones with vigie hub token',
    `still forgotten: ${FORGOTTEN}`,
    `still removed: ${REMOVED}`,
    `still without the fleets and users that they left: ${MOVED}`,
    `registered after the copy, add them again: ${LATER}`,
  ]);

  const again = await start(data);
  onTestFinished(() => again.stop());
  const opened = await openRegistry({ data }, new MemoryLog());
  onTestFinished(() => opened.close());
  expect(await opened.registry.cars()).toMatchObject([
    { vin: KEPT, fleets: ['north', 'south'] },
    { vin: REMOVED, removed: expect.any(Number) },
    { vin: MOVED, fleets: ['north'] },
  ]);
  expect(await opened.registry.isForgotten(FORGOTTEN)).toBe(true);
  for (const token of [before, after]) {
    const answer = await fetch(`${again.interface.url}/fleets`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
  }
  expect(statSync(join(data, 'hub.sqlite')).mode & 0o777).toBe(0o600);
});

test('restoring a file that is not a backup is refused and leaves the database unchanged', async () => {
  const above = folder();
  const data = join(above, 'hub');
  const { registry, close } = await openRegistry({ data }, new MemoryLog());
  await registry.add(KEPT, [NORTH], Date.now());
  await close();
  const [empty, text] = [join(above, 'empty'), join(above, 'text')];
  writeFileSync(empty, '');
  writeFileSync(text, 'not a database'.repeat(1000));
  for (const file of [empty, text, join(above, 'absent')]) {
    expect(await vigie('hub', 'restore', file, '--data', data)).toMatchObject({ stdout: '' });
  }
  expect(existsSync(join(data, 'hub.sqlite.restoring'))).toBe(false);
  const opened = await openRegistry({ data }, new MemoryLog());
  onTestFinished(() => opened.close());
  expect(await opened.registry.cars()).toHaveLength(1);
});

test('a backup never overwrites an existing file', async () => {
  const above = folder();
  const [data, copy] = [join(above, 'hub'), join(above, 'copy.sqlite')];
  await (await openRegistry({ data }, new MemoryLog())).close();
  writeFileSync(copy, 'mine');
  const { status, stderr } = await vigie('hub', 'backup', copy, '--data', data);
  expect([status, stderr]).toEqual([2, expect.stringContaining('is there already')]);
  expect(statSync(copy).size).toBe(4);
});
