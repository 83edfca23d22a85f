/**
 * A unit that has lost the key changes made by commands: `vigie run` and `vigie keys confirm` as processes, on a
 * broker.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CommandSigner, generateKey, listKeys } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { type CommandBodyKind, encodeBody, encodeCommand } from '../../protocol/command.ts';
import type { Hello } from '../../protocol/schema/hello.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { downTopic, upFilter } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const VIN = 'VF3TRVSTLVSS00001';
const broker = new AedesRig();
let folder: string;
let data: string;
let cloud: CloudClient;
let messages: Arrivals<Message>;
let unit: VigieProcess | undefined;

beforeAll(() => broker.start());
afterAll(() => broker.stop());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-trust-loss-'));
  data = join(folder, 'records');
  await generateKey(join(folder, 'keys'), 'root', { algorithm: 'ES256', kinds: ['Trust', 'WakeUp'] });
  await generateKey(join(folder, 'keys'), 'lost', { algorithm: 'Ed25519', kinds: ['WakeUp'] });
  await generateKey(join(folder, 'keys'), 'mine', { algorithm: 'Ed25519', kinds: ['WakeUp'] });
  writeFileSync(
    join(folder, 'vigie.yaml'),
    `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: '${broker.url}' }
commands: { trust: keys/trust.json }
`,
  );
  cloud = await CloudClient.connect(broker.url);
  messages = new Arrivals();
  await cloud.subscribe(upFilter(VIN), (_topic, payload) => messages.push(decodeMessage(payload)));
});
afterEach(async () => {
  await unit?.end('SIGTERM');
  unit = undefined;
  await cloud.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<Message> {
  unit = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml')]);
  await unit.says('ready: ');
  return messages.take(({ kind }) => kind === 'hello');
}

async function stop(): Promise<void> {
  await unit?.end('SIGTERM');
  unit = undefined;
}

/** @param ahead how far the sender's clock is ahead, ms */
async function send(key: string, kind: CommandBodyKind, body: object, ahead = 0): Promise<string> {
  const signer = await CommandSigner.open(join(folder, 'keys'), key);
  const [id, issued] = [crypto.randomUUID(), Date.now() + ahead];
  const command = { id, vin: VIN, kind, body: encodeBody(kind, body), issued, expires: issued + 60_000 };
  await cloud.publish(downTopic(VIN, 'remote'), await signer.sign((counter) => encodeCommand({ ...command, counter })));
  return id;
}

/** Final state of a command of that key. */
async function order(key: string, kind: CommandBodyKind, body: object, ahead = 0): Promise<string> {
  const id = await send(key, kind, body, ahead);
  const last = await messages.take(({ kind: of, body: report }) => {
    const { remoteActionId, status } = report as RemoteReport;
    return of === 'remote' && remoteActionId === id && ['Success', 'AlreadyDone', 'Failed'].includes(status);
  });
  return (last.body as RemoteReport).status;
}

const wakeUp = (key: string, ahead = 0): Promise<string> => order(key, 'WakeUp', {}, ahead);

async function kidOf(name: string): Promise<string> {
  const found = (await listKeys(join(folder, 'keys'))).find((key) => key.name === name);
  return found?.kid as string;
}

/** Checks that the unit refuses a command of that key without an answer, and logs the reason. */
async function refuses(key: string, why = /./): Promise<void> {
  const from = unit?.output.length ?? 0;
  const id = await send(key, 'WakeUp', {});
  const kid = await kidOf(key);
  const answered = messages.take(({ kind, body }) => kind === 'remote' && (body as RemoteReport).remoteActionId === id);
  await Promise.race([
    unit?.says(new RegExp(`command\\.unsigned.*${kid}.*${why.source}`), from),
    answered.then(({ body }) => {
      throw new Error(`the command of key ${key} was answered: ${(body as RemoteReport).status}`);
    }),
  ]);
}

/** A unit that has revoked the key `lost`, which is still in its trust file. */
async function revoked(): Promise<void> {
  await start();
  expect(await wakeUp('lost')).toBe('AlreadyDone');
  expect(await order('root', 'Trust', { revoke: Buffer.from(await kidOf('lost'), 'hex') })).toBe('Success');
  const { body } = await messages.take(({ kind }) => kind === 'hello');
  expect((body as Hello).keys?.map(({ id }) => id)).not.toContain(await kidOf('lost'));
  await refuses('lost');
  await stop();
}

const trustFiles = (): string[] => readdirSync(data).filter((name) => name.startsWith('trust.json'));

test('a revoked key stays revoked if the list of changed keys is deleted, because the journal has it', async () => {
  await revoked();
  expect(trustFiles()).toContain('trust.json');
  for (const name of trustFiles()) rmSync(join(data, name));
  const hello = await start();
  await refuses('lost', /it was revoked/);
  expect(hello.body).not.toHaveProperty('trust');
  expect(await wakeUp('mine')).toBe('AlreadyDone');
});

test('without any copy no key is trusted until a person has confirmed the list', async () => {
  await revoked();
  for (const name of trustFiles()) writeFileSync(join(data, name), '');
  rmSync(join(data, 'outbox'), { recursive: true });
  const why = /no key is trusted, because .*trust\.json\) is damaged.*vigie keys confirm/;
  const hello = await start();
  for (const key of ['lost', 'mine', 'root']) await refuses(key, why);
  expect(hello.body).toMatchObject({ trust: expect.stringMatching(why) });
  const report = await vigie('status', '--data', data);
  expect(JSON.parse(report.stdout)).toMatchObject({ lacking: { trust: expect.stringMatching(why) } });
  const running = await vigie('keys', 'confirm', '--data', data);
  expect([running.status, running.stderr]).toEqual([2, expect.stringContaining('end that one')]);
  await stop();

  // This state stays, whatever was written meanwhile.
  await start();
  await refuses('root', why);
  await stop();
  const list = await vigie('keys', 'confirm', '-c', join(folder, 'vigie.yaml'), '--format', 'text');
  expect(list.stdout.split('\n').map((line) => line.split(' ').slice(0, 2))).toEqual([
    ...['root', 'lost', 'mine'].map((name) => ['unconfirmed', name]),
    [''],
  ]);
  expect(list.stderr).toContain('nothing was written');
  const unknown = await vigie('keys', 'confirm', '--data', data, 'root', 'stranger');
  expect([unknown.status, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('there is no key stranger in the list'),
  ]);
  const confirmed = await vigie('keys', 'confirm', '--data', data, 'root', await kidOf('mine'));
  expect(confirmed.status, confirmed.stderr).toBe(0);
  const states = confirmed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; state: string });
  expect(states.map(({ name, state }) => [name, state])).toEqual([
    ['root', 'trusted'],
    ['lost', 'revoked'],
    ['mine', 'trusted'],
  ]);

  const sound = await start();
  expect(sound.body).not.toHaveProperty('trust');
  // The journal with the executed commands is lost, so commands issued within five minutes after the start are refused.
  // A clock may be at most five minutes ahead, which leaves the time since the start.
  expect(await wakeUp('mine', 299_950)).toBe('AlreadyDone');
  expect(await wakeUp('root', 299_950)).toBe('AlreadyDone');
  await refuses('lost', /it was revoked/);
  await stop();
  const again = await vigie('keys', 'confirm', '--data', data);
  expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('there is nothing to confirm')]);
});
