import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BytesFormat, bytesFormats } from '../../../../adapters/can/log/formats.ts';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { type LogParser, Recording } from '../../../../adapters/can/log/recording.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { pcap, pcapng } from './capture-writers.ts';
import { anyFrames, type Frame, fileOf, framesOf, parserOf, readText } from './frames.ts';
import { asc, blf, cando, canServer, crtd, gvret, kvaser, slcan, trc } from './writers.ts';

const [frames] = fc.sample(anyFrames({ fd: true, remote: true, sent: true }), { numRuns: 1, seed: 5 }) as [Frame[]];
const [plain] = fc.sample(anyFrames({ fd: false, remote: false, sent: true }), { numRuns: 1, seed: 6 }) as [Frame[]];

const short = plain.map((frame) => ({ ...frame, id: frame.id & 0x7ff }));

const samples: Readonly<Record<BytesFormat, Uint8Array>> = {
  candump: Buffer.from('(1.500000) can0 123#1122\n(2) can1 12345678##311\n(3.0) can1 7FF#R4\n'.repeat(20)),
  'candump-screen': Buffer.from(' (1.500000)  can0  123   [2]  11 22\n  can1  12345678  [03]  11 22 33\n'.repeat(20)),
  asc: Buffer.from(asc(frames, 'hex', 'absolute')),
  blf: blf(frames, 100, true),
  trc: Buffer.from(trc(frames)),
  crtd: Buffer.from(crtd(plain)),
  gvret: Buffer.from(gvret(plain)),
  canhacker: Buffer.from('Time   ID     DLC Data\r00.100 000004E0 2 01 02\r00.200 18FEF100 1 36\r'.repeat(5)),
  busmaster: Buffer.from(
    '***BUSMASTER Ver 2.4.0***\n***START DATE AND TIME 8:8:2014 1:2:3:4***\n11:49:12:9420 Rx 1 0x023 s 1 40\n'.repeat(
      5,
    ),
  ),
  kvaser: Buffer.from(kvaser(plain)),
  slcan: Buffer.from(slcan(frames)),
  cando: cando(short),
  canserver: canServer(short, 3),
  table: Buffer.from(`Time (ms),ID,DLC,Data\n${'1.5,7E8,3,03 41 0D\n2,18FEF100,2,01FF\n'.repeat(20)}`),
  pcap: pcap(frames, { linkType: 113, little: false, nano: true }),
  pcapng: pcapng(frames, { linkType: 227, little: true, nano: false }),
};

/** Parses bytes in pieces of `size`, as from a slow pipe, and checks that the parser makes progress. */
function parsed(format: BytesFormat, bytes: Uint8Array, size: number): { frames: Frame[]; faults: number } {
  const recording = new Recording('log');
  let parser: LogParser;
  try {
    parser = parserOf(format, recording, bytes.subarray(0, 4096));
  } catch (error) {
    // The reader refuses a table before any frame if its lines contradict its columns.
    expect(error).toBeInstanceOf(VigieError);
    return { frames: [], faults: 1 };
  }
  const result: Frame[] = [];
  let pos = 0;
  let end = 0;
  for (let last = false; !last; ) {
    end = Math.min(bytes.length, end + size);
    last = end === bytes.length;
    for (;;) {
      const next = parser.parse(bytes, pos, end, last);
      if (next < pos || next > end) throw new Error('a parser left its bytes');
      pos = next;
      const { full } = recording;
      result.push(...framesOf(recording.batch, recording.buses));
      recording.batch.count = 0;
      if (!full) break;
    }
  }
  return { frames: result, faults: recording.faults.count };
}

describe.each(bytesFormats)('%s', (format) => {
  const bytes = samples[format];
  const whole = parsed(format, bytes, bytes.length);

  it('the format is recognised', async () => {
    expect((await readText(bytes)).format).toBe(format);
    expect(whole.faults).toBe(0);
    expect(whole.frames.length).toBeGreaterThan(1);
  });

  it('reads the same in pieces of any size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), (size) => {
        expect(parsed(format, bytes, size)).toEqual(whole);
      }),
      { numRuns: 30, seed: 1 },
    );
  });

  it('a file cut anywhere yields the frames before the cut', () => {
    const known = whole.frames.map((frame) => JSON.stringify(frame));
    let before = 0;
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { frames } = parsed(format, bytes.subarray(0, cut), 4096);
      // The truncated record may form a valid frame with a shorter payload. All earlier frames must be unchanged.
      const strange = frames.slice(0, -1).findIndex((frame, i) => JSON.stringify(frame) !== known[i]);
      expect([cut, strange]).toEqual([cut, -1]);
      expect(frames.length).toBeGreaterThanOrEqual(before - 1);
      before = Math.max(before, frames.length);
    }
    expect(before).toBe(whole.frames.length);
  });

  it('changed and arbitrary bytes do not break the parser', () => {
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(change, fc.integer({ min: 1, max: 2000 }), (changes, size) => {
        const broken = Uint8Array.from(bytes);
        for (const [at, value] of changes) broken[at] = value;
        const read = parsed(format, broken, size).frames;
        expect(read.filter(({ length, at }) => length > 64 || Number.isNaN(at))).toEqual([]);
      }),
      { numRuns: 150, seed: 2 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.string({ maxLength: 300 }), (binary, text) => {
        parsed(format, binary, 97);
        parsed(format, Buffer.from(text), 97);
      }),
      { numRuns: 150, seed: 3 },
    );
  });
});

