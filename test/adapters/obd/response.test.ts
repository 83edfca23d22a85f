import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readResponse } from '../../../adapters/obd/index.ts';
import { valuesOf } from './sets.ts';

const read = (text: string) => readResponse(text, () => false);
const messages = (text: string) =>
  read(text).messages.map(({ header, data }) => [header, Buffer.from(data).toString('hex').toUpperCase()]);

const VIN = '4902013144344750303052353542313233343536';

describe('the output of an adapter', () => {
  it.each([
    ['11 bits with spaces', '7E8 03 41 0D 32 \r\r>', '7E8', '410D32'],
    ['11 bits without', '7E803410D32\r', '7E8', '410D32'],
    ['lower case', '7e803410d32', '7E8', '410D32'],
    ['11 bits with the data length', '7E8 8 03 41 0D 32 00 00 00 00', '7E8', '410D32'],
    ['29 bits with spaces', '18 DA F1 10 03 41 0D 32', '18DAF110', '410D32'],
    ['29 bits without', '18DAF11003410D32AAAAAAAA', '18DAF110', '410D32'],
    ['padding', '7E8 03 41 0D 32 55 55 55 55', '7E8', '410D32'],
    ['no header', '41 0D 32', '', '410D32'],
    ['no header, no spaces', '410D32', '', '410D32'],
    ['ISO 9141-2', '48 6B 10 41 0D 32 43', '486B10', '410D32'],
    ['J1850 VPW', '48 6B 10 41 0D 32 BA', '486B10', '410D32'],
    ['J1850 PWM', '41 6B 10 41 00 BE 3E B8 11 90', '416B10', '4100BE3EB811'],
    ['ISO 14230-4', '83 F1 11 41 0D 32 05', '83F111', '410D32'],
    ['an echo', '010D\r7E8 03 41 0D 32\r\r>', '7E8', '410D32'],
    ['an echo with the count of answers', '010D1\r7E803410D32', '7E8', '410D32'],
    ['an echo of a DID', '22 F1 90 1\r7E8 04 62 F1 90 32', '7E8', '62F19032'],
    ['a search on its own line', 'SEARCHING...\r7E8 03 41 0D 32', '7E8', '410D32'],
    ['a search on the same line', 'SEARCHING...41 0D 32', '', '410D32'],
    ['an initialised bus', 'BUS INIT: ...OK\r41 0D 32', '', '410D32'],
    ['NUL bytes', '\0\x007E8 03 41 0D 32', '7E8', '410D32'],
    ['a CAN FD single frame', '7E8 00 0A 62 F1 90 01 02 03 04 05 06 07', '7E8', '62F19001020304050607'],
    [
      'lines with a length',
      '014 \r0: 49 02 01 31 44 34 \r1: 47 50 30 30 52 35 35 \r2: 42 31 32 33 34 35 36 \r',
      '',
      VIN,
    ],
    ['the same without spaces', '014\r0:490201314434\r1:47503030523535\r2:42313233343536', '', VIN],
    ['padded lines', '013\r0:490201314434\r1:47503030523535\r2:42313233343555', '', VIN.slice(0, -2)],
  ])('%s', (_, text, header, data) => {
    expect(messages(text)).toEqual([[header, data.slice(0, text.startsWith('013') ? 38 : undefined)]]);
    expect(read(text)).toMatchObject({ faults: [], complaints: [] });
  });

  it.each([
    ['NO DATA\r\r>', /^NO DATA: no ECU/],
    ['SEARCHING...\rUNABLE TO CONNECT', /^UNABLE TO CONNECT/],
    ['BUFFER FULL', /^BUFFER FULL/],
    ['STOPPED', /^STOPPED/],
    ['SEARCHING...STOPPED', /STOPPED/],
    ['CAN ERROR', /^CAN ERROR/],
    ['BUS INIT: ...ERROR', /could not be initialised/],
    ['41 0D <DATA ERROR', /wrong checksum/],
    ['?', /does not know the command/],
    ['hello', /neither hexadecimal/],
    ['7G8 03', /neither hexadecimal/],
  ])('contains the error %j', (text, message) => {
    expect(read(text)).toMatchObject({ messages: [], faults: [] });
    expect(read(text).complaints[0]).toMatch(message);
    expect(() => valuesOf(text)).toThrow(message);
  });

  it('contains frames of several ECUs in any order', () => {
    const first = ['7E8 10 14 49 02 01 31 44 34', '7E8 21 47 50 30 30 52 35 35', '7E8 22 42 31 32 33 34 35 36'];
    const second = ['7E9 10 0A 49 04 01 41 42 43', '7E9 21 44 45 46 47 00 00 00'];
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 0, 0, 1, 1], { minLength: 5 }), (order) => {
        const rest = [[...first], [...second]];
        const lines = order.map((i) => rest[i]?.shift());
        const found = messages(lines.join('\r'));
        expect(found).toContainEqual(['7E8', VIN]);
        expect(found).toContainEqual(['7E9', '49040141424344454647']);
        expect(found).toHaveLength(2);
      }),
    );
  });

  it('contains sequence numbers that restart after F', () => {
    const frames = Array.from({ length: 30 }, (_, i) => `7E82${((i + 1) & 15).toString(16)}${'41'.repeat(7)}`);
    const text = ['7E810D8490201414141', ...frames].join('\r');
    expect(messages(text)).toEqual([['7E8', `490201${'41'.repeat(213)}`]]);
  });

  it.each([
    ['7E81014490201314434\r7E82242313233343536', /consecutive frame 1 is missing or out of order: 2 came/],
    ['7E81014490201314434\r7E82147503030523535', /consecutive frames are missing: 13 of 20 bytes/],
    ['7E81014490201314434', /consecutive frames are missing: 6 of 20 bytes/],
    ['7E82147503030523535', /frame 1 came without a first frame/],
    ['7E81014490201314434\r7E82242313233343536\r7E82147503030523535', /out of order/],
    ['7E81014490201314434\r7E82147503030523535\r7E82147503030523535', /frame 2 is missing or out of order: 1 came/],
    ['7E804410D', /a single frame is cut: 2 of 4/],
    ['7E8F0410D', /unknown type 15/],
    ['014\r0:490201314434\r2:42313233343536', /line 1: is missing or out of order: 2: came/],
    ['014\r0:490201314434\r1:47503030523535', /13 of 20 bytes/],
    ['014\r0:490201314434\r0:490201314434', /several ECUs/],
  ])('lacks a frame, which is reported: %j', (text, message) => {
    expect(() => valuesOf(text)).toThrow(message);
    expect(() => valuesOf(text)).toThrow('the answer is incomplete');
  });
});
