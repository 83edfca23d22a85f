/** Types the first five commands of docs/exits.md, unchanged, with a real Mosquitto. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VigieProcess } from '../rig/bench.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeers } from '../rig/peers.ts';
import { blocksOf } from './page.ts';
import { Shell } from './shell.ts';
import { untypedOf } from './untyped.ts';

const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
const page = read('docs/exits.md');
const [install, build, bench, show, lock] = untypedOf(page).map(({ text }) => text);

test('the first two commands on the page are those with which CI begins', () => {
  const [, packages = ''] = /^apt install (.*)$/.exec(install ?? '') ?? [];
  expect(packages).toContain('mosquitto-clients');
  for (const name of packages.split(' ')) expect(read('scripts/install-peers.sh')).toContain(`:${name} `);
  expect(build).toBe('npm ci');
  expect(read('.ci/run')).toContain('\nnpm ci\n');
});

/** A car that has run for longer has reported more values, each of which is a sensor. */
function withoutSensors(output: string): string {
  expect(output).toMatch(/"sensor":6\d/);
  return output.replace(/"sensor":6\d/, '');
}

describePeers(['mosquitto', 'mosquitto_pub', 'jq'], 'the first section of docs/exits.md', () => {
  const shell = new Shell();
  const broker = new MosquittoRig();
  let car: VigieProcess;
  beforeAll(async () => {
    await broker.start();
    // The programs of Mosquitto read options from there, so that the commands need no port.
    const folder = join(shell.folder, '.config');
    mkdirSync(folder);
    for (const name of ['mosquitto_sub', 'mosquitto_pub']) writeFileSync(join(folder, name), `-p ${broker.port}\n`);
    const words = (bench ?? '').replace('mqtt://127.0.0.1', broker.url).split(' ').slice(2);
    car = new VigieProcess([...words, '--data', join(shell.folder, 'data'), '--http', '0']);
  }, 60_000);
  afterAll(async () => {
    await car.end('SIGINT');
    await broker.remove();
    shell.remove();
  });

  test('the commands show the entities of the car and lock it, with the output on the page', async () => {
    const outputs: string[] = [];
    // Readers type the commands when the car is there.
    const ready = "mosquitto_sub -t 'vigie/plain/+/doorsState/lockedStates' -C 1";
    expect((await shell.type({ line: 0, text: ready, comment: '' })).output).toBe('Unlocked\n');
    for (const text of [show ?? '', lock ?? '']) {
      const { status, output } = await shell.type({ line: 0, text, comment: '' });
      expect(status, output).toBe(0);
      outputs.push(output);
    }
    const printed = blocksOf(page).find(({ language }) => language === 'text');
    expect(withoutSensors(outputs.join('').trim())).toBe(withoutSensors(printed?.text ?? ''));
  }, 120_000);
});
