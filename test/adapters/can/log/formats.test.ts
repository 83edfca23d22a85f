import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { formatCandump, openLog } from '../../../../adapters/can/log/index.ts';
import { ERROR_STATE, EXTENDED, SENT } from '../../../../agent/ports.ts';
import { anyFrames, type Frame, fileOf, inMicroseconds, readText } from './frames.ts';
import { busmaster, canalyzerCsv, candumpScreen, canHacker, plainLines, pythonCsv } from './tool-writers.ts';
import { asc, blf, cando, canServer, crtd, gvret, kvaser, slcan, trc } from './writers.ts';

const everything = { fd: true, remote: true, sent: true };
const runs = { numRuns: 60, seed: 20_260_601 };

function candump(frames: readonly Frame[]): string {
  const buses = [...new Set(frames.map((frame) => frame.bus))];
  const batch = createBatch(frames.length, frames.length * 64);
  for (const { at, id, bus, flags, data, length } of frames) {
    append(batch, at, id, buses.indexOf(bus), flags, Buffer.from(data, 'hex'), length);
  }
  return frames.map((_, i) => `${formatCandump(batch, i, buses)}\n`).join('');
}

async function back(frames: readonly Frame[], format: string, content: string | Uint8Array): Promise<void> {
  const read = await readText(content);
  expect(read.messages).toEqual([]);
  expect(read.format).toBe(format);
  expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(frames));
}

describe('frames written in a format are read back', () => {
  it('candump, by its writer', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), (frames) => back(frames, 'candump', candump(frames))),
      runs,
    );
  });

  it('candump lines, written again, are the same lines', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), async (frames) => {
        const text = candump(frames);
        expect(candump((await readText(text)).frames)).toBe(text);
      }),
      runs,
    );
  });

  it('Vector ASC, both bases and both kinds of time', async () => {
    const base = fc.constantFrom('hex' as const, 'dec' as const);
    const times = fc.constantFrom('absolute' as const, 'relative' as const);
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), base, times, async (frames, base, times) => {
        await back(frames, 'asc', asc(frames, base, times));
      }),
      runs,
    );
  });

  it('BLF, objects straddling containers of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyFrames(everything),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        async (frames, size, z) => {
          await back(frames, 'blf', blf(frames, size, z));
        },
      ),
      runs,
    );
  });

  it('PEAK TRC 2.1', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), (frames) => back(frames, 'trc', trc(frames))),
      runs,
    );
  });

  it('CRTD', async () => {
    const kinds = { fd: false, remote: false, sent: true };
    await fc.assert(
      fc.asyncProperty(anyFrames(kinds), (frames) => back(frames, 'crtd', crtd(frames))),
      runs,
    );
  });

  it('GVRET CSV', async () => {
    const kinds = { fd: false, remote: false, sent: true };
    await fc.assert(
      fc.asyncProperty(anyFrames(kinds), (frames) => back(frames, 'gvret', gvret(frames))),
      runs,
    );
  });
});

/** Start time of frames in formats without a date, without extended identifiers or with coarse times. */
const START = 1_436_509_052_000;
const sinceStart = (frames: readonly Frame[]): Frame[] => frames.map((frame) => ({ ...frame, at: frame.at - START }));
const inOrder = (gap: (frame: Frame) => number) => (frames: readonly Frame[]) =>
  frames.filter((frame, i) => i === 0 || gap(frame) - gap(frames[i - 1] as Frame) < 60_000);
const millisecond = (frame: Frame): number => Math.floor(frame.at - START);
const eleven = (frames: readonly Frame[]): Frame[] => frames.map((frame) => ({ ...frame, id: frame.id & 0x7ff }));
const one = (frames: readonly Frame[]): Frame[] => frames.map((frame) => ({ ...frame, bus: 'can0' }));

