/** Extracts the VIN and fault codes from the output of an adapter. The messages are worked examples of SAE J1979. */
import { expect, test } from 'vitest';
import { readResponse } from '../../../../adapters/obd/index.ts';
import { readStandardAnswers } from '../../../../adapters/obd/j1979/index.ts';
import { printed } from '../../../golden/naive-isotp.ts';

const read = (text: string, command?: string) => readStandardAnswers(readResponse(text, () => false).messages, command);
const ascii = (text: string) => [...text].map((character) => character.charCodeAt(0));
const VIN = '1G1JC5444R7252367';
const vinOn = (header: string, vin = VIN) => printed([0x49, 0x02, 0x01, ...ascii(vin)], { header, spaces: true });

test('the VIN is read from service 09 on CAN, and from data identifier F190', () => {
  expect(read(vinOn('7E8'))).toEqual({ vin: VIN });
  expect(read(printed([0x62, 0xf1, 0x90, ...ascii(VIN)], { header: '18DAF110', filler: 0xaa }))).toEqual({ vin: VIN });
});

test('the VIN is read from the five messages of buses before CAN (SAE J1979 §6.9)', () => {
  const parts = [[0, 0, 0, 0x31], ...[0, 4, 8, 12].map((at) => ascii(VIN.slice(1 + at, 5 + at)))];
  const lines = parts.map((part, i) => {
    const bytes = [0x48, 0x6b, 0x10, 0x49, 0x02, i + 1, ...part];
    bytes.push(bytes.reduce((sum, byte) => sum + byte, 0) & 0xff);
    return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  });
  expect(read(lines.join('\r'))).toEqual({ vin: VIN });
});

test('a control unit with a different VIN is listed as well', () => {
  expect(read([vinOn('7E8'), vinOn('7E9'), vinOn('7EA', 'VF3CC5FS0GT000001')].join('\r'))).toEqual({
    vin: VIN,
    otherVins: ['VF3CC5FS0GT000001'],
  });
});

test('fault codes of services 03, 07 and 0A have their store as status, and their control unit', () => {
  expect(read('7E8 06 43 02 03 01 C1 00\r7E9 04 47 01 04 20\r7E8 04 4A 01 03 01').faults).toMatchObject([
    { code: 'P0301', status: ['confirmed'], unit: '7E8', name: 'misfire: in cylinder 1', system: 'powertrain' },
    { code: 'U0100', status: ['confirmed'], unit: '7E8', system: 'network' },
    { code: 'P0301', status: ['permanent'], unit: '7E8' },
    { code: 'P0420', status: ['pending'], unit: '7E9' },
  ]);
});

test('fault codes of service 19 have the bits of their status', () => {
  expect(read('7E8 07 59 02 FF 03 01 1C 09')).toMatchObject({
    faults: [{ code: 'P0301-1C', failureType: 0x1c, status: ['testFailed', 'confirmedDTC'] }],
  });
});

test('a control unit without fault codes yields an empty list, and a repeated answer counts once', () => {
  expect(read('7E8 02 43 00')).toEqual({ faults: [] });
  const answer = '7E8 04 43 01 03 01';
  expect(read(`${answer}\r${answer}`).faults).toHaveLength(1);
});

test('only the answers to a named command are read', () => {
  const text = `7E8 02 43 00\r${vinOn('7E8')}`;
  expect(read(text, '03')).toEqual({ faults: [] });
  expect(read(text, '7E0.0902')).toEqual({ vin: VIN });
  expect(read(text, '010D')).toEqual({});
  expect(read(text)).toEqual({ vin: VIN, faults: [] });
});

test('a damaged answer is an error unless another control unit answers properly', () => {
  expect(() => read('7E8 04 43 02 03 01')).toThrow('counts 2 trouble codes and holds 1');
  expect(() => read(vinOn('7E8', '1G1JC5444R725236O'))).toThrow('not a vehicle identification number');
  expect(read('7E8 04 43 02 03 01\r7E9 02 43 00')).toEqual({ faults: [] });
});
