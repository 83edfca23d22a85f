import { describe, expect, it } from 'vitest';
import { localDate } from '../../../../adapters/can/log/dates.ts';
import { EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { readText } from './frames.ts';

describe('dates in headers', () => {
  const moment = Date.UTC(2017, 8, 30, 15, 6, 13, 191);
  it.each([
    ['Sam Sep 30 15:06:13.191 2017', moment],
    ['Sat Sep 30 03:06:13.191 pm 2017', moment],
    ['Sat Sep 30 03:06:13.191 PM 2017', moment],
    ['Sat Sep 30 15:06:13.191 PM 2017', moment],
    ['sam. sept. 30 15:06:13.191 2017', moment],
    ['30.09.2017 15:06:13.191', moment],
    ['9/30/2017 3:06:13.191 PM', moment],
    ['2017-09-30 15:06:13.191', moment],
    ['周六 9月 30 03:06:13.191 下午 2017', moment],
    ['Sat Sep 30 15:06:13 2017', moment - 191],
    ['30.09.2017 15:06:13.191.500', moment + 0.5],
    ['Mit Mär 1 00:00:00 2017', Date.UTC(2017, 2, 1)],
    ['Mit M\ufffdr 1 00:00:00 2017', Date.UTC(2017, 2, 1)],
    ['Mo Mai 1 12:00:00 am 2017', Date.UTC(2017, 4, 1)],
    ['mar. févr. 28 12:00:00 2017', Date.UTC(2017, 1, 28, 12)],
    ['Di Okt 31 12:00:00 pm 2017', Date.UTC(2017, 9, 31, 12)],
    ['dom dic 31 23:59:59 2017', Date.UTC(2017, 11, 31, 23, 59, 59)],
  ])('%s', (text, expected) => {
    expect(localDate(text)).toBe(expected);
  });

  it.each(['', 'Sam Sep 30', 'Sam Sep 31 15:06:13 2017', 'Sam Xyz 30 15:06:13 2017', '1.13.2017 25:00:00'])(
    'not %s',
    (text) => {
      expect(localDate(text)).toBeNaN();
    },
  );
});

describe('Vector ASC', () => {
  const log = (lines: string[], base = 'base hex  timestamps absolute') =>
    readText(['date Sat Sep 30 15:06:13.191 2017', base, 'internal events logged', ...lines, ''].join('\r\n'));
  const start = Date.UTC(2017, 8, 30, 15, 6, 13, 191);

  it('reads classic, remote, error and FD frames and passes over other events', async () => {
    const read = await log([
      '// version 9.0.0',
      '   0.000000 Start of measurement',
      '   0.015991 CAN 1 Status:chip status error passive - TxErr: 132 RxErr: 0',
      '   1.015991 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%',
      '   2.000000 1 ErrorFrame ECC: 10100010',
      '   2.500000 2 100 Tx r',
      '   2.500000 4 300x Rx r 8 Length = 1704000 BitCount = 145 ID = 88888888x',
      '   3.000000 1  18EBFF00x       Rx d 2 01 A0    Length = 273910 BitCount = 141 ID = 418119424x',
      '   3.000000 1  J1939TP FEE3p        6    0  0   -   Rx   d 23 A0 0F A6',
      '   3.100000 1  123  TxRq  d 1 00',
      '   4.000000 CANFD   2 Rx        300  Generic_Name_12                  1 0 8  8 01 02 03 04 05 06 07 08   102203  133   303000 e0006659 46500250',
      '   4.000000 CANFD   1 Rx         44                                   0 0 5  5 2A 36 6C 2B BA   130000  130        0 0 0 0 0 0',
      '   4.000000 CANFD   1 Rx        123                                   0 0 5  0   130000  130       10 0 0 0 0 0',
      '   5.000000 CANFD   5 Tx ErrorFrame Not Acknowledge error, dominant error flag fffe c7',
      'End TriggerBlock',
    ]);
    expect(read.messages).toEqual([]);
    expect(read.frames).toEqual([
      { at: start + 2000, id: 0x2000_0080, bus: 'can0', flags: 0, length: 8, data: '0000000000000000' },
      { at: start + 2500, id: (0x100 | REMOTE) >>> 0, bus: 'can1', flags: SENT, length: 0, data: '' },
      {
        at: start + 2500,
        id: (0x300 | REMOTE | EXTENDED) >>> 0,
        bus: 'can3',
        flags: 0,
        length: 8,
        data: '0000000000000000',
      },
      { at: start + 3000, id: (0x18ebff00 | EXTENDED) >>> 0, bus: 'can0', flags: 0, length: 2, data: '01a0' },
      { at: start + 4000, id: 0x300, bus: 'can1', flags: FD | 2, length: 8, data: '0102030405060708' },
      { at: start + 4000, id: 0x44, bus: 'can0', flags: 0, length: 5, data: '2a366c2bba' },
      { at: start + 4000, id: (0x123 | REMOTE) >>> 0, bus: 'can0', flags: 0, length: 5, data: '0000000000' },
      { at: start + 5000, id: 0x2000_0080, bus: 'can4', flags: 0, length: 8, data: '0000000000000000' },
    ]);
  });

  it('adds up relative times over all lines, other events included', async () => {
    const read = await log(
      ['0.500000 Start of measurement', '0.250000 1 100 Rx d 0', '0.250000 1 Statistic: D 0', '0.250000 1 100 Rx d 0'],
      'base hex timestamps relative',
    );
    expect(read.frames.map(({ at }) => at - start)).toEqual([750, 1250]);
  });

  it('counts from the date of the trigger block; a later block restarts the time only if its times restart', async () => {
    const read = await log([
      'Begin Triggerblock Sat Sep 30 10:06:13.191 PM 2017',
      '1.000000 1 100 Rx d 0',
      'End TriggerBlock',
      'Begin Triggerblock Sat Sep 30 10:06:20.191 PM 2017',
      '7.000000 1 100 Rx d 0',
      'End TriggerBlock',
      'Begin Triggerblock Sat Sep 30 11:06:13.191 PM 2017',
      '2.000000 1 100 Rx d 0',
    ]);
    const trigger = start + 7 * 3_600_000;
    expect(read.frames.map(({ at }) => at - trigger)).toEqual([1000, 7000, 3_602_000]);
  });

  it('counts broken lines and an unreadable date', async () => {
    const read = await readText(
      [
        'date Foo Bar 99 2017',
        'base hex timestamps absolute',
        '0.1 1 100 Rx d 2 01',
        '0.1 1 zz Rx d 2 01 02',
        '0.1 1 100 Rx q 2 01 02',
        '0.1 1 100',
        '0.1',
        '0.x1 1 100 Rx d 0',
        '0.1 CANFD 1 Rx 100 0 0 f 64 00 00',
        '0.1 1 100 Rx d 1 1',
        '0.2 1 100 Rx d 1 01',
      ].join('\n'),
    );
    expect(read.frames).toEqual([{ at: 200, id: 0x100, bus: 'can0', flags: 0, length: 1, data: '01' }]);
    expect(read.messages.map((message) => Number.parseInt(message, 10))).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
