/** `vigie hub rollout` from the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { vigie } from '../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-rollout-words-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const VIN = 'VF3VGEHVBR0000031';
const hub = (...words: string[]) => vigie('hub', ...words, '--data', join(folder, 'hub'));

function file(name: string, more = ''): string {
  const path = join(folder, name);
  const mqtt = 'mqtt: { url: mqtts://hub.example, ca: hub/ca.pem, cert: hub/car.pem, key: hub/car.pem }';
  writeFileSync(path, `configuration: 1\nprofile: bench\ncan: [{ bus: body, socketcan: can0 }]\n${mqtt}\n${more}`);
  return path;
}

test('a roll-out is started, listed and stopped from the command line', async () => {
  await hub('add', VIN, '--fleet', 'north', '--new');
  // Certificates are on the cars.
  const begun = await hub('rollout', file('fleet.yaml'), '--fleet', 'north', '--first', '3', '--name', 'anna');
  const [rollout, car, ...more] = begun.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rollout).toMatchObject({
    fleet: 'north',
    name: 'fleet.yaml',
    first: 3,
    tolerated: 0,
    caller: 'anna',
    stage: 'first',
  });
  expect([car, more]).toEqual([{ vin: VIN, isFirst: true, state: 'waiting' }, []]);
  const early = await hub('rollout', '--continue', '--fleet', 'north');
  expect([early.status, early.stderr]).toEqual([
    2,
    expect.stringContaining('no car has reported the configuration good yet'),
  ]);
  const stopped = await hub('rollout', '--stop', '--fleet', 'north', '--format', 'text');
  expect(stopped.stdout).toMatch(
    /: fleet.yaml to fleet north; .*; stopped: stopped by .*; 1 waiting\n.* {2}waiting, of the first\n$/,
  );
  const listed = (await hub('rollout', '--format', 'ndjson')).stdout.trim().split('\n');
  expect(listed.map((line) => JSON.parse(line))).toMatchObject([{ id: rollout.id, stage: 'stopped' }]);
});

test('an invalid roll-out is refused with the reason', async () => {
  for (const [words, said] of [
    [[file('own.yaml', `vin: ${VIN}\n`), '--fleet', 'north'], 'is for one car: leave vin out'],
    [[file('wrong.yaml', 'nonsense: 1\n'), '--fleet', 'north'], 'nonsense'],
    [[file('lost.yaml').replace('lost', 'gone'), '--fleet', 'north'], 'gone.yaml'],
    [[file('fleet.yaml'), '--fleet', 'nowhere'], 'the fleet "nowhere" has no car'],
    [[file('fleet.yaml')], 'say which fleet: --fleet'],
    [[file('fleet.yaml'), '--stop', '--fleet', 'north'], 'give one of FILE, --continue, --stop and --back'],
    [['--stop', '--fleet', 'west'], 'there was no roll-out to the fleet "west"'],
  ] as const) {
    const { status, stdout, stderr } = await hub('rollout', ...words);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)]);
  }
});
