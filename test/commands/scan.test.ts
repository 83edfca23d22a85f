/** `vigie scan` with a simulated adapter on TCP and a car behind it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Ecu } from '../adapters/obd/elm327/car.ts';
import { Emulator } from '../adapters/obd/elm327/emulator.ts';
import { listen } from '../adapters/obd/elm327/lines.ts';
import { VigieProcess } from '../rig/bench.ts';

const VIN = '1G1JC5444R7252367';
const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex').toUpperCase();

let emulator: Emulator;
let port: Awaited<ReturnType<typeof listen>>;

beforeEach(async () => {
  const engine = new Ecu({
    request: 0x7e0,
    response: 0x7e8,
    answers: {
      '0100': ['410080180000'],
      '0101': ['41018207E500'],
      '010C': ['410C1AF8'],
      '010D': ['410D32'],
      '0902': [`490201${ascii(VIN)}`],
      '03': ['430203010420'],
      '07': ['4700'],
      '19020D': ['5902FF03011C09'],
    },
  });
  const gearbox = new Ecu({
    request: 0x7e1,
    response: 0x7e9,
    answers: { '0100': ['410000080000'], '010D': ['410D33'], '03': ['4300'], '07': ['47010730'] },
  });
  emulator = new Emulator({ ecus: [engine, gearbox], name: 'ELM327 v1.5' });
  port = await listen(emulator);
});

afterEach(() => port.close());

async function scan(...options: string[]): Promise<{ status: unknown; output: string }> {
  const process = new VigieProcess(['scan', `tcp://127.0.0.1:${port.port}`, ...options]);
  return { status: await process.ended(), output: process.output };
}

test('scan prints VIN, control units, values and fault codes as JSON, and sends only read requests', async () => {
  const { status, output } = await scan('--format', 'ndjson');
  expect(status, output).toBe(0);
  const findings = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(findings).toMatchObject([
    { unit: '7E8', vin: VIN, lamp: true, parameters: ['01', '0C', '0D'] },
    { unit: '7E9', parameters: ['0D'] },
    { vin: VIN },
    { unit: '7E8', command: '0101' },
    { unit: '7E8', command: '010C', values: { EngineSpeed: 1726 } },
    { unit: '7E8', command: '010D', values: { VehicleSpeed: 50 } },
    { unit: '7E9', command: '010D', values: { VehicleSpeed: 51 } },
    {
      faults: [
        { code: 'P0301', status: ['confirmed'], unit: '7E8' },
        { code: 'P0420', status: ['confirmed'], unit: '7E8' },
        { code: 'P0730', status: ['pending'], unit: '7E9' },
        { code: 'P0301-1C', status: ['testFailed', 'confirmedDTC'], unit: '7E8' },
      ],
    },
  ]);
  const requests = emulator.commands.filter((command) => /^[0-9A-F]+$/.test(command));
  expect(requests.filter((request) => !/^(01|03|07|09|0A|19|22|3)/.test(request))).toEqual([]);
});

test('scan prints lines for people, with units', async () => {
  const { status, output } = await scan('--format', 'text');
  expect(status, output).toBe(0);
  for (const line of [
    `control unit 7E8: VIN ${VIN}, malfunction lamp ON, 3 parameters`,
    `VIN ${VIN}`,
    '7E8 010D VehicleSpeed=50 km/h',
    'P0301 (confirmed; misfire: in cylinder 1; 7E8)',
  ]) {
    expect(output.split('\n')).toContain(line);
  }
});

test('scan ends with one sentence if the car is off or the adapter is missing', async () => {
  emulator.asleep = true;
  const off = await scan();
  expect(off.status).not.toBe(0);
  expect(off.output).toMatch(/^vigie: .*\n$/);
  await port.close();
  const absent = await scan();
  expect(absent.status).toBe(2);
  expect(absent.output).toContain('no program listens there');
  port = await listen(emulator);
});

test('scan ends with one sentence if the machine has no such CAN interface', async () => {
  const process = new VigieProcess(['scan', 'nocan7']);
  expect(await process.ended()).toBe(2);
  expect(process.output).toMatch(/nocan7|this kernel has no CAN/);
});
