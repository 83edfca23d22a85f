/** Reads fault codes by UDS from simulated control units over a real ISO-TP bus. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf, hexOf } from '../../../../adapters/obd/hex.ts';
import { IsoTp } from '../../../../adapters/obd/isotp/index.ts';
import { UdsFaultReader } from '../../../../adapters/obd/uds/fault-reader.ts';
import { defined } from '../../../../protocol/defined.ts';
import type { ControlUnit as ListedUnit } from '../../../../protocol/profile.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { MemoryLog } from '../../../rig/log.ts';
import { Bus, batchOf, ControlUnit, extended, settled } from '../isotp/wire.ts';
import { standard } from '../standard.ts';

const hex = (text: string) => bytesOf(text.replaceAll(' ', '')) as Uint8Array;
const nothingKnown = (): boolean => false;

/** Answers by request; several answers to a request are sent in sequence. */
type Answers = Record<string, string | readonly string[]>;

interface Simulated {
  readonly listed: Partial<ListedUnit> & { readonly address: ListedUnit['address'] };
  readonly listens: number;
  readonly answers: number;
  readonly table: Answers;
}

const battery = (table: Answers, name?: string): Simulated => ({
  listed: { ...defined({ name }), address: { request: 0x7a6, extended: false } },
  listens: 0x7a6,
  answers: 0x7ae,
  table,
});

function car(units: readonly Simulated[]) {
  const clock = new VirtualClock();
  const bus = new Bus(clock);
  const log = new MemoryLog();
  const requester = new IsoTp({ clock, sender: bus, bus: 'body', index: 0, asleepAfter: Number.POSITIVE_INFINITY });
  bus.join((frame) => requester.receive(batchOf(frame)));
  const asked: string[] = [];
  for (const { listed, listens, answers, table } of units) {
    const { target, source } = listed.address;
    new ControlUnit({
      clock,
      bus,
      listens: [listens],
      answers,
      ...defined({ address: target, source }),
      serve: (request) => {
        asked.push(hexOf(request));
        return [table[hexOf(request)] ?? []].flat().map(hex);
      },
    });
  }
  const listed = units.map((unit) => ({ bus: 'body', statusMask: 0x0d, ...unit.listed, requester }));
  const reader = new UdsFaultReader({ units: listed, sets: [standard()], clock, log });
  const read = async (known: (unit: string, code: string) => boolean = nothingKnown) => {
    const outcome = await settled(clock, reader.read(known));
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
  return { read, asked, log, clock };
}

const empty = {
  Stored: [],
  Pending: [],
  TestFailed: [],
  TestFailedThisCycle: [],
  TestNotCompletedSinceClear: [],
  TestFailedSinceClear: [],
  TestNotCompletedThisCycle: [],
  WarningIndicator: [],
};

test('codes of three bytes have their failure type and every status bit, in several frames', async () => {
  const { read, asked } = car([battery({ '19020D': '5902FF 01431C09 C1000004 9ABC11F2 0A0B9260' }, 'Battery')]);
  const [found, ...others] = await read();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ unit: '7AE', uds: { name: 'Battery' } });
  expect(found?.lists).toEqual({
    TestFailed: ['P0143-1C'],
    TestFailedThisCycle: ['B1ABC-11'],
    Pending: ['U0100-00'],
    Stored: ['P0143-1C'],
    TestNotCompletedSinceClear: ['B1ABC-11'],
    TestFailedSinceClear: ['B1ABC-11', 'P0A0B-92'],
    TestNotCompletedThisCycle: ['B1ABC-11', 'P0A0B-92'],
    WarningIndicator: ['B1ABC-11'],
  });
  expect(asked[0]).toBe('19020D');
});

test('a control unit without codes has empty lists, which end its earlier codes', async () => {
  const { read, log } = car([battery({ '19020D': '5902FF' })]);
  expect(await read()).toEqual([{ unit: '7AE', lists: empty, uds: { details: new Map() } }]);
  expect(log.lines).toEqual([]);
});

