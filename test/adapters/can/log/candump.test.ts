import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { readText } from './frames.ts';

const latin = (lines: readonly string[]) => Buffer.from(lines.join(''), 'latin1');
const line = async (text: string) => (await readText(`(1.5) can0 001#\n${text}\n`)).frames[1];

describe('candump lines', () => {
  it.each([
    [
      '(1436509052.249713) vcan0 044#2A366C2BBA',
      { at: 1_436_509_052_249.713, id: 0x44, length: 5, data: '2a366c2bba' },
    ],
    ['(166) vcan0 21A#FE', { at: 166_000, id: 0x21a, data: 'fe' }],
    ['(166.5) slcan-1 21a#fe36', { at: 166_500, bus: 'slcan-1', data: 'fe36' }],
    ['(1.0) can1 12345678#R', { id: (0x12345678 | EXTENDED | REMOTE) >>> 0, length: 0 }],
    ['(1.0) can1 123#R5', { id: (0x123 | REMOTE) >>> 0, length: 5, data: '0000000000' }],
    ['(1.0) can1 20000080#0000000000000008', { id: (ERROR | 0x80) >>> 0, length: 8, data: '0000000000000008' }],
    ['(1.0) can1 123##3112233', { flags: FD | BIT_RATE_SWITCH | ERROR_STATE, length: 3, data: '112233' }],
    ['(1.0) can1 123##4', { flags: FD, length: 0 }],
    [`(1.0) can1 1F334455##1${'ab'.repeat(64)}`, { flags: FD | BIT_RATE_SWITCH, length: 64, data: 'ab'.repeat(64) }],
    ['(1.0) can1 123#1122334455667788_9', { length: 8, data: '1122334455667788' }],
    ['(1.0) can1 123#11.22.33', { length: 3, data: '112233' }],
    ['(1.0) can1 123#11 T', { flags: SENT, length: 1 }],
    ['(1.0) can1 123#11 R\r', { flags: 0, length: 1 }],
    ['  (1.0)  can1  123#11  ', { bus: 'can1', length: 1 }],
  ])('%s', async (text, expected) => {
    expect(await line(text)).toMatchObject(expected);
  });

  it.each([
    '(1436509052.249713) vcan0 044#2A366C2BB',
    '(1436509052.249713) vcan0 044#2A366C2BGA',
    '(1436509052.249713) vcan0 044#112233445566778899',
    '(1436509052.249713) vcan0 0G4#11',
    '(1436509052.249713) vcan0 FFF#11',
    '(1436509052.249713) vcan0 FFFFFFFF#11',
    '(1436509052.249713) vcan0 1234#11',
    '(14365090x2.249713) vcan0 044#11',
    '(1436509052.24971:) vcan0 044#11',
    '(1436509052,249713 vcan0 044#11',
    '1436509052.249713 vcan0 044#11',
    '(1436509052.249713) vcan0',
    '(1436509052.249713) vcan0 04411',
    '(1436509052.249713) vcan0 044#R9',
    '(1436509052.249713) vcan0 044##g11',
    `(1436509052.249713) vcan0 044##1${'00'.repeat(65)}`,
    '(1436509052.249713) vcan0 044#11 X',
  ])('counts %s as broken', async (text) => {
    // The good lines place the broken one both within the fast scan and near the end of the file, where the slow parser
    // works.
    const good = '(1436509052.249713) vcan0 044#2A366C2BBA\n';
    const read = await readText(`${good.repeat(10)}${text}\n${good.repeat(10)}${text}\n`);
    expect(read.frames).toHaveLength(20);
    expect(read.faults).toBe(2);
    expect(read.messages.map((message) => message.split(':')[0])).toEqual(['11', '22']);
    expect(new Set(read.frames.map((frame) => `${frame.bus} ${frame.data}`))).toEqual(new Set(['vcan0 2a366c2bba']));
  });

  it('reads the same from the fast scan as from the slow parser', async () => {
    const lines = [
      '(1436509052.249713) can0 7FF#0011223344556677',
      '(1436509052.249714) can1 1FFFFFFF#',
      '(1436509052.249715) can0 123##1112233445566778899AABBCC',
      '(9999999999.999999) can10 001#01',
      '(0000000000.000001) can1 00000001#FFFFFFFFFFFFFFFF',
    ];
    const fast = await readText(
      lines
        .map((text) => `${text}\n`)
        .join('')
        .repeat(40),
    );
    expect(fast.faults).toBe(0);
    const slow = await readText(lines.map((text) => ` ${text}\r\n`).join(''));
    expect(fast.frames).toHaveLength(200);
    for (let i = 0; i < 40; i++) expect(fast.frames.slice(i * 5, i * 5 + 5)).toEqual(slow.frames);
  });

  it('does not accept a time that is not written in digits, even if the previous line was valid', async () => {
    const good = '(1436509052.249713) can0 044#2A366C2BBA\n';
    const { frames, messages } = await readText(`${good}(${'\0'.repeat(10)}.249713) can0 044#11\n${good.repeat(8)}`);
    expect(frames).toHaveLength(9);
    expect(messages).toEqual([expect.stringMatching(/^2: /)]);
  });

  it('the fast scan and the slow parser agree on lines with any one character changed', async () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789ABCDEFabcdef'), minLength: length, maxLength: length });
    const one = fc
      .record({
        second: fc.constantFrom('1436509052', '1436509053', '0000000000'),
        micros: fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 6, maxLength: 6 }),
        name: fc.constantFrom('a', 'ab', 'bus', 'can0', 'can1', 'vcan0', 'a-longer-name'),
        id: fc.constantFrom('7FF', '0a1', '1FFFFFFF', '00000001'),
        data: fc.integer({ min: 0, max: 8 }).chain((bytes) => hex(bytes * 2)),
        damage: fc.option(fc.tuple(fc.nat(60), fc.constantFrom('\0', ' ', '0', 'F', 'G', '/', ':', '#', ')', '\xff'))),
      })
      .map(({ second, micros, name, id, data, damage }) => {
        const text = `(${second}.${micros}) ${name} ${id}#${data}`;
        if (damage === null) return text;
        const at = damage[0] % text.length;
        return text.slice(0, at) + damage[1] + text.slice(at + 1);
      });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (lines) => {
        // The good lines keep all others away from the end of the file, which the slow parser always reads.
        const good = '(1436509052.249713) can0 044#2A366C2BBA';
        const all = [good, ...lines, ...new Array<string>(8).fill(good)];
        const fast = await readText(latin(all.map((text) => `${text}\n`)));
        const slow = await readText(latin(all.map((text) => ` ${text}\n`)));
        expect(fast.frames).toEqual(slow.frames);
        expect(fast.messages).toEqual(slow.messages);
      }),
      { numRuns: 300 },
    );
  });

  it('pads payloads with zeros to a multiple of 8', async () => {
    const { openLog } = await import('../../../../adapters/can/log/index.ts');
    const { fileOf } = await import('./frames.ts');
    const text = '(1.000000) can0 001#FFFFFFFFFFFFFFFF\n'.repeat(5000) + '(1.000000) can0 001#11\n'.repeat(5000);
    const log = await openLog(fileOf(text));
    let frames = 0;
    for await (const batch of log.batches()) {
      for (let i = 0; i < batch.count; i++, frames++) {
        const offset = batch.offset[i] as number;
        expect(offset % 8).toBe(0);
        if (batch.length[i] === 1)
          expect([...batch.data.subarray(offset, offset + 8)]).toEqual([0x11, 0, 0, 0, 0, 0, 0, 0]);
      }
    }
    expect(frames).toBe(10_000);
    await log.close();
  });
});

