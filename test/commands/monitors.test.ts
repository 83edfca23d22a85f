/** Monitors in a file next to the configuration of `vigie run`, from one start to the next. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { upFilter } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const VIN = 'VF3WR1TTENCAR0001';
let folder: string;
let configuration: string;
let broker: AedesRig;
let cloud: CloudClient;
let agent: VigieProcess | undefined;
const came = { hello: new Arrivals<Message>(), event: new Arrivals<Message>(), monitor: new Arrivals<Message>() };

const monitor = (id: string, value: string): string => `- monitorId: ${id}
  monitor:
    label: ${id}
    triggerParam:
      triggers: [{ name: t, data: { data: vehicle.kinetic.speed, op: greaterThan, value: ['${value}'] } }]
      boolExp: t
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-written-'));
  configuration = join(folder, 'vigie.yaml');
  broker = new AedesRig();
  await broker.start();
  cloud = await CloudClient.connect(broker.url);
  await cloud.subscribe(upFilter(VIN), (_topic, payload) => {
    const message = decodeMessage(payload);
    if (message.kind in came) came[message.kind as keyof typeof came].push(message);
  });
  writeFileSync(
    configuration,
    `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: ${broker.url} }
monitors: { file: monitors.yaml }
`,
  );
});
afterEach(async () => {
  await agent?.end('SIGKILL');
  agent = undefined;
});
afterAll(async () => {
  await cloud.close();
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
});

function write(text: string): void {
  writeFileSync(join(folder, 'monitors.yaml'), text);
}

async function start(): Promise<VigieProcess> {
  agent = new VigieProcess(['run', '-c', configuration]);
  await agent.says('ready:');
  return agent;
}

/** The next list that has these ids. */
function list(...ids: string[]): Promise<Message> {
  return came.monitor.take(({ kind, body }) => {
    return kind === 'monitor' && body.monitors.map(({ monitorId }) => monitorId).join() === ids.join();
  });
}

const listed = async () => JSON.parse((await vigie('send', VIN, 'monitor', 'list', '--broker', broker.url)).stdout);

test('monitors of the file are watched, changes apply at the next start, and an invalid file changes nothing', async () => {
  write(monitor('a', '1') + monitor('b', '2'));
  expect((await vigie('check', '-c', configuration)).status).toBe(0);
  const first = await start();
  await list('a', 'b');
  await came.hello.take(
    ({ kind, body }) => kind === 'hello' && body.health?.link?.broker?.includes('127.0.0.1') === true,
  );
  // The bench car drives. The event shows that the monitors are watched.
  await came.event.take(({ kind, body }) => kind === 'event' && body.monitorId === 'a');
  const status = await vigie('status', '-c', configuration, '--format', 'text');
  expect(status.stdout).toMatch(
    /^ {2}up for .* mqtt:\/\/127\.0\.0\.1:\d+, MQTT [\d.]+, keep-alive \d+ s, \d+ attempts, lost 0 times$/m,
  );
  await first.end('SIGTERM');

  write(monitor('b', '3') + monitor('c', '4'));
  const second = await start();
  await list('b', 'c');
  await second.end('SIGTERM');
  const { version } = await listed();

  write(monitor('b', '3').replace('greaterThan', 'above'));
  const check = await vigie('check', '-c', configuration, '--format', 'text');
  expect(check.status).toBe(2);
  expect(check.stdout).toMatch(/monitors\.yaml:5: error: triggerParam\.triggers\[0\]\.data\.op: /);
  const third = await start();
  await third.says('monitors.yaml:5: error');
  await third.says('monitors.fileRefused');
  expect(await listed()).toMatchObject({ version, monitors: [{ monitorId: 'b' }, { monitorId: 'c' }] });
}, 240_000);