test('the reader waits for an announced answer and for a busy unit', async () => {
  const table: Answers = { '19020D': ['7F1978', '7F1978', '5902FF 01431C08'] };
  expect((await car([battery(table)]).read())[0]?.lists.Stored).toEqual(['P0143-1C']);
  const busy: Answers = { '19020D': '7F1921' };
  const { read, clock } = car([battery(busy)]);
  clock.after(150, () => {
    busy['19020D'] = '5902FF 01431C08';
  });
  expect((await read())[0]?.lists.Stored).toEqual(['P0143-1C']);
});

test('a new code has its snapshot and extended data as bytes, and SAE J1979 parameters as values', async () => {
  const { read, asked } = car([
    battery({
      '19020D': '5902FF 01431C09',
      // One record with three identifiers: speed, coolant temperature, and one of the manufacturer.
      '190401431CFF': '590401431C09 01 03 F40D 32 F405 7B D101 0102',
      '190601431CFF': '590601431C09 01 05 02 0A',
    }),
  ]);
  const [found] = await read();
  expect(found?.uds?.details.get('P0143-1C')).toEqual({
    freezeFrame: [
      { name: 'VehicleSpeed', value: 50, unit: 'kilometersPerHour' },
      { name: 'CoolantTemperature', value: 83, unit: 'celsius' },
    ],
    snapshot: '0103F40D32F4057BD1010102',
    extendedData: '0105020A',
  });
  expect(asked).toEqual(['19020D', '190401431CFF', '190601431CFF']);
});

test('a known code causes no request for its snapshot, and every request belongs to service 19', async () => {
  const { read, asked } = car([battery({ '19020D': '5902FF 01431C09 C1000008' })]);
  await read((unit, code) => unit === '7AE' && code === 'P0143-1C');
  expect(asked).toEqual(['19020D', '1904C10000FF', '1906C10000FF']);
  await read();
  expect(asked.every((one) => one.startsWith('19'))).toBe(true);
});

test('a code without a snapshot does not affect others; a unit without any snapshot is asked once', async () => {
  const codes = '5902FF 01431C09 C1000008';
  const some = car([
    battery({ '19020D': codes, '190401431CFF': '7F1931', '1904C10000FF': '5904C10000 08 01 01 F40D 32' }),
  ]);
  const [found] = await some.read();
  expect(found?.uds?.details.get('P0143-1C')).toEqual({ freezeFrame: [] });
  expect(found?.uds?.details.get('U0100-00')).toMatchObject({ snapshot: '0101F40D32' });
  const none = car([battery({ '19020D': codes, '190401431CFF': '7F1912', '190601431CFF': '7F1912' })]);
  await none.read();
  expect(none.asked).toEqual(['19020D', '190401431CFF', '190601431CFF']);
});

test('a snapshot that is too short or too long yields no values, and is reported', async () => {
  const long = `590401431C09 01 01 ${'F40D'}${'32'.repeat(513)}`;
  const { read, log } = car([
    battery({
      '19020D': '5902FF 01431C09 C1000008',
      '190401431CFF': long,
      '1904C10000FF': '5904C1000008 01 02 F40C 32',
    }),
  ]);
  const [found] = await read();
  expect(found?.uds?.details.get('P0143-1C')).not.toHaveProperty('snapshot');
  expect(found?.uds?.details.get('U0100-00')).toEqual({ freezeFrame: [], snapshot: '0102F40C32' });
  expect(log.lines.map(({ event, fields }) => [event, fields?.['error']])).toEqual([
    ['obd.faults.unreadable', 'snapshot of P0143-1C has 517 bytes; records have at most 512'],
  ]);
});

