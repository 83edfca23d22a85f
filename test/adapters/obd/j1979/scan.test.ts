/** Scans a car over ISO-TP on a simulated bus with real control unit protocol. */
import { expect, test } from 'vitest';
import { hexOf } from '../../../../adapters/obd/hex.ts';
import { ObdDecoder } from '../../../../adapters/obd/index.ts';
import { IsoTp } from '../../../../adapters/obd/isotp/index.ts';
import { type Finding, scanCar } from '../../../../adapters/obd/j1979/index.ts';
import type { DiagnosticRequester } from '../../../../adapters/obd/requester.ts';
import { EXTENDED } from '../../../../agent/ports.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { within } from '../elm327/lines.ts';
import { Bus, batchOf, ControlUnit } from '../isotp/wire.ts';
import { standard } from '../standard.ts';

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex').toUpperCase();

type Answers = Readonly<Record<string, string>>;

/** Requests that a scan may send: only services that read. */
const READS = /^(01|03|07|09|0A|19|22)/;

interface Unit {
  /** Identifiers of requests and answers; above 7FF they have 29 bits. */
  readonly request: number;
  readonly response: number;
  readonly answers: Answers;
}

/** Returns the findings and the requests received by control units. */
async function scan(units: readonly Unit[]): Promise<{ findings: Finding[]; requests: string[] }> {
  const clock = new VirtualClock();
  const bus = new Bus(clock);
  const requester = new IsoTp({ clock, sender: bus, bus: 'obd', index: 0, asleepAfter: Number.POSITIVE_INFINITY });
  bus.join((frame) => requester.receive(batchOf(frame)));
  const wide = (id: number): number => (id > 0x7ff ? (id | EXTENDED) >>> 0 : id);
  const network = units.map(
    ({ request, response, answers }) =>
      new ControlUnit({
        clock,
        bus,
        listens: [wide(request), wide(request > 0x7ff ? 0x18db33f1 : 0x7df)],
        answers: wide(response),
        serve: (message) => {
          const answer = answers[hexOf(message)];
          return answer === undefined ? [] : [bytes(answer)];
        },
      }),
  );
  const findings: Finding[] = [];
  const all = async (): Promise<void> => {
    for await (const finding of scanCar(requester, new ObdDecoder([standard()]))) findings.push(finding);
  };
  await within(clock, all());
  requester.close();
  const requests = network.flatMap((unit) => unit.requests.map(hexOf));
  expect(requests.filter((request) => !READS.test(request))).toEqual([]);
  return { findings, requests };
}

/** The findings of a car in which all requests of some kind fail. */
async function scanFailing(fails: RegExp, answers: Answers): Promise<Finding[]> {
  const findings: Finding[] = [];
  const requester: DiagnosticRequester = {
    request: async ({ payload }) => {
      const request = hexOf(payload);
      if (fails.test(request)) throw new VigieError('input.malformed', `${request} is odd`);
      const answer = answers[request];
      return answer === undefined ? [] : [{ id: 0x7e8, payload: bytes(answer) }];
    },
  };
  for await (const finding of scanCar(requester, new ObdDecoder([standard()]))) findings.push(finding);
  return findings;
}

const VIN = '1G1JC5444R7252367';
const NO_VIN = 'no control unit gives a vehicle identification number';
const engine: Unit = {
  request: 0x7e0,
  response: 0x7e8,
  answers: {
    '0100': '4100 80180000',
    '0101': '4101 82 07 E5 00',
    '010C': '410C 1AF8',
    '010D': '410D 32',
    '0902': `490201${ascii(VIN)}`,
    '090A': `490A01${ascii('ECM-EngineControl').padEnd(40, '0')}`,
    '03': '4302 0301 0420',
    '07': '4700',
    '0A': '4A01 0301',
    '19020D': '5902FF 0301 1C 09',
  },
};
test.each([
  ['the number', /^0902/, ['service 09 02: 0902 is odd', NO_VIN]],
  [
    'all of service 09',
    /^09/,
    [...['02', '0A', '04', '06'].map((type) => `service 09 ${type}: 09${type} is odd`), NO_VIN],
  ],
  ['the lamp', /^0101/, ['service 01 01: 0101 is odd', '7E8 0101: 0101 is odd']],
  [
    'the number, also by identifier',
    /^(0902|22F190)/,
    ['service 09 02: 0902 is odd', '7E8 22F190: 22F190 is odd', NO_VIN],
  ],
  ['a later list of parameters', /^0120/, ['list 20 of service 01: 0120 is odd']],
] as const)('an invalid answer for %s costs only that item', async (_, fails, problems) => {
  const findings = await scanFailing(fails, { ...engine.answers, '0100': '4100 80180001', '0120': '4120 00000000' });
  expect(findings.flatMap((finding) => ('problem' in finding ? [finding.problem] : []))).toEqual(problems);
  expect(findings).toContainEqual(expect.objectContaining({ command: '010C' }));
  expect(findings.at(-1)).toMatchObject({
    faults: expect.arrayContaining([expect.objectContaining({ code: 'P0301' })]),
  });
});

const gearbox: Unit = {
  request: 0x7e1,
  response: 0x7e9,
  answers: { '0100': '4100 00080000', '010D': '410D 33', '03': '4300', '07': '4701 0730', '19020D': '7F1911' },
};

test('a car with two control units reports its VIN, parameters with values, and fault codes of all stores', async () => {
  const { findings } = await scan([engine, gearbox]);
  expect(findings).toMatchObject([
    { unit: '7E8', vin: VIN, name: 'ECM-EngineControl', lamp: true, parameters: ['01', '0C', '0D'] },
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
        { code: 'P0301', status: ['permanent'], unit: '7E8' },
        { code: 'P0301-1C', status: ['testFailed', 'confirmedDTC'], unit: '7E8' },
      ],
    },
  ]);
});

test('a car with 29-bit identifiers reports its VIN by F190 if service 09 has none', async () => {
  const answers = { '0100': '4100 00080000', '010D': '410D 32', '22F190': `62F190${ascii(VIN)}`, '03': '4300' };
  const { findings } = await scan([{ request: 0x18da10f1, response: 0x18daf110, answers }]);
  expect(findings).toMatchObject([
    { unit: '18DAF110', parameters: ['0D'] },
    { vin: VIN },
    { unit: '18DAF110', command: '010D', values: { VehicleSpeed: 50 } },
    { faults: [] },
  ]);
});

test('an announced parameter without an answer, and a damaged list of codes, cost only themselves', async () => {
  const answers = { ...engine.answers, '03': '4305 0301', '0100': '4100 000C0000', '010E': '7F0112' };
  const { findings } = await scan([{ ...engine, answers }]);
  expect(findings).toContainEqual({ problem: '7E8 010E: no answer, though the control unit lists it' });
  expect(findings).toContainEqual({ problem: 'service 03: the answer counts 5 trouble codes and holds 1' });
  expect(findings.at(-1)).toMatchObject({ faults: [{ status: ['permanent'] }, { code: 'P0301-1C' }] });
});

test('a car without the services of SAE J1979 reports its VIN', async () => {
  const { findings } = await scan([{ ...engine, answers: { '22F190': `62F190${ascii(VIN)}` } }]);
  expect(findings).toEqual([
    { unit: '7E8', parameters: [] },
    { vin: VIN },
    { problem: 'no control unit answers service 01 of SAE J1979: it has no standard values' },
  ]);
});

test('a car that is off reports nothing', async () => {
  expect((await scan([{ ...engine, answers: {} }])).findings).toEqual([]);
});
