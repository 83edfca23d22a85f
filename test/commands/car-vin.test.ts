/** `vigie run` in a car with no VIN or a wrong VIN in its configuration, with a simulated adapter on TCP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { upFilter } from '../../protocol/topics.ts';
import { Ecu, unhex } from '../adapters/obd/elm327/car.ts';
import { Emulator } from '../adapters/obd/elm327/emulator.ts';
import { listen } from '../adapters/obd/elm327/lines.ts';
import { AedesRig } from '../rig/aedes.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const VIN = '1G1JC5444R7252367';
const OTHER = 'VF3CC5FS0GT000001';
const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex').toUpperCase();

const folders: string[] = [];
let folder: string;
let broker: AedesRig;
let emulator: Emulator;
let port: Awaited<ReturnType<typeof listen>>;
let agent: VigieProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-vin-'));
  folders.push(folder);
  broker = new AedesRig();
  await broker.start();
  const answers = (request: string): readonly string[] | undefined => {
    if (request === '0902') return [`490201${ascii(VIN)}`];
    const [service, ...pids] = unhex(request);
    if (service !== 1) return undefined;
    if (pids[0] === 0x00) return ['410000180000'];
    return [`41${pids.map((pid) => (pid === 0x0d ? '0D32' : '0C1AF8')).join('')}`];
  };
  emulator = new Emulator({ ecus: [new Ecu({ request: 0x7e0, response: 0x7e8, answers })] });
  port = await listen(emulator);
});
afterEach(async () => {
  await agent?.end('SIGKILL');
  agent = undefined;
  await port.close();
  await broker.stop();
});
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

/** A configuration with these lines in addition to the fixed ones. */
function configured(...lines: string[]): string {
  const file = join(folder, 'vigie.yaml');
  const usual = ['configuration: 1', 'profile: generic-obd2', 'data: ./records', `mqtt: { url: ${broker.url} }`];
  writeFileSync(file, `${[...usual, ...lines].join('\n')}\n`);
  return file;
}

const obd = (): string => `obd: { elm327: 'tcp://127.0.0.1:${port.port}' }`;

function run(file: string): VigieProcess {
  agent = new VigieProcess(['run', '-c', file]);
  return agent;
}

test('without a configured VIN the agent waits for a car that is off, and remembers its VIN at the next start', async () => {
  const file = configured(obd());
  emulator.asleep = true;
  const first = run(file);
  await first.says('vin.awaited');
  expect(first.output).not.toContain('ready:');
  emulator.asleep = false;
  await first.says(`ready: ${VIN} (generic-obd2)`);
  expect(await first.end('SIGTERM'), first.output).toBe(0);
  emulator.asleep = true;
  const second = run(file);
  await second.says(`ready: ${VIN} (generic-obd2)`);
});

test('an agent that waits for the VIN stops when asked', async () => {
  emulator.asleep = true;
  const process = run(configured(obd()));
  await process.says('vin.awaited');
  expect(await process.end('SIGTERM'), process.output).toBe(0);
});

test('a car with another VIN than configured is reported in the log, in status and in hello', async () => {
  const client = await CloudClient.connect(broker.url);
  const told = new Promise<string>((resolve) => {
    void client.subscribe(upFilter(OTHER), (_topic, payload) => {
      const message = decodeMessage(payload);
      if (message.kind === 'hello' && message.body.carVin !== undefined) resolve(message.body.carVin);
    });
  });
  const process = run(configured(obd(), `vin: ${OTHER}`, 'health: { every: 10s }'));
  await process.says(`ready: ${OTHER} (generic-obd2)`);
  await process.says('vin.differs');
  const { stdout } = await vigie('status', '--data', join(folder, 'records'), '--format', 'text');
  expect(stdout).toContain(`the car gives another VIN: ${VIN}`);
  const json = await vigie('status', '--data', join(folder, 'records'), '--format', 'ndjson');
  expect(JSON.parse(json.stdout)).toMatchObject({ vin: OTHER, carVin: VIN });
  expect(await told).toBe(VIN);
  await client.close();
});

test('a car with the configured VIN is not reported', async () => {
  const process = run(configured(obd(), `vin: ${VIN}`));
  await process.says(`ready: ${VIN} (generic-obd2)`);
  await expect
    .poll(() => emulator.commands.some((command) => command.startsWith('0902')), { timeout: 60_000 })
    .toBe(true);
  const { stdout } = await vigie('status', '--data', join(folder, 'records'), '--format', 'ndjson');
  expect(JSON.parse(stdout)).not.toHaveProperty('carVin');
  expect(process.output).not.toContain('vin.differs');
});

test('without a VIN and without OBD the agent does not start, and names the missing setting', async () => {
  const file = configured("gnss: { nmea: 'tcp://127.0.0.1:9' }");
  const process = run(file);
  expect(await process.ended()).toBe(2);
  expect(process.output).toContain('vin is missing');
  const { status, stdout } = await vigie('check', '-c', file, '--format', 'text');
  expect([status, stdout]).toEqual([2, expect.stringContaining('add vin: and its 17 characters; with obd it is read')]);
});

test('check accepts a configuration without a VIN if the car can be asked', async () => {
  const { status, stdout, stderr } = await vigie('check', '-c', configured(obd()), '--format', 'text');
  expect(status, stdout + stderr).toBe(0);
});
