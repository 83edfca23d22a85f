/** `vigie bench --cars`: several cars at a hub, in one process. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-bench-fleet-'));
const vins = ['VF3VGEBENCH000001', 'VF3VGEBENCH000002', 'VF3VGEBENCH000003'] as const;
const fleetClient = fileURLToPath(new URL('../../docs/fleet-client.mjs', import.meta.url));
let bench: VigieProcess | undefined;
afterAll(async () => {
  await bench?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
async function get(url: string): Promise<any> {
  return (await fetch(url)).json();
}

async function start(...more: string[]): Promise<{ readonly running: VigieProcess; readonly url: string }> {
  bench = new VigieProcess([
    'bench',
    '--cars',
    '3',
    '--data',
    folder,
    '--port',
    '0',
    '--http',
    '0',
    '--scenario',
    'parked',
    ...more,
  ]);
  await bench.says('Ctrl-C ends the bench.');
  return { running: bench, url: /http:\/\/127\.0\.0\.1:\d+/.exec(bench.output)?.[0] ?? '' };
}

/** States that the program of docs/fleet-client.mjs prints for a car. Rejects if it fails. */
async function lockByClient(vin: string, url: string, fleet: string, token?: string): Promise<readonly string[]> {
  const env = { ...process.env, ...(token !== undefined && { VIGIE_TOKEN: token }) };
  const { stdout } = await promisify(execFile)(process.execPath, [fleetClient, url, fleet, vin], { env });
  return [...stdout.matchAll(/^\S+Z (\w+)/gm)].map(([, state = '']) => state);
}

const statesOf = (stdout: string): readonly string[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly status: string }).status);

test('three bench cars are served by the hub, accept its commands, and return after a restart', async () => {
  const first = await start();
  const { _embedded } = await get(`${first.url}/fleets/local/vehicles`);
  expect(_embedded.vehicles.map(({ vin }: { vin: string }) => vin).sort()).toEqual(vins);
  let positions: readonly (readonly [vin: string, latitude: number, longitude: number])[] = [];
  while (positions.length < vins.length) positions = (await get(`${first.url}/vigie/v1/positions`)).positions;
  expect(new Set(positions.map(([, latitude]) => Math.round(latitude))).size).toBe(vins.length);
  const remotes = `${first.url}/vigie/v1/vehicles/${vins[1]}/remotes`;
  const given = await fetch(remotes, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ horn: { state: 'Activated' } }),
  });
  const { remoteActionId } = (await given.json()) as { remoteActionId: string };
  let states: readonly { readonly status: string }[] = [];
  while (!states.some(({ status }) => ['Success', 'AlreadyDone', 'Failed'].includes(status))) {
    states = (await get(`${remotes}/${remoteActionId}`)).states;
  }
  expect(states.at(-1)?.status).toBe('Success');
  const sent = await vigie('send', vins[2], 'doors', 'lock', '--hub', first.url);
  expect([sent.status, statesOf(sent.stdout).at(-1)]).toEqual([0, expect.stringMatching(/^(Success|AlreadyDone)$/)]);
  const locked = await lockByClient(vins[0], first.url, 'local');
  expect(locked).toEqual(['Accepted', 'SentToVehicle', 'Success']);
  expect((await get(`${first.url}/fleets/local/remote/callbacks`))._embedded.callbacks).toEqual([]);
  expect(await first.running.end('SIGINT')).toBe(0);

  const second = await start();
  const trail = await get(`${second.url}/vigie/v1/vehicles/${vins[1]}/remotes`);
  expect(trail.remotes).toMatchObject([{ remoteActionId, status: 'Success' }]);
  // A link that comes up sends the newest Status first, so a lower number may arrive after it. Finally none is missing.
  for (const vin of vins) {
    let missing: readonly unknown[] = [vin];
    while (missing.length > 0) {
      const { classes } = await get(`${second.url}/vigie/v1/vehicles/${vin}/numbers`);
      missing = classes.flatMap((one: { readonly missing: readonly unknown[] }) => one.missing);
    }
  }
  expect(await second.running.end('SIGINT')).toBe(0);
});

test('registered bench cars are shown only to token holders until the registry is removed', async () => {
  const hub = join(folder, 'hub');
  const first = await start('--fleet', 'north');
  const url = `${first.url}/fleets/north/vehicles`;
  expect((await fetch(url)).status).toBe(401);
  const { stdout } = await vigie('hub', 'token', '--fleet', 'north', '--data', hub);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  let seen: readonly string[] = [];
  while (seen.length < vins.length) {
    const { _embedded } = (await (await fetch(url, { headers })).json()) as {
      readonly _embedded: { readonly vehicles: readonly { readonly vin: string }[] };
    };
    seen = _embedded.vehicles.map(({ vin }) => vin).sort();
  }
  expect(seen).toEqual(vins);

  const broker = /mqtt:\/\/127\.0\.0\.1:\d+/.exec(first.running.output)?.[0] ?? '';
  const refused = await vigie('send', vins[0], 'doors', 'lock', '--broker', broker, '--keys', join(hub, 'keys'));
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('(vigie send --hub URL)')]);
  const unknown = await vigie('send', vins[0], 'doors', 'lock', '--hub', first.url);
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('--token-file names a file')]);
  const file = join(folder, 'token');
  const commands = await vigie('hub', 'token', '--fleet', 'north', '--scopes', 'all', '--data', hub);
  writeFileSync(file, commands.stdout);
  const done = await vigie('send', vins[0], 'horn', '--hub', first.url, '--token-file', file);
  expect(statesOf(done.stdout)).toEqual(['Accepted', 'SentToVehicle', 'Success']);
  expect(done.status).toBe(0);
  const scopes = 'data:telemetry,remote:door:write,hub:monitor:write';
  const granted = await vigie('hub', 'token', '--fleet', 'north', '--scopes', scopes, '--data', hub);
  const locked = await lockByClient(vins[0], first.url, 'north', granted.stdout.trim());
  expect(locked).toEqual(['Accepted', 'SentToVehicle', expect.stringMatching(/^(Success|AlreadyDone)$/)]);
  await expect(lockByClient(vins[0], first.url, 'north')).rejects.toThrow('401');
  expect(await first.running.end('SIGINT')).toBe(0);

  const closed = await vigie('bench', '--cars', '3', '--data', folder);
  expect([closed.status, closed.stderr]).toEqual([2, expect.stringContaining('has a registry: add --fleet NAME')]);
  expect(await vigie('hub', 'open', '--yes', '--data', hub)).toMatchObject({ status: 0 });
  const second = await start();
  expect((await get(`${second.url}/fleets/local/vehicles`))._embedded.vehicles).toHaveLength(vins.length);
  expect(await second.running.end('SIGINT')).toBe(0);
});

test('the fleet client is short enough to read at once', () => {
  expect(readFileSync(fleetClient, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

test.each([
  [['--cars', '0'], 'a number of cars is 1 to 100'],
  [['--fleet', 'north'], '--fleet is for the cars of a hub: add --cars'],
  [['--cars', '2', '--broker', 'mqtt://127.0.0.1:1'], '--cars brings its own broker and VINs: leave out --broker'],
])('bench %j is refused: %s', async (options, said) => {
  const { status, stderr } = await vigie('bench', '--data', folder, ...options);
  expect(status).toBe(2);
  expect(stderr).toContain(said);
});
