/** `vigie hub add`, `remove`, `forget` and `list`, as people type them beside a running hub. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { vigie } from '../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-registry-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const VIN = 'VF3VGEHVBR0000021';
const OTHER = 'VF3VGEHVBR0000022';

test('cars are added, listed, removed and forgotten from the command line', async () => {
  const hub = (...words: string[]) => vigie('hub', ...words, '--data', join(folder, 'hub'));
  expect(await hub('add', VIN, '--fleet', 'north', '--user', 'ada')).toMatchObject({ status: 0, stderr: '' });
  await hub('add', OTHER, '--user', 'ada', '--fleet', 'south');
  expect((await hub('remove', OTHER, '--fleet', 'south')).stdout).toMatch(
    new RegExp(`^${OTHER}, user ada, added [^,]+\\n$`),
  );
  expect((await hub('remove', VIN)).stdout).toBe(`${VIN}: removed\n`);
  const listed = (await hub('list', '--format', 'ndjson')).stdout.trim().split('\n');
  expect(listed.map((line) => JSON.parse(line))).toEqual([
    { vin: VIN, added: expect.any(Number), removed: expect.any(Number), fleets: ['north'], users: ['ada'] },
    { vin: OTHER, added: expect.any(Number), fleets: [], users: ['ada'] },
  ]);
  const token = await hub('token', '--fleet', 'north', '--scopes', 'data:trip', '--for', '1h');
  expect(JSON.parse(Buffer.from(token.stdout.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
    fleets: ['north'],
    sub: 'fleet north',
    scope: 'data:trip',
  });
  expect((await hub('add', OTHER, '--user', 'ada', '--password')).stdout).toMatch(/\npassword: [A-Za-z0-9_-]{43}\n$/);
  expect((await hub('forget', VIN)).stdout).toBe(`${VIN}: forgotten\n`);
  expect((await hub('list', '--format', 'text')).stdout).toMatch(new RegExp(`^${OTHER}, user ada, added [^,]+\\n$`));
});

test('what cannot be done with a car is refused by one line that says why', async () => {
  const hub = (...words: string[]) => vigie('hub', ...words, '--data', join(folder, 'refused'));
  for (const [words, said] of [
    [['add', 'VF3', '--fleet', 'north'], 'vigie: "VF3" is not a VIN: '],
    [['add', VIN], 'vigie: say whose car it is: --fleet, --user or both'],
    [['add', VIN, '--fleet', 'a/b'], 'vigie: "a/b" is no name: '],
    [['remove', VIN, '--fleet', 'north'], `vigie: the car "${VIN}" is not registered`],
    [['remove', VIN], `vigie: the car "${VIN}" is not registered`],
    [['token', '--fleet', 'north'], 'vigie: no car was ever added for the fleet "north"'],
    [['token'], 'vigie: say whose cars it shows: either --fleet or --user'],
    [['token', '--user', 'a', '--for', '9w'], 'vigie: no car was ever added for the user "a"'],
    [['forget', VIN], `vigie: the hub has nothing of a car "${VIN}"`],
  ] as const) {
    const { status, stdout, stderr } = await hub(...words);
    expect([status, stdout, stderr.startsWith(said), stderr.split('\n').length]).toEqual([2, '', true, 2]);
  }
});