test('control units with 29-bit identifiers and extended addressing are read at their addresses', async () => {
  const { read } = car([
    {
      listed: { address: { request: 0x18da40f1, extended: true } },
      listens: extended(0x18da40f1),
      answers: extended(0x18daf140),
      table: { '19020D': '5902FF 01431C08' },
    },
    {
      listed: { address: { request: 0x750, response: 0x758, extended: false, target: 0x2a, source: 0x2a } },
      listens: 0x750,
      answers: 0x758,
      table: { '19020D': '5902FF C1000008' },
    },
    {
      listed: { address: { request: 0x750, response: 0x758, extended: false, target: 0x40, source: 0x40 } },
      listens: 0x750,
      answers: 0x758,
      table: { '19020D': '5902FF C1200008' },
    },
  ]);
  expect((await read()).map(({ unit, lists }) => [unit, lists.Stored])).toEqual([
    ['18DAF140', ['P0143-1C']],
    ['758-2A', ['U0100-00']],
    ['758-40', ['U0120-00']],
  ]);
});

test.each([
  ['silent', undefined, 'no whole answer'],
  ['refusing', '7F1911', 'service not supported'],
  ['garbled', '5902FF 0143', '2 of 4 bytes'],
])('a control unit that is %s is skipped and reported once, and the others are read', async (_, answer, why) => {
  const table: Answers = defined({ '19020D': answer });
  const gearbox: Simulated = {
    listed: { address: { request: 0x7e1, extended: false } },
    listens: 0x7e1,
    answers: 0x7e9,
    table: { '19020D': '5902FF' },
  };
  const { read, log } = car([battery(table), gearbox]);
  expect((await read()).map(({ unit }) => unit)).toEqual(['7E9']);
  await read();
  expect(log.lines.map(({ event, fields }) => [event, fields?.['unit']])).toEqual([['faults.unitUnread', '7AE']]);
  expect(log.lines[0]?.fields?.['why']).toContain(why);
  table['19020D'] = '5902FF';
  expect(await read()).toHaveLength(2);
  delete table['19020D'];
  await read();
  expect(log.lines).toHaveLength(2);
});

/** A second implementation of ISO 15031-6 §5 and ISO 14229-1 Annex D.2, by text of ones and zeros. */
function naive(code: string, status: string) {
  const ones = (digits: string) =>
    [...digits].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
  const bits = ones(code);
  const letter = { '00': 'P', '01': 'C', '10': 'B', '11': 'U' }[bits.slice(0, 2)];
  const names = ['WarningIndicator', 'TestNotCompletedThisCycle', 'TestFailedSinceClear', 'TestNotCompletedSinceClear'];
  const all = [...names, 'Stored', 'Pending', 'TestFailedThisCycle', 'TestFailed'];
  return {
    code: `${letter}${Number.parseInt(bits.slice(2, 4), 2)}${code.slice(1, 4)}-${code.slice(4)}`,
    bits: all.filter((_, i) => ones(status)[i] === '1'),
  };
}

test('all reported codes equal those of a naive second decoder, and are requested by their bytes', async () => {
  const digits = (length: number) =>
    fc.integer({ min: 0, max: 16 ** length - 1 }).map((raw) => raw.toString(16).toUpperCase().padStart(length, '0'));
  const codes = fc.uniqueArray(fc.tuple(digits(6), digits(2)), { maxLength: 30, selector: ([code]) => code });
  await fc.assert(
    fc.asyncProperty(codes, async (reported) => {
      const { read, asked } = car([battery({ '19020D': `5902FF${reported.flat().join('')}` })]);
      const [found] = await read();
      const expected: Record<string, string[]> = structuredClone(empty);
      for (const [code, status] of reported) {
        const one = naive(code, status);
        for (const bit of one.bits) expected[bit]?.push(one.code);
      }
      expect(found?.lists).toEqual(expected);
      const [first] = reported;
      if (first !== undefined) expect(asked[1]).toBe(`1904${first[0]}FF`);
    }),
    { numRuns: 20 },
  );
});
