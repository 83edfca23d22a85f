/** Contents of recorded answers, and texts of scans. */
import { describe, expect, test } from 'vitest';
import { ObdDecoder } from '../../../../adapters/obd/index.ts';
import { readAnswer, ScanDump } from '../../../../adapters/obd/recorded/index.ts';
import { raw, setOf, standard } from '../sets.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'hex');
const decoder = new ObdDecoder([standard]);
const read = (unit: string, answer: string, request?: string) =>
  readAnswer(decoder, unit, bytes(answer), request === undefined ? undefined : bytes(request));

describe('an answer', () => {
  test('of several parameters has the values of all', () => {
    expect(read('7E8', '410C0FA00D3C', '010C0D')).toEqual({
      commands: ['7E0.7E8.010C', '7E0.7E8.010D'],
      values: { RPM: 1000, VSS: 60 },
    });
  });

  test('that refuses has its code', () => {
    expect(read('7E8', '7F2231', '22F190')).toEqual({
      refused: { service: 0x22, code: 0x31, meaning: 'request out of range' },
    });
  });

  test('that no set describes has its bytes', () => {
    expect(read('7E8', '62D00105', '22D001')).toEqual({ data: '62D00105' });
    expect(read('7E8', '410C0FA00501', '010C05')).toMatchObject({ values: { RPM: 1000 }, data: '410C0FA00501' });
  });

  test('of another control unit has no values of a manufacturer’s command', () => {
    const answer = '62C00B00000000C8';
    expect(read('7A8', answer, '22C00B')).toMatchObject({ values: { TIRE: 40 } });
    expect(read('7E8', answer, '22C00B')).toEqual({ data: answer });
    const unnamed = new ObdDecoder([setOf({ hdr: '7E4', cmd: { '22': '0101' }, signals: [raw('SOC')] })]);
    expect(readAnswer(unnamed, '7EC', bytes('62010132'), undefined)).toMatchObject({ values: { SOC: 50 } });
    expect(readAnswer(unnamed, '7E8', bytes('62010132'), undefined)).toEqual({ data: '62010132' });
  });

  test('to several identifiers is not taken apart by guessing', () => {
    expect(read('7A8', '62C00B00000000C8F19031', '22C00BF190')).toEqual({
      data: '62C00B00000000C8F19031',
      error: 'the request names 2 identifiers, and the answer does not say where each begins',
    });
  });

  test('has VIN and fault codes', () => {
    const vin = '1G1JC5444R7252367';
    expect(read('7E8', `490201${Buffer.from(vin).toString('hex')}`, '0902').vin).toBe(vin);
    expect(read('7E9', '43010301', '03').faults).toMatchObject([{ code: 'P0301', unit: '7E9' }]);
  });
});

describe('a scan', () => {
  const scan = (text: string): object[] => {
    const dump = new ScanDump();
    return [...text.split('\n').flatMap((line) => dump.line(line)), ...dump.end()].map((exchange) =>
      'request' in exchange
        ? {
            ...exchange,
            request: Buffer.from(exchange.request).toString('hex'),
            ...(exchange.answer === undefined ? {} : { answer: Buffer.from(exchange.answer).toString('hex') }),
          }
        : exchange,
    );
  };

  test('names an identifier of 16 bits, and no service: 0100 is not parameter 00 of service 01', () => {
    expect(scan('7e0[7e8]:0100 00\nScan complete\n7e4[7ec]:4910 25 80')).toEqual([
      { to: '7E0', unit: '7E8', request: '220100', answer: '62010000' },
      { to: '7E4', unit: '7EC', request: '224910', answer: '6249102580' },
    ]);
  });

  test('has the service of its first line', () => {
    const head = 'Scan started: bus 1, ecu 7e0, rxid 7e8-7e8, polltype 22, PID c-d, timeout 3 seconds\n';
    expect(scan(`${head}7e0[7e8]:000c 01`)).toMatchObject([{ request: '22000c', answer: '62000c01' }]);
    expect(scan(`${head.replace('22', '21')}7e0[7e8]:000c 01`)).toMatchObject([
      { error: expect.stringContaining('a scan of service 21 leaves out the first data byte') },
    ]);
    expect(scan('7e0[7e8]:000c 01')).toMatchObject([{ error: expect.stringContaining('does not name the service') }]);
  });

  test('has the responses and errors of single requests', () => {
    const lines = [
      '7e0[7e8] 22F190: Response:',
      '31 47 31 4a 43 35 34 34 34 52 37 32 35 32 33 36 | 1G1JC5444R725236',
      '37                                              | 7               ',
      '7e0[7e8] 22F191: ERROR: request failed with response error code 31 requestOutOfRange',
      '7e0[7e8] 0100: ERROR: timeout waiting for poller/response',
      '7df[0] 010D: Response:',
      '3c                                              | <               ',
      '18da10f1[18daf110] 2101: Response:',
      '05                                              | .               ',
    ];
    expect(scan(lines.join('\n'))).toEqual([
      {
        to: '7E0',
        unit: '7E8',
        request: '22f190',
        answer: `62f190${Buffer.from('1G1JC5444R7252367').toString('hex')}`,
      },
      { to: '7E0', unit: '7E8', request: '22f191', answer: '7f2231' },
      { to: '7E0', unit: '7E8', request: '0100', error: 'timeout waiting for poller/response' },
      { to: '7DF', unit: '', request: '010d', answer: '410d3c' },
      { to: '18DA10F1', unit: '18DAF110', request: '2101', answer: '610105' },
    ]);
  });

  test.each(['7e0[7e8]:0100 0', '7e0[7e8]:01 00 00', '7e0[7e8]:010c0fa0', '7e0[7e8] 41 0c', '7e0[7e8]:0100 00 zz'])(
    'refuses %j by name',
    (line) => expect(scan(line)).toMatchObject([{ error: expect.stringContaining('an unknown form of a scan') }]),
  );
});
