/** Text tables of frames: the shortest examples of each tool, and input that must not break the reader. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { defined } from '../../../../protocol/defined.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-table-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Read {
  readonly format: string;
  /** `time bus identifier data`; the identifier has suffix `x` if extended, `r` if remote, `t` if sent, `f` if FD. */
  readonly frames: readonly string[];
  readonly faults: readonly string[];
  readonly passedOver: Readonly<Record<string, number>>;
}

async function read(content: string | Uint8Array, columns?: string): Promise<Read> {
  const file = join(folder, 'log.txt');
  writeFileSync(file, content);
  const log = await openLog(file, defined({ columns }));
  const frames: string[] = [];
  for await (const batch of log.batches()) {
    for (let i = 0; i < batch.count; i++) {
      const id = batch.id[i] as number;
      const from = batch.offset[i] as number;
      const data = Buffer.from(batch.data.subarray(from, from + (batch.length[i] as number))).toString('hex');
      const flags = batch.flags[i] as number;
      const marks = [
        (id & 0x8000_0000) !== 0 ? 'x' : '',
        (id & REMOTE) !== 0 ? `r${batch.length[i]}` : '',
        (flags & SENT) !== 0 ? 't' : '',
        (flags & FD) !== 0 ? 'f' : '',
      ].join('');
      const name = log.buses[batch.bus[i] as number];
      const shown = (id & REMOTE) !== 0 ? '' : data;
      frames.push(`${batch.at[i]} ${name} ${(id & 0x1fff_ffff).toString(16)}${marks} ${shown}`.trimEnd());
    }
  }
  await log.close();
  return {
    format: log.format,
    frames,
    faults: log.faults.first.map(({ line, message }) => `${line}: ${message}`),
    passedOver: Object.fromEntries(log.passedOver),
  };
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

const tables: readonly (readonly [tool: string, content: string, frames: readonly string[]])[] = [
  [
    'SavvyCAN, bytes of one digit and negative times',
    'Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8\n-12500,000003E8,false,Rx,0,3,3,E8,64,\n1000,0000021A,true,Tx,1,1,0,\n',
    ['-12.5 can0 3e8 03e864', '1 can1 21axt 00'],
  ],
  [
    'SavvyCAN of an older version, other order of columns',
    'Time Stamp,ID,Extended,LEN,Bus,D1,D2\n5000,1F,false,2,0,A,B\n',
    ['5 can0 1f 0a0b'],
  ],
  [
    'GVRET without column names, times that start again',
    '2000,1F,0,0,1,7\n1000,1F,0,0,1,8\n',
    ['2 can0 1f 07', '1 can0 1f 08'],
  ],
  [
    'python-can CSV',
    `timestamp,arbitration_id,extended,remote,error,dlc,data\n1436509052.25,0x7b,0,0,0,3,${base64('0102ff')}\n1436509052.5,0x18fef100,1,0,0,0,\n1436509053.0,0x7b,0,1,0,4,\n`,
    ['1436509052250 can0 7b 0102ff', '1436509052500 can0 18fef100x', '1436509053000 can0 7br4'],
  ],
  ['SavvyCAN generic ID CSV', 'ID,D0\n4f5,ff\n18daf110,2\n', ['0 can0 4f5 ff', '0 can0 18daf110x 02']],
  ['SavvyCAN generic ID CSV, packed', 'ID,Data\n4f5,ff 34 23 45\n', ['0 can0 4f5 ff342345']],
  [
    'Microchip CAN Analyzer',
    '//---------------------------------\n//Start of log\n//---------------------------------\n1247;RX;0xC2;2;0x5C;0x87\n1260;TX;0x236;3;0x00;0x01;0xF0\n',
    ['1247 can0 c2 5c87', '1260 can0 236t 0001f0'],
  ],
  [
    'Vehicle Spy',
    'Start 10:00\nLine,Abs Time(Sec),Rel Time (Sec),Status,Er,Tx,Description,Network,Node,Arb ID,Remote,Xtd,B1,B2,B3,B4,B5,B6,B7,B8,Value,Trigger,Signals\n1,2550.368293675,0.0038,67371008,F,F,HS CAN $119,HS CAN,,119,F,F,00,0D,8B,,,,,,,,\n2,2550.5,0.1,67371008,F,T,HS CAN,HS CAN,,18FEF100,F,T,FF,,,,,,,,,,\n',
    ['2550368.293675 HS CAN 119 000d8b', '2550500 HS CAN 18fef100xt ff'],
  ],
  [
    'CANalyzer and CANoe CSV',
    'Time[s];Chn;ID;Name;Dir;DLC;Data\n0,001371;1;171;Brake;Rx;4;00 00 07 76\n0,002;2;18FEF100x;;Tx;1;AB\n',
    ['1.371 can1 171 00000776', '2 can2 18fef100xt ab'],
  ],
  [
    'PP2CAN import sample: semicolons, marks of an x',
    'Time/ms;Arb. ID ;Ex;Rt;Data 0;Data 1;Data 2\n0;18FF0021;x; ;00;FF;FF\n50;123;;x;\n',
    ['0 can0 18ff0021x 00ffff', '50 can0 123r0'],
  ],
  [
    'USB-CAN tool',
    'Index,System Time,Time Stamp,Channel,Direction,ID,Type,Format,Len,Data\n0,18:07:38.123,0x5A2C1,ch1,Receive,0x0181,Data,Standard,0x03,x| 01 02 03\n1,18:07:38.200,0x5A2F1,ch2,Send,0x18FEF100,Data,Extend,0x01,x| FF\n',
    ['65258123 ch1 181 010203', '65258200 ch2 18fef100xt ff'],
  ],
  [
    'the export with ParserFlags',
    'ParserFlags\tCh\tCounter\tT/R\tTime\tID\tDLC\tData\n0\t1\t17\tR\t12.5\t3E8\t2\t01 FE\n0\t2\t18\tT\t12.75\t18FEF100\t1\t7\n',
    ['12500 can1 3e8 01fe', '12750 can2 18fef100xt 07'],
  ],
  [
    'Cabana',
    'time,addr,bus,data\n\n3.5,291,1,0x0102\n4,419361024,128,ff\n',
    ['3500 can1 123 0102', '4000 can128 18fef100x ff'],
  ],
  [
    'CLX000',
    '# Logger type: CL2000\n# Time: 20170101T022232\nTimestamp;Type;ID;Data\n01T022231683;8;7df;02010d5555555555\n01T022231688;1;18daf110;0341\n',
    ['8551683 can0 7dft 02010d5555555555', '8551688 can0 18daf110x 0341'],
  ],
  [
    'IXXAT CSV',
    'IXXAT MiniMon\n"Time","Identifier (hex)","Format","Flags","Data (hex)"\n"00:01:03.03","223","Std","","00 49 01 "\n"00:01:04","18FEF100","Ext","","FF"\n',
    ['63030 can0 223 004901', '64000 can0 18fef100x ff'],
  ],
  [
    'CANopen Magic',
    '"Message Number","Time (ms)","Time","ID","Flags","Details","Data (Hex)","Data (Text)","Length"\n"0","0.500","8:09:42:48.795","0x2E1","","a, b","10 21 04 ",". ! .","3"\n',
    ['0.5 can0 2e1 102104'],
  ],
  [
    'plain lines of time, identifier, length and bytes',
    '61.5 7E8 3 03 41 0D\n62.0 A8 2 1 FF\n',
    ['61500 can0 7e8 03410d', '62000 can0 a8 01ff'],
  ],
  [
    'plain lines of milliseconds with a packed payload and more behind it',
    '000000021352 0x18ff08fe 8 000071FFFFFFFFFF ch=2\n000000021353 0x18ff20fe 2 0001 ch=2\n',
    ['21352 can0 18ff08fex 000071ffffffffff', '21353 can0 18ff20fex 0001'],
  ],
  [
    'the CSV of CANedge tools',
    'TimestampEpoch;BusChannel;ID;IDE;DLC;DataLength;Dir;EDL;BRS;ESI;RTR;DataBytes\n1670926807.419500;1;123;0;2;2;0;0;0;0;0;AABB\n1670926807.419700;9;00000000;1;9;12;1;1;1;0;0;0102030405060708090A0B0C\n',
    ['1670926807419.5 can1 123 aabb', '1670926807419.7 can9 0xtf 0102030405060708090a0b0c'],
  ],
  [
    'Kvaser Memorator, decimal numbers',
    'Time,Channel,ID,Flags,DLC,Data0,Data1,Data2,Data3,Data4,Data5,Data6,Data7,Counter,AbsTime\n0.5,1,291,2,2,170,187,,,,,,,1,2026-05-01 10:00:00\n1.25,2,419361024,4,1,255,,,,,,,,2,2026-05-01 10:00:01\n',
    ['500 can1 123 aabb', '1250 can2 18fef100x ff'],
  ],
  [
    'MicroPeckerX',
    'FileName,log\nDateTime,2026/05/01_10:00:00\nTime,Ch,Protocol,Dir,Label,State,Type,Format,ID,DL,D1,D2,D3,D4\n0.001,1,CAN,R,,OK,Data Frm.,Std,123,2,AA,BB,,\n0.002,1,CAN FD,T,a,OK,Data Frm.,Ext,18FEF100,1,FF,,,\n',
    ['1 can1 123 aabb', '2 can1 18fef100xtf ff'],
  ],
  [
    'dates as times',
    'Time,ID,DLC,Data\n2024-05-01 12:34:56.789,123,1,AA\n2024-05-01T12:34:57.000+02:00,123,1,AB\n',
    ['1714566896789 can0 123 aa', '1714559697000 can0 123 ab'],
  ],
  [
    'FD frames, the length as a data length code',
    `Time (ms),ID,DLC,Data\n1,123,12,${'0102030405060708090a0b0c'}\n2,123,15,${'ab'.repeat(64)}\n`,
    ['1 can0 123f 0102030405060708090a0b0c', `2 can0 123f ${'ab'.repeat(64)}`],
  ],
];

describe('a table of frames', () => {
  test.each(tables)('of %s is read', async (_, content, frames) => {
    for (const text of [
      content,
      content.replaceAll('\n', '\r\n'),
      content.replaceAll('\n', '\r'),
      `\ufeff${content}`,
    ]) {
      const found = await read(text);
      expect(found.frames).toEqual(frames);
      expect(found.faults).toEqual([]);
    }
  });

  test('whose last line is cut yields the lines before it', async () => {
    const { frames } = await read('Time (ms),ID,DLC,Data\n1,123,2,AABB\n2,123,2,AAB');
    expect(frames).toEqual(['1 can0 123 aabb']);
  });

  const good = Array.from({ length: 500 }, (_, i) => `${i},123,1,AA\n`).join('');

  test('with lines that are not frames reports line, column and reason, also before the first frame', async () => {
    const { frames, faults, passedOver } = await read(
      `made by hand\nTime (ms),ID,DLC,Data\nx,123,1,AA\n# a comment\n${good}600,zz,1,AA\n601,123,70,AA\n602,123,2,AA\n603,123,1,AABB\nthe end\n`,
    );
    expect(frames).toHaveLength(500);
    expect(faults).toEqual([
      '3: column 1 (Time (ms)): the time cannot be read',
      '505: column 2 (ID): the identifier is not a number of at most 29 bits',
      '506: column 3 (DLC): the length is not a number up to 64',
      '507: column 4 (Data): there are 1 bytes of data, the length is 2',
      '508: column 4 (Data): there are 2 bytes of data, the length is 1',
    ]);
    expect(passedOver).toEqual({ comments: 1, 'lines before the column names': 1, 'lines that are not frames': 1 });
  });

  test('counts a line with a word as its identifier as a fault, but not a line of units', async () => {
    const rows = [
      'Id\tName\tD0\tD1\tD2',
      'hex\t-\thex\thex\thex',
      '123\t\t11\t22\t33',
      'zz\tEngine\t\t\t',
      '124\t\t44\t\t',
      '\t\t\t\t',
    ];
    const { frames, faults, passedOver } = await read(`${rows.join('\n')}\n`);
    expect(frames).toEqual(['0 can0 123 112233', '0 can0 124 44']);
    expect(faults).toEqual(['4: column 1 (Id): the identifier is not a number of at most 29 bits']);
    expect(passedOver).toEqual({ 'lines that are not frames': 1 });
  });

  test('is refused before any frame when more than one in a hundred lines contradicts its columns', async () => {
    const wrong = good.replaceAll('5,123', '5,923').replaceAll('5,923,1,AA', '5,123,2,AA');
    await expect(read(`Time (ms),ID,DLC,Data\n${wrong}`)).rejects.toThrow(
      /50 of the first 500 lines contradict .*line 7, column 4 \(Data\).*--columns time,id,dlc,data/,
    );
    await expect(read(good, 'id,time,dlc,data')).resolves.toBeDefined();
    await expect(read(good, 'id,dlc,time,data')).rejects.toThrow(
      /contradict the columns by --columns id,dlc,time,data/,
    );
  });

  test.each([
    ['an empty cell between tabs', 'Time\tID\tFlags\tDLC\tData\n1.5\t123\t\t2\tAABB\n2.5\t124\tN\t1\tCC\n'],
    ['an empty first cell', 'Bus;Time;ID;DLC;Data\n;1.5;123;2;AABB\n;2.5;124;1;CC\n'],
    [
      'aligned columns with an empty cell',
      'Time   Arb ID  Flags  DLC  Data\n1.5    123            2    AA BB\n2.5    124     N      1    CC\n',
    ],
    ['NUL bytes between cells', 'Time,ID,DLC,Data\n1.5,\0\x00123\0,2,AABB\0\n2.5,124\0,1,CC\n'],
    ['separators behind the last cell', 'Time,ID,DLC,Data,,\n1.5,123,2,AA,BB,,\n2.5,124,1,CC,,,\n'],
    [
      'prose with names before the names',
      'Columns: Time, Id, Data\nStart 12:00:01, 1, 2\nTime,ID,DLC,Data\n1.5,123,2,AA BB\n2.5,124,1,CC\n',
    ],
    ['columns behind the data', 'Time ID DLC Data Dir\n1.5 123 2 AA BB Rx\n2.5 124 1 CC Rx\n'],
    [
      'bytes that fill columns that the frame does not have',
      `Time,ID,DLC,${'d0,d1,d2,d3,d4,d5,d6,d7'}\n1.5,123,2,AA,BB,0,0,0,0,0,0\n2.5,124,1,CC,0,0,0,0,0,0,0\n`,
    ],
  ])('with %s is read', async (_, content) => {
    const { frames, faults } = await read(content);
    expect(frames).toEqual(['1500 can0 123 aabb', '2500 can0 124 cc']);
    expect(faults).toEqual([]);
  });

  test("with column names is read with the user's columns instead", async () => {
    const { frames, faults } = await read(
      'Time,ID,Other,DLC,Data\n1.5,7,123,2,AABB\n2.5,8,124,1,CC\n',
      'time,-,id,dlc,data',
    );
    expect(frames).toEqual(['1500 can0 123 aabb', '2500 can0 124 cc']);
    expect(faults).toEqual([]);
  });

  test('of decimal numbers is read if a line proves that they are decimal', async () => {
    const { frames } = await read('Time,ID,DLC,Data\n1.5,291,2,170 187\n2.5,292,1,204\n');
    expect(frames).toEqual(['1500 can0 123 aabb', '2500 can0 124 cc']);
  });

  test.each([
    ['time(us),-,id,d0', '1500;x;7E8;3;41;D\n2000;y;18DAF110;7\n', ['1.5 can0 7e8 03410d', '2 can0 18daf110x 07']],
    ['time,id,data,bus', '1.5 123 0102 1\n2.5 124 FF 2\n', ['1500 can1 123 0102', '2500 can2 124 ff']],
    ['id(dec),data(dec)', '291,1 2 255\n', ['0 can0 123 0102ff']],
  ])("is read with the user's columns %s", async (columns, content, frames) => {
    expect(await read(content, columns)).toMatchObject({ format: 'table', frames, faults: [] });
  });

  test("is refused if the user's columns lack an identifier, with the names to use", async () => {
    await expect(read('1,2\n', 'time,data')).rejects.toThrow(/name at least id and data/);
  });

  test('is not found in text without frames', async () => {
    for (const text of ['Time,Speed,RPM\n1,2,3\n', 'hello world\n', '12 34 56\n78 9A BC\n', 'id,name\n1,Anna\n']) {
      await expect(read(text)).rejects.toThrow(/not a log of a known format/);
    }
  });
});

describe('text from other tools', () => {
  const candump = '(1.500000) can0 123#1122\n(2.000000) can1 12345678#FF\n';
  const frames = ['1500 can0 123 1122', '2000 can1 12345678x ff'];

  test('is read in UTF-16, in both byte orders, with and without a byte order mark', async () => {
    const little = Buffer.from(candump, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [little, big, Buffer.from(`\ufeff${candump}`, 'utf16le')]) {
      expect(await read(bytes)).toMatchObject({ format: 'candump', frames, faults: [] });
    }
  });

  test('is read despite zero bytes between and after lines, even a megabyte of them', async () => {
    const zeros = '\0'.repeat(1_000_000);
    const found = await read(`${candump.replace('\n', `\n${zeros}`)}${zeros}`);
    expect(found).toMatchObject({ frames, faults: [] });
  });

  test('may end within a line without a fault', async () => {
    const found = await read(`${candump}(2.5) can0 12`);
    expect(found).toMatchObject({ frames, faults: [], passedOver: { 'last lines that are cut': 1 } });
  });

  test('may have candump screen output with identifiers of any length, tabs, any interface or none', async () => {
    const found = await read(
      ' slcan7  39   [2]  00 11\n\tmy-bus\tA8\t[1]\tFF\n 1F0 [3] 01 02 03\n  can0  TX  12345678   [0]\n (1.5)  can0  RX - -  7FF  [1]  01\n',
    );
    expect(found).toMatchObject({
      format: 'candump-screen',
      frames: ['0 slcan7 39 0011', '0 my-bus a8 ff', '0 can0 1f0 010203', '0 can0 12345678xt', '1500 can0 7ff 01'],
      faults: [],
    });
  });
});
