/** `exits.mqtt` of hub.yaml: two hubs that are killed, and a program that knows only plain topics. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Body } from '../../protocol/schema/message.ts';
import { presenceTopic, upTopic } from '../../protocol/topics.ts';
import { NOON, ONE, payloadOf } from '../hub/messages.ts';
import { VigieProcess } from '../rig/bench.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeers } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';
import { Topics } from '../rig/topics.ts';

const NAMES = ['one', 'two'] as const;

describePeers(['initdb', 'mosquitto'], 'two hubs with plain topics', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-topics-'));
  const [broker, server] = [new MosquittoRig(), new PostgresRig()];
  const hubs = new Map<string, VigieProcess>();
  let client: MqttClient;
  let topics: Topics;
  let seq = 0;

  const send = async (speed: number): Promise<void> => {
    const body = { full: true, status: { kinetic: { createdAt: NOON + seq, speed } } } as unknown as Body<'status'>;
    await client.publishAsync(upTopic(ONE, 'status'), Buffer.from(payloadOf('status', body, { seq: seq++ })), {
      qos: 1,
    });
    await topics.until(`cars/${ONE}/kinetic/speed`, (text) => text === String(speed));
  };
  const running = (): string =>
    [...hubs].find(([, { output }]) => output.includes('The values go to the broker of exits'))?.[0] ?? '';
  const kill = async (name: string): Promise<void> => {
    await hubs.get(name)?.end('SIGKILL');
    hubs.delete(name);
  };

  beforeAll(async () => {
    await Promise.all([broker.start(), server.start()]);
    const database = await server.create();
    client = await connectAsync(broker.url, { clientId: 'watcher' });
    topics = new Topics(client);
    await client.subscribeAsync('cars/#', { qos: 1 });
    await client.publishAsync(presenceTopic(ONE), 'online', { qos: 1, retain: true });
    for (const name of NAMES) {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(
        file,
        `hub: 1
name: ${name}
data: ${join(folder, name)}
http: { listen: 127.0.0.1:0 }
broker: { url: '${broker.url}' }
database: { url: '${database}' }
exits: { mqtt: { url: '${broker.url}' }, prefix: cars, homeAssistant: {} }
log: { level: info }
`,
      );
      const hub = new VigieProcess(['hub', '-c', file]);
      hubs.set(name, hub);
      await hub.says('Ctrl-C ends');
      // Hubs on one database share the secret that encrypts its keys.
      if (name === 'one') cpSync(join(folder, 'one/keys/group.secret'), join(folder, 'two/keys/group.secret'));
    }
  }, 120_000);
  afterAll(async () => {
    for (const name of NAMES) await kill(name);
    await client.endAsync();
    await broker.remove();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test('one of them sends, the other continues after its kill, and the will shows that none is left', async () => {
    await send(50);
    await topics.until(`cars/${ONE}/presence`, (text) => text === 'online');
    const first = running();
    await kill(first);
    await send(60);
    const second = running();
    expect([first, second].toSorted()).toEqual([...NAMES]);
    const own = [...topics.last.keys()].find((topic) => /^cars\/hub\/\w+\/presence$/.test(topic)) ?? '';
    await topics.until(own, (text) => text === 'online');
    await kill(second);
    await topics.until(own, (text) => text === 'offline');
    // The last values remain for programs that look at them.
    expect(topics.last.get(`cars/${ONE}/kinetic/speed`)).toBe('60');
  });
});
