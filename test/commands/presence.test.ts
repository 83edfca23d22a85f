/** Messages of `vigie send` and `vigie watch` about a car that is offline or unknown to the broker. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { downFilter, presenceTopic } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const VIN = 'VF3SEARCHEDCAR001';
let folder: string;
let broker: AedesRig;
let cloud: CloudClient;
let received: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-presence-'));
  await generateKey(folder, 'mine', { algorithm: 'Ed25519', kinds: ['Doors'] });
  broker = new AedesRig();
  await broker.start();
  cloud = await CloudClient.connect(broker.url);
  received = [];
  await cloud.subscribe(downFilter(VIN), (topic) => received.push(topic));
});
afterEach(async () => {
  await cloud.close();
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
});

const presence = (word: string) => cloud.publish(presenceTopic(VIN), Buffer.from(word), { retain: true });
const send = (...words: string[]) => vigie('send', VIN, ...words, '--broker', broker.url, '--keys', folder);

test.each([[['doors', 'lock', '--valid', '600', '--wait', '600']], [['monitor', 'list']]])(
  'send %j to a car unknown to the broker prints advice, sends nothing and ends',
  async (words) => {
    const { status, stdout, stderr } = await send(...words);
    expect(stderr).toContain(`the broker has no presence of ${VIN}`);
    expect(stderr).toContain('check the VIN, the broker (--broker)');
    expect([status, stdout]).toEqual([1, '']);
    // Any message that it sent would have reached the broker before this one.
    await presence('online');
    expect(received).toEqual([]);
  },
);

test('send reports that a car refuses a command valid for more than 24 h', async () => {
  const { stderr } = await send('doors', 'lock', '--valid', '86401');
  expect(stderr).toContain('a car refuses a command that is valid for more than 1d, unless its commands.maxValidity');
});

test('send to an offline car reports that the command waits for it', async () => {
  await presence('offline');
  const { status, stderr } = await send('doors', 'lock', '--valid', '1', '--wait', '1');
  expect(stderr).toContain(`${VIN} is offline; the broker keeps the command for it for 1 s`);
  expect(stderr).toContain('no answer within 2 s');
  expect(status).toBe(1);
  expect(received).toHaveLength(1);
});

test('send to an online car that does not answer names the key as the probable cause', async () => {
  await presence('online');
  const { status, stderr } = await send('doors', 'lock', '--valid', '1', '--wait', '1');
  expect(stderr).toMatch(/no answer within 2 s.*is online.*key mine/);
  expect(status).toBe(1);
});

test('watch prints advice while the broker does not know the car, and shows the car when it appears', async () => {
  const watching = new VigieProcess(['watch', VIN, '--broker', broker.url]);
  await watching.says(`the broker has no presence of ${VIN}`);
  await watching.says('waiting for the car');
  await presence('online');
  await watching.says('presence: online');
  expect(await watching.end('SIGINT'), watching.output).toBe(0);
});

test('watch prints no advice for a known car', async () => {
  await presence('asleep');
  const watching = new VigieProcess(['watch', VIN, '--broker', broker.url]);
  await watching.says('presence: asleep');
  await watching.says(`watching ${VIN}`);
  expect(await watching.end('SIGINT'), watching.output).toBe(0);
  expect(watching.output).not.toContain('no presence');
});