describe('candump on the screen', () => {
  it('reads lines without time stamps', async () => {
    const read = await readText(
      [
        "  can0       044   [5]  2A 36 6C 2B BA            '*6l+.'",
        '  can1  12345678   [0]  remote request',
        '  can0       123   [5]  remote request',
        '  can1  20000080   [8]  00 00 00 00 00 00 00 00   ERRORFRAME',
        '\tbus-error',
        "  can1       123  [03]  11 22 33                  '.\"3'",
        '  can1  TX - -  123   [1]  01',
        '  can1  RX B E  123  [12]  01 02 03 04 05 06 07 08 09 0A 0B 0C',
        '  can1       123   [0]  ',
        '  can1       123   [2]  01',
        '',
      ].join('\n'),
    );
    expect(read.format).toBe('candump-screen');
    expect(read.messages).toEqual(['10: there are not 2 bytes of data']);
    expect(read.frames).toEqual([
      { at: 0, id: 0x44, bus: 'can0', flags: 0, length: 5, data: '2a366c2bba' },
      { at: 0, id: (0x12345678 | EXTENDED | REMOTE) >>> 0, bus: 'can1', flags: 0, length: 0, data: '' },
      { at: 0, id: (0x123 | REMOTE) >>> 0, bus: 'can0', flags: 0, length: 5, data: '0000000000' },
      { at: 0, id: (ERROR | 0x80) >>> 0, bus: 'can1', flags: 0, length: 8, data: '0000000000000000' },
      { at: 0, id: 0x123, bus: 'can1', flags: FD, length: 3, data: '112233' },
      { at: 0, id: 0x123, bus: 'can1', flags: SENT, length: 1, data: '01' },
      {
        at: 0,
        id: 0x123,
        bus: 'can1',
        flags: FD | BIT_RATE_SWITCH | ERROR_STATE,
        length: 12,
        data: '0102030405060708090a0b0c',
      },
      { at: 0, id: 0x123, bus: 'can1', flags: 0, length: 0, data: '' },
    ]);
  });

  const times = async (...stamps: string[]) =>
    (await readText(stamps.map((stamp) => ` (${stamp})  can0  123   [1]  01\n`).join(''))).frames.map(({ at }) => at);

  it('reads absolute, zero-based and relative times, and dates', async () => {
    expect(await times('1436509052.249713', '1436509052.250000')).toEqual([1_436_509_052_249.713, 1_436_509_052_250]);
    expect(await times('000.000000', '000.500000', '001.000000')).toEqual([0, 500, 1000]);
    expect(await times('000.000000', '000.500000', '000.250000')).toEqual([0, 500, 750]);
    expect(await times('2015-07-10 06:17:32.249713')).toEqual([1_436_509_052_249.713]);
  });
});