describe('openLog', () => {
  it('throws only VigieError for arbitrary content', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, gzip) => {
        const content = gzip ? Buffer.concat([Buffer.from([0x1f, 0x8b]), bytes]) : bytes;
        await readText(content).catch((error: unknown) => {
          expect(error).toBeInstanceOf(VigieError);
        });
      }),
      { numRuns: 100, seed: 4 },
    );
  });

  it('names the file that cannot be read', async () => {
    await expect(openLog('/nowhere/at.log')).rejects.toMatchObject({
      code: 'input.unreadable',
      where: '/nowhere/at.log',
    });
    await expect(openLog('/')).rejects.toMatchObject({ code: 'input.unreadable', where: '/' });
    await expect(openLog(fileOf(''))).rejects.toMatchObject({ code: 'input.malformed' });
    await expect(openLog(fileOf('hello\n'))).rejects.toThrow(/candump -l.*BLF/);
  });

  it('reads the format that the caller names', async () => {
    const read = await readText('hello\n', { format: 'candump' });
    expect(read).toMatchObject({ format: 'candump', frames: [], faults: 1 });
  });

  it('assigns all frames to one bus if the caller names it', async () => {
    const read = await readText('(1.0) can0 123#11\n(1.0) vcan1 123#11\n'.repeat(300), { bus: 'body' });
    expect(new Set(read.frames.map(({ bus }) => bus))).toEqual(new Set(['body']));
    expect(read.frames).toHaveLength(600);
    expect((await readText(samples.asc, { bus: 'body' })).frames.every(({ bus }) => bus === 'body')).toBe(true);
  });

  it('skips a byte order mark', async () => {
    expect((await readText('\ufeff(1.0) can0 123#11\n')).faults).toBe(0);
  });

  it('keeps ten diagnostics and counts the rest', async () => {
    const read = await readText(`(1.0) can0 123#11\n${'(1.0) can0 123#1\n'.repeat(50)}`);
    expect(read.faults).toBe(50);
    expect(read.messages).toHaveLength(10);
  });

  it('reads several gzip members, and the start of a truncated one', async () => {
    const text = Buffer.from('(1.000000) can0 123#0011223344556677\n'.repeat(20_000));
    const packed = gzipSync(text);
    expect((await readText(Buffer.concat([packed, packed]))).frames).toHaveLength(40_000);
    const cut = await readText(packed.subarray(0, packed.length - 40));
    expect(cut.frames.length).toBeGreaterThan(10_000);
    expect(cut.frames.length).toBeLessThan(20_000);
  });

  it('accepts 256 buses and counts the frames of others as faults', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => `(1.0) can${i} 123#11\n`);
    const read = await readText(lines.join(''));
    expect(read.frames).toHaveLength(256);
    expect(read.faults).toBe(44);
  });
});

describe('memory', () => {
  it('an endless line is skipped piece by piece', () => {
    const recording = new Recording('log');
    const parser = parserOf('candump', recording, new Uint8Array(0));
    const piece = new Uint8Array(1 << 20).fill(48);
    const line = Buffer.from('\n(1.0) can0 123#11\n');
    for (let i = 0; i < 1024; i++) expect(parser.parse(piece, 0, piece.length, false)).toBe(piece.length);
    expect(parser.parse(line, 0, line.length, true)).toBe(line.length);
    expect(recording.faults).toMatchObject({ count: 1, first: [{ line: 1 }] });
    expect(recording.batch.count).toBe(1);
  });

  it('a BLF object that claims 4 GiB costs only itself', () => {
    const good = blf(frames, 100_000, false);
    for (const type of [1, 10, 999]) {
      const huge = Buffer.alloc(48);
      huge.write('LOBJ');
      huge.writeUInt16LE(32, 4);
      huge.writeUInt16LE(1, 6);
      huge.writeUInt32LE(0xffff_ffff, 8);
      huge.writeUInt32LE(type, 12);
      const bytes = Buffer.concat([good.subarray(0, 144), huge, good.subarray(144)]);
      const read = parsed('blf', bytes, 64);
      expect(read.frames).toHaveLength(frames.length);
      expect(read.faults).toBe(1);
    }
  });
});