describe('frames written in the format of another tool are read back', () => {
  it('candump on the screen', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), (frames) => back(frames, 'candump-screen', candumpScreen(frames))),
      runs,
    );
  });

  it('BUSMASTER, over midnights', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: true, sent: true }), async (frames) => {
        const read = await readText(busmaster(frames));
        expect(read).toMatchObject({ format: 'busmaster', messages: [] });
        const coarse = frames.map((frame) => ({ ...frame, at: Math.floor(frame.at * 10) / 10 }));
        expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(coarse));
      }),
      runs,
    );
  });

  it('CANHacker, both forms', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: false, sent: false }), async (all) => {
        const newer = await readText(canHacker(all, 'newer'));
        expect(newer).toMatchObject({ format: 'canhacker', messages: [] });
        expect(inMicroseconds(newer.frames)).toEqual(inMicroseconds(sinceStart(all)));
        const frames = one(inOrder(millisecond)(all));
        const older = await readText(canHacker(frames, 'older'));
        expect(older).toMatchObject({ format: 'canhacker', messages: [] });
        expect(older.frames).toEqual(frames.map((frame) => ({ ...frame, at: millisecond(frame) })));
      }),
      runs,
    );
  });

  it('tables of python-can and CANalyzer, and plain lines', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: true, sent: false }), (frames) =>
        back(one(frames), 'table', pythonCsv(frames)),
      ),
      runs,
    );
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: false, sent: true }), (frames) =>
        back(sinceStart(frames), 'table', canalyzerCsv(frames)),
      ),
      runs,
    );
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: false, sent: false }), async (frames) => {
        // Columns without names are recognised by their contents.
        const full = { at: START, id: 0x123, bus: 'can0', flags: 0, length: 8, data: '0123456789abcdef' };
        const lines = [full, full, full, ...frames];
        const read = await readText(plainLines(lines), { format: 'table' });
        expect(read).toMatchObject({ format: 'table', messages: [] });
        expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(sinceStart(one(lines))));
      }),
      runs,
    );
  });

  it('Kvaser text, hexadecimal and decimal', async () => {
    const classic = { fd: false, remote: true, sent: true };
    await fc.assert(
      fc.asyncProperty(anyFrames(classic), async (frames) => {
        const read = await readText(kvaser(frames));
        expect(read).toMatchObject({ format: 'kvaser', messages: [] });
        expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(sinceStart(frames)));
      }),
      runs,
    );
    const bytes = { id: 300, bus: 'can1', flags: 0, length: 3, data: '0064ff', at: START + 1500 };
    const read = await readText(kvaser([bytes, { ...bytes, length: 1, data: '2a' }], 'dec'));
    expect(read).toMatchObject({ format: 'kvaser', messages: [] });
    expect(read.frames).toEqual([
      { ...bytes, at: 1500 },
      { ...bytes, at: 1500, length: 1, data: '2a' },
    ]);
  });

  it('slcan, whose time stamps restart every minute', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: true, remote: true, sent: false }), async (all) => {
        const frames = one(inOrder(millisecond)(all)).map((frame) => ({ ...frame, flags: frame.flags & ~ERROR_STATE }));
        const read = await readText(slcan(frames));
        expect(read).toMatchObject({ format: 'slcan', messages: [] });
        expect(read.frames.map(({ at }) => at)).toEqual(frames.map(millisecond));
        const timeless = (list: readonly Frame[]) => list.map((frame) => ({ ...frame, at: 0 }));
        expect(timeless(read.frames)).toEqual(timeless(frames));
        const without = await readText(slcan(frames, false));
        expect(without.frames).toEqual(timeless(frames));
      }),
      runs,
    );
  });

  it('CANDO, whose times restart every minute', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: false, sent: false }), async (all) => {
        const frames = one(eleven(inOrder(millisecond)(all)));
        // Fewer blocks do not prove the format.
        const read = await readText(cando(frames), { format: 'cando' });
        expect(read.messages).toEqual([]);
        expect(read.frames).toEqual(frames.map((frame) => ({ ...frame, at: millisecond(frame) })));
        if (frames.length > 1) expect((await readText(cando(frames))).format).toBe('cando');
      }),
      runs,
    );
  });

  it('CANServer, both versions, and files that were joined', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames({ fd: false, remote: false, sent: false }), async (all) => {
        const frames = eleven(all);
        const coarse = frames.map((frame) => ({ ...frame, at: Math.round(frame.at * 1000) }));
        const two = await readText(canServer(frames, 2));
        expect(two).toMatchObject({ format: 'canserver', messages: [] });
        const three = await readText(canServer(frames, 3));
        expect(three).toMatchObject({ format: 'canserver', messages: [] });
        for (const read of [two, three]) expect(inMicroseconds(read.frames)).toEqual(coarse);
        const joined = await readText(Buffer.concat([canServer(frames, 2), canServer(frames, 3)]));
        expect(inMicroseconds(joined.frames)).toEqual([...coarse, ...coarse]);
      }),
      runs,
    );
  });
});

