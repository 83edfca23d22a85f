/** `vigie run` as a service: crashes and the minimal mode, and configurations sent to the car. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CommandSigner, generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { CommandKind } from '../../protocol/schema/remote.ts';
import { downTopic, upFilter } from '../../protocol/topics.ts';
import { closeReceivers, Receiver } from '../adapters/service/receiver.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';

const VIN = 'VF3SERVCECAR00001';
/** Time limit for five starts of a process on a busy machine, ms. */
const STARTS = 240_000;
const folders: string[] = [];
let broker: AedesRig;
let folder: string;
let cloud: CloudClient;
let messages: Arrivals<Message>;
let agents: VigieProcess[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-service-'));
  folders.push(folder);
  broker = new AedesRig();
  await broker.start();
  cloud = await CloudClient.connect(broker.url);
  messages = new Arrivals();
  agents = [];
  await cloud.subscribe(upFilter(VIN), (_topic, payload) => messages.push(decodeMessage(payload)));
  await generateKey(join(folder, 'keys'), 'fleet', { algorithm: 'ES256', kinds: ['Configuration', 'Doors'] });
});
afterEach(async () => {
  for (const agent of agents) await agent.end('SIGKILL');
  closeReceivers();
  await cloud.close();
  await broker.stop();
});
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

const text = (more = ''): string => `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: ${broker.url} }
commands: { trust: keys/trust.json }
${more}`;

function run(): VigieProcess {
  const agent = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml')]);
  agents.push(agent);
  return agent;
}

async function command(kind: CommandKind, body: Uint8Array, id: string): Promise<void> {
  const signer = await CommandSigner.open(join(folder, 'keys'), 'fleet');
  const issued = Date.now();
  const payload = await signer.sign((counter) =>
    encodeCommand({ id, vin: VIN, kind, body, issued, expires: issued + 60_000, counter }),
  );
  await cloud.publish(downTopic(VIN, kind === 'Configuration' ? 'config' : 'remote'), payload);
}

function hello(fits: (body: Message<'hello'>['body']) => boolean): Promise<Message<'hello'>> {
  return messages.take((message) => message.kind === 'hello' && fits(message.body)) as Promise<Message<'hello'>>;
}

function answer(id: string): Promise<Message<'remote'>> {
  const final = ['Success', 'Failed'];
  return messages.take(
    (message) => message.kind === 'remote' && message.body.remoteActionId === id && final.includes(message.body.status),
  ) as Promise<Message<'remote'>>;
}

async function crash(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const agent = run();
    await agent.says('ready: ');
    await agent.end('SIGKILL');
  }
}

describe('crashes of the agent', () => {
  beforeEach(() => writeFileSync(join(folder, 'vigie.yaml'), text()));

  test('the agent waits longer after each crash, and after the third reports the reason and accepts a configuration', {
    timeout: STARTS,
  }, async () => {
    await crash(2);
    const third = run();
    await third.says('agent.crashedBefore');
    await third.says('ready: ');
    await third.end('SIGKILL');
    writeFileSync(join(folder, 'records', 'fatal.json'), JSON.stringify({ at: 1, error: 'the gearbox is a lie' }));

    const minimal = run();
    await minimal.says(`minimal: ${VIN}, the gearbox is a lie`);
    const { body } = await hello(({ mode }) => mode === 'minimal');
    expect(body.reason).toBe('the gearbox is a lie');
    expect(body.health).toMatchObject({ uptime: expect.any(Number), memory: expect.any(Number) });
    expect(body.configuration).toEqual({ generation: 0, state: 'local' });

    const asked = await vigie('status', '-c', join(folder, 'vigie.yaml'), '--format', 'text');
    expect(asked.status, asked.stderr).toBe(1);
    expect(asked.stdout).toContain('minimal mode: the gearbox is a lie');

    await command('Doors', encodeBody('Doors', { state: 'Locked' }), 'doors');
    expect((await answer('doors')).body).toMatchObject({ status: 'Failed' });
    await command('Configuration', encodeBody('Configuration', { configuration: text('nonsense: 1\n') }), 'bad');
    expect((await answer('bad')).body.detail).toContain('nonsense');
    await command(
      'Configuration',
      encodeBody('Configuration', { configuration: text('log: { level: warn }\n') }),
      'good',
    );
    expect((await answer('good')).body.status).toBe('Success');
    // The fault may have been repaired, so the whole agent starts again.
    await minimal.says('ready: ');
    // At once, and not with the next health report.
    await hello(({ configuration }) => configuration?.state === 'applied');
    expect(readdirSync(join(folder, 'records', 'configuration'))).toContain('1.yaml');
  });

  test('requested stops are not counted as crashes', { timeout: STARTS }, async () => {
    for (let i = 0; i < 4; i++) {
      const agent = run();
      await agent.says('ready: ');
      expect(await agent.end('SIGTERM')).toBe(0);
    }
    const agent = run();
    await agent.says('ready: ');
    expect(agent.output).not.toContain('crashed');
  });
});

describe('invalid configurations', () => {
  test('an invalid configuration does not start an agent that never had a valid one', async () => {
    writeFileSync(join(folder, 'vigie.yaml'), text('nonsense: 1\n'));
    const { status, stderr } = await vigie('run', '-c', join(folder, 'vigie.yaml'));
    expect(status).toBe(2);
    expect(stderr).toContain('nonsense');
    expect(readdirSync(folder)).not.toContain('records');
  });

  test('an invalid configuration is replaced by the last one that reached the broker', {
    timeout: STARTS,
  }, async () => {
    writeFileSync(join(folder, 'vigie.yaml'), text());
    const before = run();
    await before.says('ready: ');
    await hello(() => true);
    await before.end('SIGTERM');
    writeFileSync(join(folder, 'vigie.yaml'), text('nonsense: 1\n'));
    const agent = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml'), '--data', join(folder, 'records')]);
    agents.push(agent);
    await agent.says('configuration.fallback');
    await agent.says('ready: ');
  });
});

test('hello has the Node version of the agent and the end of its support', { timeout: STARTS }, async () => {
  writeFileSync(join(folder, 'vigie.yaml'), text());
  run();
  const { body } = await hello(() => true);
  expect(body.runtime).toMatch(/^Node \d+\.\d+\.\d+, supported by nodejs\.org until \d{4}-\d\d-\d\d$/);
});

describePeer('python3', 'systemd', () => {
  test('the service manager is notified when the agent is ready and when it stops', async () => {
    writeFileSync(join(folder, 'vigie.yaml'), text());
    const receiver = await Receiver.listen(join(folder, 'notify'));
    process.env['NOTIFY_SOCKET'] = receiver.path;
    try {
      const agent = run();
      expect(await receiver.saying('READY=1')).toContain(VIN);
      await agent.end('SIGTERM');
      await receiver.saying('STOPPING=1');
    } finally {
      delete process.env['NOTIFY_SOCKET'];
    }
  });
});
