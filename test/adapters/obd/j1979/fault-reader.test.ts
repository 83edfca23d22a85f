/** Reads fault codes over a real ISO-TP bus with several control units. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf, hexOf } from '../../../../adapters/obd/hex.ts';
import { IsoTp } from '../../../../adapters/obd/isotp/index.ts';
import { J1979FaultReader } from '../../../../adapters/obd/j1979/fault-reader.ts';
import type { DiagnosticRequester } from '../../../../adapters/obd/requester.ts';
import type { UnitFaults } from '../../../../agent/faults/reader.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { MemoryLog } from '../../../rig/log.ts';
import { Bus, batchOf, ControlUnit, extended, settled } from '../isotp/wire.ts';
import { standard } from '../standard.ts';

const hex = (text: string) => bytesOf(text.replaceAll(' ', '')) as Uint8Array;
const nothingKnown = (): boolean => false;

/** Answers by request, for each control unit by its response identifier. */
type Units = Readonly<Record<number, Readonly<Record<string, string>>>>;

/** A car on CAN. Requests and answers are sent as frames, long answers in several. */
function car(units: Units, wide = false) {
  const clock = new VirtualClock();
  const bus = new Bus(clock);
  const log = new MemoryLog();
  const requester = new IsoTp({ clock, sender: bus, bus: 'obd', index: 0, asleepAfter: Number.POSITIVE_INFINITY });
  bus.join((frame) => requester.receive(batchOf(frame)));
  const asked: string[] = [];
  const all = wide ? extended(0x18db33f1) : 0x7df;
  for (const [id, table] of Object.entries(units)) {
    const answers = Number(id);
    const own = wide ? extended(0x18da00f1 | ((answers & 0xff) << 8)) : answers - 8;
    new ControlUnit({
      clock,
      bus,
      listens: [own, all],
      answers: wide ? extended(answers) : answers,
      serve: (request) => {
        asked.push(`${answers.toString(16).toUpperCase()} ${hexOf(request)}`);
        const answer = table[hexOf(request)];
        return answer === undefined ? [] : [hex(answer)];
      },
    });
  }
  const reader = new J1979FaultReader({ requester, sets: [standard()], log });
  const read = async (known: (unit: string, code: string) => boolean = nothingKnown) => {
    const outcome = await settled(clock, reader.read(known));
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
  return { read, asked, log, bus };
}

test('the lists of several control units are read with 11-bit identifiers, long answers in several frames', async () => {
  const { read, log } = car({
    2024: {
      '0101': '4101 85 07 E5 00',
      '03': '43 05 0143 0301 0302 0303 0420',
      '07': '47 01 C100',
      '0A': '4A 01 0143',
    },
    2025: { '0101': '4101 00 04 00 00', '03': '43 00', '07': '47 02 4035 9ABC' },
  });
  expect(await read()).toEqual([
    {
      unit: '7E8',
      lamp: true,
      lists: { Stored: ['P0143', 'P0301', 'P0302', 'P0303', 'P0420'], Pending: ['U0100'], Permanent: ['P0143'] },
    },
    { unit: '7E9', lamp: false, lists: { Stored: [], Pending: ['C0035', 'B1ABC'] } },
  ]);
  expect(log.lines).toEqual([]);
});

test('a car with 29-bit identifiers is read, and the next reading begins with them', async () => {
  const { read, asked } = car({ 417001744: { '0101': '4101 80 00 00 00', '03': '43 01 0143' } }, true);
  const found = [{ unit: '18DAF110', lamp: true, lists: { Stored: ['P0143'] } }];
  expect(await read()).toEqual(found);
  expect(await read(() => true)).toEqual(found);
  expect(asked.filter((one) => one.endsWith(' 0101'))).toHaveLength(2);
});

test('a car that is off has no control units, and gets no request for lists', async () => {
  const { read, asked } = car({ 2024: { '03': '43 01 0143' } });
  expect(await read()).toEqual([]);
  expect(asked).toEqual(['7E8 0101']);
});

test('the freeze frame of a new code has values named like in the signal set', async () => {
  const engine = {
    '0101': '4101 81 00 00 00',
    '03': '43 01 0143',
    '020200': '4202 00 0143',
    // Parameters 02, 05, 0C and 0D.
    '020000': '4200 00 48 18 00 00',
    '020500': '4205 00 7B',
    '020C00': '420C 00 1A F8',
    '020D00': '420D 00 32',
  };
  const { read, asked } = car({ 2024: engine, 2025: { '0101': '4101 00 00 00 00', '03': '43 00' } });
  const [first] = await read();
  expect(first?.freezeFrame).toEqual({
    code: 'P0143',
    values: [
      { name: 'CoolantTemperature', value: 0x7b - 40, unit: 'celsius' },
      { name: 'EngineSpeed', value: 0x1af8 / 4, unit: 'rpm' },
      { name: 'EngineRunning', value: 1, unit: 'noyes' },
      { name: 'VehicleSpeed', value: 0x32, unit: 'kilometersPerHour' },
    ],
  });
  // Only this control unit gets requests for parameters.
  expect(asked).not.toContain('7E9 020C00');
  const before = asked.length;
  const [again] = await read((unit, code) => unit === '7E8' && code === 'P0143');
  expect(again).toEqual({ unit: '7E8', lamp: true, lists: { Stored: ['P0143'] } });
  expect(asked.slice(before).filter((one) => one.includes(' 02'))).toEqual([]);
});

/** Like {@link car}, but the first answer of 7E8 with this beginning comes too late. */
function carWithLateAnswer(units: Units, late: string) {
  const made = car(units);
  let isLate = true;
  made.bus.fate = ({ id, data }) => {
    if (!isLate || id !== 0x7e8 || !hexOf(data.subarray(1)).startsWith(late)) return [1];
    isLate = false;
    return [10_000];
  };
  return made;
}

const frozen = {
  '0101': '4101 81 00 00 00',
  '03': '43 01 0143',
  '020200': '4202 00 0143',
  // Parameters 0D and 20, then 2F.
  '020000': '4200 00 00 08 00 01',
  '020D00': '420D 00 32',
  '022000': '4220 00 00 02 00 00',
  '022F00': '422F 00 80',
};
const second = {
  '0101': '4101 00 00 00 00',
  '03': '43 00',
  '020000': '4200 00 00 00 00 01',
  '022000': '4220 00 00 00 00 00',
};

test.each([
  ['first', '4200'],
  ['second', '4220'],
])('no value of a freeze frame is missing if the %s list of its parameters comes late', async (_, late) => {
  const { read } = carWithLateAnswer({ 2024: frozen, 2025: second }, late);
  const [first] = await read();
  expect(first?.freezeFrame?.values.map(({ name, value }) => [name, value])).toEqual([
    ['VehicleSpeed', 0x32],
    ['FuelLevel', expect.closeTo((0x80 * 100) / 255)],
  ]);
});

test('a control unit that never answers with an announced list is asked for each of its parameters', async () => {
  const { '022000': _, ...silent } = frozen;
  const { read, asked } = car({ 2024: silent, 2025: second });
  const [first] = await read();
  expect(first?.freezeFrame?.values.map(({ name }) => name)).toEqual(['VehicleSpeed', 'FuelLevel']);
  expect(asked.filter((one) => one === '7E8 022000')).toHaveLength(2);
});

test('the freeze frame of another code, or an empty one, is not used for the new code', async () => {
  for (const cause of ['4202 00 0000', '4202 00 0301', '7F 02 12']) {
    const { read } = car({ 2024: { '0101': '4101 01 00 00 00', '03': '43 01 0143', '020200': cause } });
    expect(await read()).toEqual([{ unit: '7E8', lamp: false, lists: { Stored: ['P0143'] } }]);
  }
});

test('a list that is refused or garbled is omitted, and the others are read', async () => {
  const { read, log } = car({
    2024: { '0101': '4101 00 00 00 00', '03': '43 02 0143', '07': '47 01 0301', '0A': '7F 0A 11' },
  });
  expect(await read()).toEqual([{ unit: '7E8', lamp: false, lists: { Pending: ['P0301'] } }]);
  expect(log.lines.map(({ event, fields }) => [event, fields?.['unit']])).toEqual([['obd.faults.unreadable', '7E8']]);
});

test('an answer that breaks off costs only its list', async () => {
  const requester: DiagnosticRequester = {
    async request({ payload }) {
      const request = hexOf(payload);
      if (request === '03') throw new VigieError('input.malformed', 'the answer breaks off');
      if (request === '0101') return [{ id: 0x7e8, payload: hex('4101 80 00 00 00') }];
      return request === '07' ? [{ id: 0x7e8, payload: hex('47 01 0143') }] : [];
    },
  };
  const reader = new J1979FaultReader({ requester, sets: [], log: new MemoryLog() });
  expect(await reader.read(nothingKnown)).toEqual([{ unit: '7E8', lamp: true, lists: { Pending: ['P0143'] } }]);
});

test('the reading fails if no request can be sent', async () => {
  const requester: DiagnosticRequester = {
    request: async () => {
      throw new VigieError('input.unreadable', 'the line is gone');
    },
  };
  const reader = new J1979FaultReader({ requester, sets: [], log: new MemoryLog() });
  await expect(reader.read(nothingKnown)).rejects.toMatchObject({ code: 'input.unreadable' });
});

test('messages with three codes each, from buses before CAN, become one list, under the six-digit header', async () => {
  const requester: DiagnosticRequester = {
    async request({ payload }) {
      const said: Readonly<Record<string, readonly string[]>> = {
        '0101': ['4101 84 00 00 00'],
        '03': ['43 0143 0301 C100', '43 9ABC 0000 0000'],
      };
      return (said[hexOf(payload)] ?? []).map((answer) => ({ id: 0x486b10, payload: hex(answer) }));
    },
  };
  const reader = new J1979FaultReader({ requester, sets: [], log: new MemoryLog() });
  expect(await reader.read(nothingKnown)).toEqual([
    { unit: '486B10', lamp: true, lists: { Stored: ['P0143', 'P0301', 'U0100', 'B1ABC'] } },
  ]);
});

/** A second implementation of ISO 15031-6 §5, by text of ones and zeros. */
function naiveCode(bytes: string): string {
  const bits = [...bytes].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
  const letter = { '00': 'P', '01': 'C', '10': 'B', '11': 'U' }[bits.slice(0, 2)];
  const digits = (bits.slice(4).match(/.{4}/g) ?? []).map((four) =>
    Number.parseInt(four, 2).toString(16).toUpperCase(),
  );
  return `${letter}${Number.parseInt(bits.slice(2, 4), 2)}${digits.join('')}`;
}

test('all listed codes equal those of a naive second decoder', async () => {
  const code = fc.integer({ min: 1, max: 0xffff }).map((raw) => raw.toString(16).toUpperCase().padStart(4, '0'));
  const list = fc.uniqueArray(code, { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(list, list, list, async (stored, pending, permanent) => {
      const answer = (service: string, codes: readonly string[]) =>
        `${service}${codes.length.toString(16).padStart(2, '0')}${codes.join('')}`;
      const { read } = car({
        2024: { '0101': '4101 00 00 00 00', '03': answer('43', stored), '07': answer('47', pending) },
        2027: { '0101': '4101 00 00 00 00', '0A': answer('4A', permanent) },
      });
      const expected: UnitFaults[] = [
        { unit: '7E8', lamp: false, lists: { Stored: stored.map(naiveCode), Pending: pending.map(naiveCode) } },
        { unit: '7EB', lamp: false, lists: { Permanent: permanent.map(naiveCode) } },
      ];
      expect(await read()).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});
