/** Tests log formats that are read in chunks. The result must not depend on where the bytes of a log are split. */

import { append, createBatch } from '../../../adapters/can/frames.ts';
import type { BytesReader, Head } from '../../../adapters/can/log/format.ts';
import { type BytesFormat, bytesFormats, formats, headOf } from '../../../adapters/can/log/formats.ts';
import { Recording } from '../../../adapters/can/log/recording.ts';
import { formatCandump } from '../../../adapters/can/log/writer.ts';
import { BIT_RATE_SWITCH, ERROR, EXTENDED, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { pcap, pcapng } from '../../../test/adapters/can/log/capture-writers.ts';
import { asc, blf, cando, canServer, crtd, gvret, kvaser, slcan, trc } from '../../../test/adapters/can/log/writers.ts';
import { Contradiction, type FuzzTarget, texts } from '../target.ts';

const start = 1_436_509_052_000;

/** One frame of each kind. */
export const frames = [
  { at: start, id: 0x123, bus: 'can0', flags: 0, length: 8, data: '0011223344556677' },
  { at: start + 1.5, id: (0x18fef100 | EXTENDED) >>> 0, bus: 'can1', flags: SENT, length: 3, data: 'a1b2c3' },
  { at: start + 2, id: 0, bus: 'can0', flags: 0, length: 0, data: '' },
  { at: start + 1000.001, id: (0x7ff | REMOTE) >>> 0, bus: 'can2', flags: 0, length: 4, data: '00000000' },
  { at: start + 2000, id: 0x321, bus: 'can0', flags: FD | BIT_RATE_SWITCH, length: 12, data: '00'.repeat(12) },
  { at: start + 61_000, id: 0x1, bus: 'can0', flags: FD, length: 64, data: 'fe'.repeat(64) },
];
const classic = frames.filter(({ flags }) => (flags & FD) === 0);
const plain = classic.filter(({ id }) => (id & REMOTE) === 0);
const short = plain.map((frame) => ({ ...frame, id: frame.id & 0x7ff }));

/** Returns the frames as `candump -L` writes them. */
export function candump(): string {
  const batch = createBatch(frames.length + 1, 1024);
  const buses = ['can0', 'can1', 'can2'];
  for (const { at, id, bus, flags, length, data } of frames) {
    append(batch, at, id, buses.indexOf(bus), flags, Buffer.from(data.padEnd(2 * length, '0'), 'hex'), length);
  }
  append(batch, start, (ERROR | 0x80) >>> 0, 0, 0, new Uint8Array(8), 8);
  const lines = Array.from({ length: batch.count }, (_, i) => formatCandump(batch, i, buses));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

const readers = new Map(
  await Promise.all(bytesFormats.map(async (format) => [format, await formats[format].load()] as const)),
);

const seeds: Readonly<Record<BytesFormat, () => Uint8Array[]>> = {
  candump: () => texts(candump(), candump().repeat(3), '(166) vcan0 21A#FE\n(166.5) slcan-1 21a#fe36 T\n'),
  'candump-screen': () =>
    texts(
      '  can0  123   [8]  00 11 22 33 44 55 66 77\n  can1  18FEF100   [3]  A1 B2 C3\n',
      ' (2015-07-10 06:17:32.249713)  can0  RX - -  123   [2]  00 11\n (2015-07-10 06:17:33.0)  can0  TX B E  321  [12]  00 11 22 33 44 55 66 77 88 99 AA BB\n',
      ' (000.000000)  can0  7FF   [4]  remote request\n (001.000000)  can0  123   [0]\n',
    ),
  asc: () => [
    ...texts(asc(frames, 'hex', 'absolute'), asc(frames, 'hex', 'relative'), asc(frames, 'dec', 'absolute')),
    ...texts('date Mon Jan 1 10:00:00.000 am 2018\nbase hex  timestamps absolute\n   0.1 1  ErrorFrame\n// c\n'),
  ],
  blf: () => [blf(frames, 200, true), blf(frames, 1000, false), blf(classic, 64, false)],
  trc: () =>
    texts(
      trc(frames),
      ';$FILEVERSION=1.1\r\n;$STARTTIME=40608.6789\r\n;   Start time: 05.03.2011 16:17:36.9\r\n     1)     1059.9  Rx     0300  7  00 00 00 00 04 00 00\r\n     2)     1283.2  Rx     0300  4  RTR\r\n',
      ';$FILEVERSION=1.3\r\n;$STARTTIME=41752.6\r\n     1)      17.6 1  Rx        0066 -  6    0A 01 02 03 04 05\r\n',
      ';##########\r\n;   C:\\x.trc\r\n1)  1841  0001 8  00 00 00 00 00 00 00 00\r\n',
    ),
  crtd: () => texts(crtd(plain), '1320745424.000 R11 402 FA 01 C3\n1320745424.002 1T29 18FEF100 11 22\n0 CXX note\n'),
  gvret: () => texts(gvret(classic), 'Time Stamp,ID,Extended,Bus,LEN,D1\n1,123,false,0,2,AA,BB,\n-5,18FEF100,1,1,0\n'),
  canhacker: () =>
    texts(
      'Time   ID     DLC Data                    Comment\r59.900 000004E0 2 01 02\r00.100 18FEF100 8 36 47 19 43 01 00 00 80 \r',
      '@ TEXT @ 2 @ 64 @ 0 @ 2 @ 38782 @ 00:00:38.782 @\r14,7\t2\t0004\t4E0\t2\t24 01\t00000000\t$ \t\r14,687\t1\t0004\t45A\t0\t\t00000000\t\t\r',
    ),
  busmaster: () =>
    texts(
      '***BUSMASTER Ver 2.4.0***\r\n***PROTOCOL CAN***\r\n***START DATE AND TIME 8:8:2014 23:59:58:500***\r\n***HEX***\r\n***SYSTEM MODE***\r\n23:59:59:9420 Rx 1 0x023 s 1 40\r\n00:00:00:0010 Tx 2 0x18DAF110 x 2 40 FF\r\n00:00:01:5000 Rx 1 0x023 sr 3\r\n***[STOP LOGGING SESSION]***\r\n',
      '***BUSMASTER Ver 2.4.0***\n***START DATE AND TIME 8:8:2014 1:2:3:4***\n***DEC***\n***RELATIVE MODE***\n0:0:1:0000 Rx 1 35 s 1 64\n',
    ),
  kvaser: () =>
    texts(kvaser(classic), kvaser(plain, 'dec'), ' 0    00000000            ErrorFrame                 29.095270 R\n'),
  slcan: () => texts(slcan(frames), slcan(classic, false), '1D5210000000000E0D7\n3E8AABBCC\n7FF0102030405\nS6\n'),
  cando: () => [cando(short), cando([...short, ...short])],
  canserver: () => [
    canServer(short, 2),
    canServer(short, 3),
    Buffer.concat([canServer(short, 2), canServer(short, 3)]),
  ],
  table: () =>
    texts(
      'Time[s];Chn;ID;Name;Dir;DLC;Data\n0,001371;1;171;Brake;Rx;4;00 00 07 76\n0,002;2;18FEF100x;;Tx;1;AB\n',
      'timestamp,arbitration_id,extended,remote,error,dlc,data\n1436509052.25,0x7b,0,0,0,3,AQL/\n',
      '61.5 7E8 3 03 41 0D\n62.0 A8 2 1 FF\n',
      '"Time","Identifier (hex)","Format","Flags","Data (hex)"\n"00:01:03.03","223","Std","","00 49 01 "\n',
    ),
  pcap: () => [
    pcap(frames, { linkType: 227, little: true, nano: false }),
    pcap(frames, { linkType: 113, little: false, nano: true }),
  ],
  pcapng: () => [
    pcapng(frames, { linkType: 227, little: true, nano: false }, { resolution: 9, offset: 1_000_000_000 }),
    pcapng(frames, { linkType: 276, little: false, nano: false }, { block: 'obsolete', resolution: 0x80 | 20 }),
    pcapng(classic, { linkType: 113, little: true, nano: false }, { block: 'simple' }),
  ],
};

const words: Readonly<Record<BytesFormat, readonly string[]>> = {
  candump: ['(', ')', '#', '##', '#R', '_9', ' T', ' R', '.', 'can0', '20000080#', '\r\n'],
  'candump-screen': ['[', ']', '[64]', 'remote request', 'ERRORFRAME', ' RX B E ', ' (', '\r\n'],
  asc: ['CANFD', 'ErrorFrame', 'Rx', 'Tx', 'TxRq', ' d ', ' r ', 'x', 'base dec', 'timestamps relative', 'am', ','],
  blf: ['LOBJ', 'LOGG', '\u0001\0\0\0', '\n\0\0\0', 'V\0\0\0'],
  trc: [';$FILEVERSION=', '2.0', '1.0', ';$STARTTIME=', ';$COLUMNS=N,O,T,I,d,l,D', 'RR', 'ER', 'ST', 'RTR', '- '],
  crtd: ['R11', 'T29', '1R11', 'CEV', 'CXX', '2C', ' '],
  gvret: ['Time Stamp,ID,Extended,Dir,Bus,LEN', 'true', 'false', 'Rx', 'Tx', ',', ',,'],
  canhacker: ['@ TEXT @', '\t', '\r', ',', 'RTR', '0004', 'Time   ID     DLC'],
  busmaster: ['***', 'HEX', 'DEC', 'RELATIVE', 'ABSOLUTE', 'SYSTEM', 'START DATE AND TIME', ' sr ', ' x ', ' Rx ', ':'],
  kvaser: ['Chn Identifier Flg', 'ErrorFrame', ' X ', ' R', ' T', ' XR ', '0.000001', '  00', '  255', '\r\n'],
  slcan: ['t1230', 'T', 'r', 'R', 'd', 'B', 'EA5F', '\r', '\u0007', 'z\r', 'V1013'],
  cando: ['\u00ff\u00ff\0\0', '\u00ff'.repeat(8), '\u0080', '\u0007'],
  canserver: ['CANSERVER_v2_CANSERVER', 'CANSERVER_v3_CANSERVER', '\u00a0', '\u00b0', '\u00d0', '\u00ce', '\u00cf'],
  table: [
    'Time,ID,DLC,Data',
    'ID;Data',
    '\t',
    ';',
    ',',
    '"',
    '0x',
    'x|',
    'Ext',
    'Remote',
    'Err',
    'Tx',
    '-',
    'T12:00:00Z',
  ],
  pcap: ['\u00d4\u00c3\u00b2\u00a1', '\u00a1\u00b2<M', '\u00e3\0\0\0', '\0\f', '\0\r', 'H\0\0\0'],
  pcapng: ['\n\r\r\n', 'M<+\u001a', '\u0001\0\0\0', '\u0006\0\0\0', '\u0003\0\0\0', '\t\0\u0001\0', 'H\0\0\0'],
};

/** Result of reading a log. */
interface Read {
  readonly frames: number;
  readonly faults: number;
  /** Digest of all columns of every frame. */
  readonly digest: number;
}

/** Reads a log whose bytes are split at `cuts` (ascending). */
function read(format: BytesFormat, head: Head, input: Uint8Array, cuts: readonly number[]): Read {
  const recording = new Recording('fuzz');
  const parser = (readers.get(format) as BytesReader).create(recording, head);
  const { batch } = recording;
  let count = 0;
  let digest = 0;
  const take = () => {
    for (let i = 0; i < batch.count; i++) {
      const columns = [
        batch.id[i],
        batch.bus[i],
        batch.flags[i],
        batch.length[i],
        Math.round((batch.at[i] ?? 0) * 1000),
      ];
      for (const number of columns) digest = (Math.imul(digest, 31) + (number ?? 0)) | 0;
      const from = batch.offset[i] ?? 0;
      for (const byte of batch.data.subarray(from, from + (batch.length[i] ?? 0)))
        digest = (Math.imul(digest, 31) + byte) | 0;
    }
    count += batch.count;
    batch.count = 0;
  };
  let from = 0;
  for (const end of [...cuts, input.length]) {
    for (const last of end === input.length ? [false, true] : [false]) {
      for (;;) {
        const next = parser.parse(input, from, end, last);
        if (next < from || next > end) throw new Contradiction(`consumed up to ${next} of ${from} to ${end}`);
        from = next;
        const { full } = recording;
        take();
        if (!full) break;
      }
    }
  }
  return { frames: count, faults: recording.faults.count, digest };
}

function target(format: BytesFormat): FuzzTarget {
  return {
    name: `log-${format}`,
    seeds: seeds[format],
    words: words[format],
    run(input) {
      const head = headOf(input);
      const whole = read(format, head, input, []);
      const middle = (input.length * (input[0] ?? 0)) >> 8;
      const pieces = read(format, head, input, [middle, Math.min(input.length, middle + 7)]);
      if (whole.frames !== pieces.frames || whole.faults !== pieces.faults || whole.digest !== pieces.digest) {
        throw new Contradiction(
          `cut at ${middle}: ${pieces.frames} frames and ${pieces.faults} faults instead of ${whole.frames} and ${whole.faults}`,
        );
      }
      return whole.frames > 0;
    },
  };
}

export const logTargets: readonly FuzzTarget[] = bytesFormats.map(target);

/** Returns seeds in every format, for readers that detect the format. */
export function anyLog(): Uint8Array[] {
  return bytesFormats.flatMap((format) => seeds[format]().slice(0, 1));
}