describe('Kvaser text', () => {
  const head = 'Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir\n';

  it('reads error frames, skips other lines, and needs no line of column names', async () => {
    const text = ' 0    00000000            ErrorFrame                          29.095270 R\nLogging stopped.\n';
    const read = await readText(text);
    expect(read).toMatchObject({ format: 'kvaser', messages: [] });
    expect(read.frames).toEqual([
      { at: 29_095.27, id: 0x2000_0080, bus: 'can0', flags: 0, length: 8, data: '0000000000000000' },
    ]);
  });

  it.each([
    [' 0    0000014B         2  00     1675.570498 T', 'there are not 2 bytes of data'],
    [' 0    0000014B         1  0G     1675.570498 T', 'the data are not bytes'],
    [' 0    2000014B         1  00     1675.570498 T', 'the identifier is not a number of at most 29 bits'],
    [' 0    0000014B         1  00     1675.570498 Q', 'the direction at the end is not R or T'],
    [' 0    0000014B         1  00     noon R', 'the time is not a number of seconds'],
    [' 0    0000014B        99  00     1675.570498 T', 'the length is not a number up to 64'],
    [' 0    1.5 R', 'there are fewer than 5 columns'],
    [' 0    18FEF100 X      30 R', 'there are not 30 bytes of data'],
  ])('%j is left out', async (line, message) => {
    const read = await readText(`${head}${line}\n 1    0000014B         1  07     1675.570498 T\n`);
    expect(read.messages).toEqual([`2: ${message}`]);
    expect(read.frames).toHaveLength(1);
  });
});

describe('slcan', () => {
  it('reads frames without a letter and a length, as loggers write them', async () => {
    const read = await readText('S6\n1D5210000000000E0D7\n3E8AABB\n7FF0102\n1B0\n');
    expect(read).toMatchObject({ format: 'slcan', messages: [] });
    expect(read.frames.map(({ id, data }) => [id, data])).toEqual([
      [0x1d5, '210000000000e0d7'],
      [0x3e8, 'aabb'],
      [0x7ff, '0102'],
      [0x1b0, ''],
    ]);
  });

  it.each([
    ['t1232AA', 'the line is not a frame of the length that it says'],
    ['t8001AA', 'no identifier of 11 bits'],
    ['T200000001AA', 'no identifier of 29 bits'],
    ['t1231AAG000', 'the time stamp is not four hexadecimal digits'],
    ['t1231AAG00', 'the line is not a frame of the length that it says'],
    ['t1231ZZ', 'the data are not hexadecimal bytes'],
    ['t1231AA00ZZ', 'the time stamp is not four hexadecimal digits'],
    ['hello', 'the line is neither a frame nor an answer of an adapter'],
  ])('%s is left out', async (line, message) => {
    const read = await readText(`t1231AA\rt1231BB\r${line}\rt1231CC\r`, { format: 'slcan' });
    expect(read.messages).toEqual([`3: ${message}`]);
    expect(read.frames.map(({ data }) => data)).toEqual(['aa', 'bb', 'cc']);
  });
});

it('an slcan log cut within a time stamp yields no frame with a wrong time', async () => {
  for (const cut of ['t1231BB', 't1231BBE', 't1231BBEA5']) {
    const log = await openLog(fileOf(`t1231AA0010\rt1231AA0011\r${cut}`));
    const times: number[] = [];
    for await (const batch of log.batches()) times.push(...batch.at.subarray(0, batch.count));
    expect([times, log.faults.count, ...log.passedOver]).toEqual([[16, 17], 0, ['last lines that are cut', 1]]);
    await log.close();
  }
});

