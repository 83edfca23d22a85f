import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { formatCandump } from '../../../../adapters/can/log/index.ts';
import { EXTENDED, SENT } from '../../../../agent/ports.ts';
import { anyFrames, type Frame, inMicroseconds, readText } from './frames.ts';
import { asc, blf, crtd, gvret, trc } from './writers.ts';

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

describe('frames written in a format are read as they were', () => {
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

describe('GVRET CSV of older tools', () => {
  it('has no direction; a second block with other columns may follow', async () => {
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
  it('reads the older form; time starts again every minute', async () => {
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

  it('system time goes past midnight', async () => {
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

  it('relative time and decimal numbers', async () => {
    const read = await readText(
      `${header('RELATIVE', 'DEC')}0:0:1:0000 Rx 1 35 s 1 64\n0:0:1:0000 Rx 1 35 s 2 064 255\n`,
    );
    expect(read.frames.map(({ at, id, data }) => [at, id, data])).toEqual([
      [day + 86_399_500, 35, '40'],
      [day + 86_400_500, 35, '40ff'],
    ]);
  });
});
