import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CloudClient, EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { upFilter } from '../../protocol/topics.ts';
import { matchCddl } from '../protocol/cddl/matcher.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { smallCar } from './small-car.ts';

const VIN = 'VF3VGEBENCH000001';
const cddl = readFileSync(new URL('../../protocol/generated/vigie.cddl', import.meta.url), 'utf8');
const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'vigie-bench-'));
  folders.push(made);
  return made;
};
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

describe('the bench', () => {
  let data: string;
  let bench: VigieProcess;
  beforeAll(async () => {
    data = folder();
    bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--scenario', 'parked']);
    await bench.says('Ctrl-C ends the bench.');
  });
  afterAll(async () => {
    await bench.end('SIGKILL');
  });

  const states = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { status: string }).status);

  test('the bench prints the topics, the addresses, and three commands to try', async () => {
    expect(bench.output).toContain(`vigie/1/${VIN}/up/`);
    for (const command of ['watch', 'send', 'send']) {
      expect(bench.output).toContain(`npx vigie ${command} ${VIN}`);
    }
    await bench.says(`published vigie/1/${VIN}/up/telemetry`);
    await bench.says(`published vigie/1/${VIN}/up/status`);
  });

  test('the bench refuses a configuration and names the command that accepts one', async () => {
    const file = join(data, 'vigie.yaml');
    writeFileSync(
      file,
      'configuration: 1\nprofile: bench\ncan: [{ bus: body, simulated: true }]\nmqtt: { url: mqtt://127.0.0.1:1 }\n',
    );
    const { status, stdout } = await vigie('send', VIN, 'configuration', file, '--data', data, '--format', 'text');
    expect([status, stdout]).toEqual([1, expect.stringContaining('run its agent with vigie run')]);
  });

  test('the bench carries out a signed door command, and reports AlreadyDone for a second one', async () => {
    const first = await vigie('send', VIN, 'doors', 'lock', '--data', data);
    expect(states(first.stdout), first.stderr).toEqual(['Accepted', 'SentToVehicle', 'Success']);
    expect(first.status).toBe(0);
    const second = await vigie('send', VIN, 'doors', 'lock', '--data', data);
    expect(states(second.stdout)).toEqual(['Accepted', 'SentToVehicle', 'AlreadyDone']);
    expect(second.status).toBe(0);
  });

  test('the bench prints the state of the car and the states of commands', async () => {
    await bench.says(/^\d\d:\d\d:\d\d the car stands, ignition \w+, .*; \d+ messages published$/m);
    await bench.says(/^\d\d:\d\d:\d\d command Doors: Success$/m);
  });

  test('watch prints each message once, decoded, with the Status that the command caused', async () => {
    const watch = new VigieProcess(['watch', VIN, '--data', data]);
    await watch.says('"full":true');
    await watch.says('presence: online');
    expect(await watch.end('SIGINT'), watch.output).toBe(0);
    const lines = watch.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { topic: string; seq: number; at: number; body: object });
    for (const line of lines) expect(Object.keys(line)).toEqual(['vin', 'kind', 'topic', 'seq', 'at', 'body']);
  });

  test('a second bench on the same records is refused', async () => {
    const { status, stderr } = await vigie('bench', '--data', data, '--port', '0');
    expect(status).toBe(2);
    expect(stderr).toMatch(/process \d+ uses it/);
  });

  test('Ctrl-C stops the bench in order, and a second start keeps its records, keys and car state', async () => {
    expect(await bench.end('SIGINT'), bench.output).toBe(0);
    expect(bench.output).not.toMatch(/error/i);
    expect(existsSync(join(data, 'lock'))).toBe(false);
    const keys = readFileSync(join(data, 'keys', 'trust.json'), 'utf8');
    bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--scenario', 'parked']);
    await bench.says('Ctrl-C ends the bench.');
    expect(readFileSync(join(data, 'keys', 'trust.json'), 'utf8')).toBe(keys);
    const again = await vigie('send', VIN, 'doors', 'lock', '--data', data);
    expect(states(again.stdout)).toEqual(['Accepted', 'SentToVehicle', 'AlreadyDone']);
    const unlock = await vigie('send', VIN, 'doors', 'unlock', '--data', data);
    expect(states(unlock.stdout), unlock.stdout).toEqual(['Accepted', 'SentToVehicle', 'Success']);
    expect(await bench.end('SIGTERM'), bench.output).toBe(0);
  });
});

test('a bench whose standard ports are in use prints the ports that it uses instead', async () => {
  const taken = await Promise.all([1883, 8080].map(occupy));
  const data = folder();
  const bench = new VigieProcess(['bench', '--data', data, '--scenario', 'parked']);
  await bench.says('Ctrl-C ends the bench.');
  const { output } = bench;
  expect(output).toMatch(
    /^vigie: another program uses port 1883: the broker is at mqtt:\/\/127\.0\.0\.1:\d+ .*--port/m,
  );
  expect(output).toMatch(
    /^vigie: another program uses port 8080: the HTTP interface is at http:\/\/127\.0\.0\.1:\d+ .*--http/m,
  );
  expect(await bench.end('SIGINT'), bench.output).toBe(0);
  for (const server of taken) server.close();
});

/** Occupies a port of this machine, unless another program has it. */
async function occupy(port: number): Promise<Server> {
  const server = createServer();
  await new Promise((resolve) => server.once('listening', resolve).once('error', resolve).listen(port, '127.0.0.1'));
  return server;
}

describe('run', () => {
  /** Configures the small car with frames from standard input. */
  const configure = (folder: string, url: string): void =>
    writeFileSync(
      join(folder, 'vigie.yaml'),
      `configuration: 1
vin: VF3SMALCAR0000001
profile: ./profile.yaml
data: ./records
can:
  - { bus: can, log: '-' }
mqtt: { url: ${url} }
`,
    );

  test('run publishes live frames from standard input, even if the broker starts later', async () => {
    const car = smallCar();
    folders.push(car.folder);
    const port = new EmbeddedBroker({ port: 0 });
    const { url } = await port.start();
    await port.stop();
    configure(car.folder, url);
    const agent = new VigieProcess(['run', '-c', join(car.folder, 'vigie.yaml')]);
    agent.write(`${car.lines.slice(0, 500).join('\n')}\n`);
    await agent.says('ready: VF3SMALCAR0000001 (small)');

    const broker = new EmbeddedBroker({ port: Number(new URL(url).port) });
    await broker.start();
    const arrivals = new Arrivals<Uint8Array>();
    const client = await CloudClient.connect(url);
    await client.subscribe(upFilter('VF3SMALCAR0000001'), (_topic, payload) => arrivals.push(payload));
    const status = await arrivals.take((payload) => {
      const message = decodeMessage(payload);
      return message.kind === 'status' && message.body.status.kinetic?.speed !== undefined;
    });
    expect(matchCddl(cddl, 'message', status)).toEqual([]);
    expect(await agent.end('SIGTERM'), agent.output).toBe(0);
    for (const payload of arrivals.all) expect(matchCddl(cddl, 'message', payload)).toEqual([]);
    await client.close();
    await broker.stop();
  });

  test('run is ready on a silent bus and without a broker, and stops when asked', async () => {
    const car = smallCar();
    folders.push(car.folder);
    configure(car.folder, 'mqtt://127.0.0.1:1');
    const agent = new VigieProcess(['run', '-c', join(car.folder, 'vigie.yaml')]);
    await agent.says('ready: VF3SMALCAR0000001 (small)');
    expect(await agent.end('SIGTERM'), agent.output).toBe(0);
  });
});
