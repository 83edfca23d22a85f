/** `vigie hub add`, `remove`, `forget`, `open` and `list`, typed while a hub runs. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SqliteDatabase } from '../../hub/database/index.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-registry-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const VIN = 'VF3VGEHVBR0000021';
const OTHER = 'VF3VGEHVBR0000022';

test('cars are added, listed, removed and forgotten from the command line', async () => {
  const hub = (...words: string[]) => vigie('hub', ...words, '--data', join(folder, 'hub'));
  expect(await hub('add', VIN, '--fleet', 'north', '--user', 'ada', '--new')).toMatchObject({ status: 0, stderr: '' });
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

test('an impossible change of a car is refused in one line with the reason', async () => {
  const hub = (...words: string[]) => vigie('hub', ...words, '--data', join(folder, 'refused'));
  await hub('add', OTHER, '--fleet', 'south', '--new');
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

test.each([
  ['list'],
  ['remove', VIN],
  ['forget', VIN],
  ['token', '--fleet', 'north'],
  ['add', VIN, '--fleet', 'north'],
])('“hub %s” refuses a directory without hub data, and creates none', async (...words) => {
  const nowhere = join(folder, 'nowhere');
  const { status, stdout, stderr } = await vigie('hub', ...words, '--data', nowhere);
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining(`${nowhere}: no hub has its data there`),
  });
  expect(existsSync(nowhere)).toBe(false);
});

test('the first car added to a running hub locks out the others with a warning, and returns with its password', async () => {
  const [data, bench, file] = [join(folder, 'opened'), join(folder, 'bench'), join(folder, 'password')];
  const hub = new VigieProcess(['hub', '--port', '0', '--http', '0', '--data', data]);
  await hub.says('Ctrl-C ends the hub.');
  const broker = /mqtt:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0] ?? '';
  const words = ['bench', '--vin', VIN, '--broker', broker, '--data', bench, '--http', '0', '--scenario', 'parked'];
  const open = new VigieProcess(words);
  await open.says(/published .*\/up\/status/);
  const added = await vigie('hub', 'add', VIN, '--fleet', 'north', '--password', '--data', data);
  expect(added.status).toBe(0);
  expect(added.stderr).toContain(`Every car, ${VIN} included, needs a certificate`);
  const other = await vigie('hub', 'add', OTHER, '--fleet', 'north', '--data', data);
  expect(other).toMatchObject({ status: 0, stderr: expect.stringContaining('--password makes one') });
  expect(`${added.stdout}${other.stdout}`).not.toContain('token: ');
  expect(await open.end('SIGINT')).toBe(0);

  writeFileSync(file, /^password: (.*)$/m.exec(added.stdout)?.[1] ?? '');
  const known = new VigieProcess([...words, '--username', VIN, '--password-file', file]);
  await known.says(/published .*\/up\/status/);
  expect(known.output).toContain(`send ${VIN} doors lock --hub http://127.0.0.1:8080 --token-file TOKEN`);
  expect(known.output).not.toContain(`watch ${VIN}`);
  expect(await known.end('SIGINT')).toBe(0);
  expect(await hub.end('SIGINT')).toBe(0);
});

test('a first registration names the cars that it locks out', async () => {
  const data = join(folder, 'named');
  mkdirSync(data);
  const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
  await database.write([
    ['INSERT INTO vehicles (vin, public_id, first_seen, last_seen) VALUES (?, ?, ?, ?)', OTHER, 'other', 1, 1],
  ]);
  database.close();
  const { stderr } = await vigie('hub', 'add', VIN, '--fleet', 'north', '--data', data);
  expect(stderr).toMatch(/^vigie: this hub now has a registry/);
  expect(stderr).toContain(`1 car that this hub has received messages from are refused until you add them: ${OTHER}.`);
});

test('a first registration that would disconnect active cars is refused, names them, and changes nothing', async () => {
  const data = join(folder, 'cut');
  mkdirSync(data);
  const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
  const [insert, now] = [
    'INSERT INTO vehicles (vin, public_id, first_seen, last_seen) VALUES (?, ?, ?, ?)',
    Date.now(),
  ];
  await database.write([[insert, OTHER, 'other', 1, now]]);
  database.close();
  const hub = (...words: string[]) => vigie('hub', ...words, '--data', data);
  const refused = await hub('add', VIN, '--fleet', 'north');
  expect([refused.status, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(`it would refuse 1 car that it heard within a day: ${OTHER}. Register them`);
  expect((await hub('list', '--format', 'text')).stdout).toContain(`${OTHER}, not registered`);
  expect(await hub('add', VIN, '--fleet', 'north', '--yes')).toMatchObject({ status: 0 });
});

test('several cars are added at once, from the command line and from a file', async () => {
  const [data, file] = [join(folder, 'several'), join(folder, 'vins')];
  writeFileSync(file, `# those of the north\n${OTHER}   # the van\n\n${VIN}\n`);
  const words = ['hub', 'add', VIN, '--vins', file, '--fleet', 'north', '--data', data];
  const added = await vigie(...words, '--new', '--password', '--format', 'ndjson');
  const lines = added.stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [VIN, OTHER].map((vin) => ({
      vin,
      added: expect.any(Number),
      fleets: ['north'],
      users: [],
      password: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    })),
  );
  writeFileSync(file, `${VIN}\nVF3\n`);
  expect(await vigie(...words)).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('"VF3" is not'),
  });
  writeFileSync(file, '');
  expect((await vigie('hub', 'add', '--vins', file, '--fleet', 'a', '--data', data)).stderr).toContain('say which car');
  const missing = join(folder, 'no-file');
  expect((await vigie('hub', 'add', '--vins', missing, '--fleet', 'a', '--data', data)).stderr).toContain(missing);
});

test('a registry is removed only on request, and its cars stay listed', async () => {
  const hub = (...words: string[]) => vigie('hub', ...words, '--data', join(folder, 'ended'));
  await hub('add', VIN, '--fleet', 'north', '--new');
  const asked = await hub('open');
  expect([asked.status, asked.stderr]).toEqual([2, expect.stringContaining('and 1 registered car: say --yes')]);
  expect((await hub('list', '--format', 'text')).stdout).toContain('fleet north');
  expect(await hub('open', '--yes')).toMatchObject({ status: 0, stdout: 'the hub has no registry any more\n' });
  expect((await hub('list')).stdout).toBe('');
  expect((await hub('open', '--yes')).stderr).toBe('vigie: this hub has no registry\n');
});

test('a password for the embedded broker of a bench is refused', async () => {
  const { status, stderr } = await vigie('bench', '--username', 'a', '--data', join(folder, 'none'));
  expect([status, stderr]).toEqual([2, expect.stringContaining('--username is for a broker of yours: add --broker')]);
});

test('a bench car joins a TLS hub with its password and the hub’s authority', async () => {
  const [data, bench, file] = [join(folder, 'tls'), join(folder, 'tls-bench'), join(folder, 'tls-password')];
  const added = await vigie('hub', 'add', VIN, '--fleet', 'north', '--new', '--password', '--data', data);
  writeFileSync(file, /^password: (.*)$/m.exec(added.stdout)?.[1] ?? '');
  const ports = ['--port', '0', '--http', '0', '--enrolment', '0'];
  const hub = new VigieProcess(['hub', '--tls', ...ports, '--data', data]);
  await hub.says('Ctrl-C ends the hub.');
  expect(hub.output).toMatch(
    /fleets\/north\/vehicles(.|\n)*hub token --fleet north|hub token --fleet north(.|\n)*fleets\/north\/vehicles/,
  );
  expect(hub.output).not.toMatch(/fleets\/local|first message on/);
  const broker = /mqtts:\/\/[^\s;]+/.exec(hub.output)?.[0] ?? '';
  const login = ['--username', VIN, '--password-file', file, '--ca', join(data, 'authority.pem')];
  const words = ['--vin', VIN, '--broker', broker, '--data', bench, '--http', '0', '--scenario', 'parked'];
  const car = new VigieProcess(['bench', ...words, ...login]);
  await car.says(/published .*\/up\/status/);
  expect(await car.end('SIGINT')).toBe(0);
  // The hub uses TLS now: an added car gets a token for `vigie enroll`.
  expect((await vigie('hub', 'add', OTHER, '--fleet', 'north', '--data', data)).stdout).toContain('\ntoken: ');
  expect(await hub.end('SIGINT')).toBe(0);
});