describe('CANServer', () => {
  it('continues after bytes that are not records, and counts them once', async () => {
    const frame = { at: START, id: 0x123, bus: 'can2', flags: 0, length: 2, data: 'abcd' };
    const log = canServer([frame], 3);
    const read = await readText(Buffer.concat([log, Buffer.from([1, 2, 3]), log.subarray(22)]));
    expect(read.frames).toEqual([frame, frame]);
    expect(read.messages).toEqual([`0: bytes that are not records, from byte ${log.length} on`]);
  });
});

describe('GVRET CSV of older tools', () => {
  it('reads frames without direction, and a second block with other columns', async () => {
    const read = await readText(
      'Time Stamp,ID,Extended,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8\r\n166064000,0000021A,false,1,2,FE,36,\r\n166064500,18DAF110,0,0,0\r\n',
    );
    expect(read.frames).toEqual([
      { at: 166_064, id: 0x21a, bus: 'can1', flags: 0, length: 2, data: 'fe36' },
      { at: 166_064.5, id: (0x18daf110 | EXTENDED) >>> 0, bus: 'can0', flags: 0, length: 0, data: '' },
    ]);
  });
});

describe('CANHacker', () => {
  it('reads the older form, whose time restarts every minute', async () => {
    const read = await readText(
      'Time   ID     DLC Data                    Comment\r59.900 000004E0 2 01 02\r00.100 18FEF100 8 36 47 19 43 01 00 00 80 \r',
      { bus: 'body' },
    );
    expect(read.format).toBe('canhacker');
    expect(read.frames).toEqual([
      { at: 59_900, id: 0x4e0, bus: 'body', flags: 0, length: 2, data: '0102' },
      { at: 60_100, id: (0x18fef100 | EXTENDED) >>> 0, bus: 'body', flags: 0, length: 8, data: '3647194301000080' },
    ]);
  });

  it('reads the form of CarBus Analyzer, whose fractions have no leading zeros', async () => {
    const read = await readText(
      '@ TEXT @ 2 @ 64 @ 0 @ 2 @ 38782 @ 00:00:38.782 @\r14,7\t2\t0004\t4E0\t2\t24 01\t00000000\t$ \t\r14,687\t1\t0004\t45A\t0\t\t00000000\t\t\r',
    );
    expect(read.messages).toEqual([]);
    expect(read.frames).toEqual([
      { at: 14_007, id: 0x4e0, bus: 'can1', flags: 0, length: 2, data: '2401' },
      { at: 14_687, id: 0x45a, bus: 'can0', flags: 0, length: 0, data: '' },
    ]);
  });
});

describe('BUSMASTER', () => {
  const header = (mode: string, base = 'HEX') =>
    `***BUSMASTER Ver 2.4.0***\r\n***PROTOCOL CAN***\r\n***START DATE AND TIME 8:8:2014 23:59:58:500***\r\n***${base}***\r\n***${mode} MODE***\r\n`;
  const day = Date.UTC(2014, 7, 8);

  it('reads system times across midnight', async () => {
    const read = await readText(
      `${header('SYSTEM')}23:59:59:9420 Rx 1 0x023 s 1 40\r\n00:00:00:0010 Tx 2 0x18DAF110 x 2 40 FF\r\n00:00:01:5000 Rx 1 0x023 sr 3\r\n***[STOP LOGGING SESSION]***\r\n`,
    );
    expect(read.format).toBe('busmaster');
    expect(read.messages).toEqual([]);
    expect(read.frames).toEqual([
      { at: day + 86_399_942, id: 0x23, bus: 'can0', flags: 0, length: 1, data: '40' },
      { at: day + 86_400_001, id: (0x18daf110 | EXTENDED) >>> 0, bus: 'can1', flags: SENT, length: 2, data: '40ff' },
      { at: day + 86_401_500, id: 0x4000_0023, bus: 'can0', flags: 0, length: 3, data: '000000' },
    ]);
  });

  it('reads relative times and decimal numbers', async () => {
    const read = await readText(
      `${header('RELATIVE', 'DEC')}0:0:1:0000 Rx 1 35 s 1 64\n0:0:1:0000 Rx 1 35 s 2 064 255\n`,
    );
    expect(read.frames.map(({ at, id, data }) => [at, id, data])).toEqual([
      [day + 86_399_500, 35, '40'],
      [day + 86_400_500, 35, '40ff'],
    ]);
  });
});
