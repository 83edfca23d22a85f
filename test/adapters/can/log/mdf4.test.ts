/** Reading of ASAM MDF4 bus logs. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { ERROR, EXTENDED, FD, REMOTE } from '../../../../agent/ports.ts';
import { stride } from '../../../rig/runs.ts';
import { anyFrames, type Frame, fileOf, inMicroseconds, readLog, readText } from './frames.ts';
import { type Mdf4, mdf4, otherGroup, start } from './mdf4-writer.ts';

const foreign = join(dirname(fileURLToPath(import.meta.url)), 'foreign');
const everything = { fd: true, remote: true, sent: true };
const runs = { numRuns: 100, seed: 20_260_601 };
const simple: Mdf4 = { sorted: true, bytes: 'fixed', time: 'float', ide: 'bit', packing: 'plain' };
const unsorted: Mdf4 = { ...simple, sorted: false, bytes: 'records' };

const anyOptions = fc
  .record({
    sorted: fc.boolean(),
    bytes: fc.constantFrom('fixed' as const, 'mlsd' as const, 'sd' as const, 'records' as const),
    bytesFirst: fc.boolean(),
    time: fc.constantFrom('float' as const, 'nanoseconds' as const),
    ide: fc.constantFrom('bit' as const, 'channel' as const),
    packing: fc.constantFrom(
      'plain' as const,
      'deflate' as const,
      'transposed' as const,
      'zstd' as const,
      'transposed zstd' as const,
    ),
    blockSize: fc.constantFrom(undefined, 33, 100, 1000),
    invalidBytes: fc.constantFrom(0, 1),
    idBytes: fc.constantFrom(1 as const, 2 as const, 4 as const, 8 as const),
    timeFlags: fc.constantFrom(0, 1, 2),
  })
  .map(
    (options): Mdf4 => ({ ...options, bytes: options.sorted && options.bytes === 'records' ? 'sd' : options.bytes }),
  );

/**
 * Sorts by time like the reader. Files do not define the order of frames with equal times, so the rest of the key is
 * arbitrary.
 */
function ordered(frames: readonly Frame[]): Frame[] {
  const key = ({ id, bus, flags, data }: Frame) => `${id} ${bus} ${flags} ${data}`;
  return [...inMicroseconds(frames)].sort((a, b) => a.at - b.at || key(a).localeCompare(key(b)));
}

/** Consecutive frames, 1 ms apart. */
function drive(count: number): Frame[] {
  return Array.from({ length: count }, (_, i) => ({
    at: start + i,
    id: i % 3 === 0 ? (0x18fef100 | EXTENDED) >>> 0 : 0x100 + (i % 5),
    bus: `can${i % 2}`,
    flags: i % 4 === 0 ? FD : 0,
    length: i % 4 === 0 ? 12 : 1 + (i % 8),
    data: (i % 256)
      .toString(16)
      .padStart(2, '0')
      .repeat(i % 4 === 0 ? 12 : 1 + (i % 8)),
  }));
}

async function opened(file: Uint8Array) {
  const log = await openLog(fileOf(file));
  for await (const _ of log.batches());
  await log.close();
  return log;
}

test('frames of any layout, packing, time format and identifiers are read back', async () => {
  await fc.assert(
    fc.asyncProperty(anyFrames(everything), anyOptions, async (frames, options) => {
      const read = await readText(mdf4(frames, options));
      expect(read).toMatchObject({ format: 'mdf4', messages: [] });
      expect(ordered(read.frames)).toEqual(ordered(frames));
      const times = read.frames.map(({ at }) => at);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }),
    runs,
  );
});

test('more frames than a batch holds, from several groups, come in the order of their times', async () => {
  const frames = drive(20_000);
  for (const options of [
    simple,
    { ...simple, bytes: 'sd' as const, packing: 'transposed' as const, blockSize: 40_000 },
    unsorted,
    { ...unsorted, bytesFirst: true },
  ]) {
    const read = await readText(mdf4(frames, options));
    expect(read.messages).toEqual([]);
    expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(frames));
  }
});

test('remote and error frames are read; overload frames and frames of other bus types are counted separately', async () => {
  const frames: Frame[] = [
    { at: start, id: (0x123 | REMOTE) >>> 0, bus: 'can0', flags: 0, length: 4, data: '00000000' },
    { at: start + 1, id: (ERROR | 0x80) >>> 0, bus: 'can1', flags: 0, length: 8, data: '0000000000000000' },
  ];
  const extra = [
    otherGroup(['CAN_OverloadFrame', 'CAN_OverloadFrame.BusChannel'], 2),
    otherGroup(['LIN_Frame'], 3),
    otherGroup(['FLX_Frame'], 4),
    otherGroup(['ETH_Frame'], 5),
    otherGroup(['EngineSpeed'], 6),
  ];
  const read = await readText(mdf4(frames, simple, extra));
  expect(read).toMatchObject({ frames, messages: [] });
  expect((await opened(mdf4(frames, simple, extra))).passedOver).toEqual(
    new Map([
      ['CAN_OverloadFrame', 2],
      ['LIN frames', 3],
      ['FlexRay frames', 4],
      ['Ethernet frames', 5],
      ['samples of measured values', 6],
    ]),
  );
});

describe('unfinished files', () => {
  test.each([
    ['record counts', 1],
    ['the length of the last block', 4 | 1],
    ['the last list', 0x10 | 4 | 1],
    ['the size of variable bytes', 0x20 | 4 | 1],
    ['the offsets of variable bytes', 0x40 | 0x20 | 4 | 1],
  ])('all frames are read without %s', async (_, unfinished) => {
    const frames = drive(500);
    for (const options of [unsorted, { ...unsorted, bytesFirst: true }, { ...unsorted, bytes: 'mlsd' as const }]) {
      for (const blockSize of [undefined, 1000]) {
        const read = await readText(mdf4(frames, { ...options, unfinished, blockSize }));
        expect(read.messages).toEqual([]);
        expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(frames));
      }
    }
    const sorted = frames.map((frame) => ({ ...frame, bus: 'can0' }));
    const read = await readText(mdf4(sorted, { ...simple, unfinished }));
    expect(read.messages).toEqual([]);
    expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(sorted));
  });

  test('a file cut within its last record yields all others and reports the cut', async () => {
    const file = mdf4(drive(500), { ...unsorted, bytes: 'fixed', unfinished: 5 });
    const read = await readText(file.subarray(0, file.length - 10));
    expect(read.frames).toHaveLength(499);
    expect(read.messages).toEqual(['0: the records of CAN_DataFrame end within one']);
  });
});

describe('a file that is cut anywhere', () => {
  const frames = drive(12);
  const wanted = inMicroseconds(frames);

  test.each([
    ['unsorted, with variable bytes', unsorted, 1],
    ['sorted', simple, 17],
    ['sorted, with signal data', { ...simple, bytes: 'sd' }, 17],
    ['sorted, packed', { ...simple, packing: 'deflate', blockSize: 200 }, 17],
    ['sorted, packed and transposed', { ...simple, packing: 'transposed', blockSize: 200 }, 17],
  ] as const)('%s: frames before the cut are right, and missing ones are counted', async (_, options, step) => {
    const file = mdf4(frames, options as Mdf4);
    // In these files the data blocks follow all descriptive blocks, which are similar in each file.
    const data = Math.min(...['DT', 'SD', 'DZ'].flatMap((id) => positionsOf(file, id)));
    const known = new Set(wanted.map((frame) => JSON.stringify(frame)));
    const reached = new Set<number>();
    for (let cut = 0; cut < file.length; cut += stride(11) * (cut < data ? step : 1)) {
      const read = await readText(file.subarray(0, cut)).catch((error: Error) => error.message);
      if (typeof read === 'string') {
        if (!/damaged|not a log of a known format|the file is empty/.test(read)) throw new Error(`${cut}: ${read}`);
        continue;
      }
      const strange = inMicroseconds(read.frames).filter((frame) => !known.has(JSON.stringify(frame)));
      // A group that is cut off does not contain its number of records.
      const missing = cut < data ? Math.max(1, read.faults) : frames.length - read.frames.length;
      expect([cut, strange, read.faults]).toEqual([cut, [], missing]);
      reached.add(read.frames.length);
    }
    expect(reached.size).toBeGreaterThan(3);
  });

  test('unsorted and unfinished: frames before the cut are read', async () => {
    const file = mdf4(frames, { ...unsorted, unfinished: 0x65 });
    const step = stride(11);
    const data = Math.min(...positionsOf(file, 'DT'));
    let most = 0;
    // As above, test fewer cuts before the data. The last cut is the end of the file.
    const first = data + ((file.length - data) % step);
    for (let cut = data % 17; cut <= file.length; cut = cut < data ? Math.min(cut + 17 * step, first) : cut + step) {
      const read = await readText(file.subarray(0, cut)).catch(() => undefined);
      if (read === undefined) continue;
      const count = read.frames.length;
      expect([cut, inMicroseconds(read.frames)]).toEqual([cut, wanted.slice(0, count)]);
      expect(count).toBeGreaterThanOrEqual(most);
      most = count;
    }
    expect(most).toBe(frames.length);
  });
});

describe('times of any width', () => {
  const frames = drive(200).map((frame) => ({ ...frame, flags: 0, length: 1, data: frame.data.slice(0, 2) }));
  const widths = Array.from({ length: 57 }, (_, i) => 8 + i);

  test.each(widths)('a time of %i bits is read, at any bit and in both byte orders', async (timeBits) => {
    for (let timeBit = 0; timeBit < 8 && timeBit + timeBits <= 64; timeBit++) {
      const options: Mdf4 = { ...simple, time: 'nanoseconds', timeBits, timeBit, timeBig: timeBit % 2 === 1 };
      const read = await readText(mdf4(frames, options));
      expect(read.messages).toEqual([]);
      expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(frames));
    }
  });

  test.each(widths)('with times of %i bits, a file cut at 18 places yields every whole record', async (timeBits) => {
    const options: Mdf4 = { ...simple, time: 'nanoseconds', timeBits };
    const file = mdf4(frames, options);
    const blocks = positionsOf(file, 'DT').map((at) => ({ from: at + 24, to: at + file.readUInt32LE(at + 8) }));
    const RECORD_BYTES = 80;
    for (let i = 0; i < 18; i++) {
      // A cut before the first data block leaves no records.
      const first = (blocks[0] as { from: number }).from;
      const cut = first + Math.floor(((file.length - first) * (i + (timeBits % 7) / 7)) / 18);
      const whole = blocks.reduce(
        (sum, { from, to }) => sum + Math.max(0, Math.floor((Math.min(cut, to) - from) / RECORD_BYTES)),
        0,
      );
      for (const content of [file, mdf4(frames, { ...options, unfinished: 1 })]) {
        const read = await readText(content.subarray(0, cut));
        expect([cut, read.frames.length]).toEqual([cut, whole]);
      }
    }
  });

  test('an unsupported conversion of the time is reported, and all its records are counted', async () => {
    for (const unfinished of [0, 5]) {
      for (const kind of [simple, unsorted]) {
        const one = frames.map((frame) => ({ ...frame, bus: 'can0' }));
        const file = mdf4(one, { ...kind, time: 'nanoseconds', unfinished });
        for (const at of positionsOf(file, 'CC')) file[at + 24 + 32] = 7;
        const log = await opened(file);
        expect(log.frames).toBe(0);
        expect(log.leftOut).toMatchObject([
          {
            count: frames.length,
            example: {
              message:
                'records of CAN_DataFrame cannot be read: their time has a conversion of type 7, which is not read',
            },
          },
        ]);
      }
    }
  });
});

test('a file whose last groups are cut off yields the records of the others', async () => {
  const frames = drive(90);
  const file = mdf4(frames, simple);
  const groups = positionsOf(file, 'DG');
  // Link the second group to an address past the end of the file.
  file.writeBigUInt64LE(BigInt(file.length + 100), (groups[0] as number) + 24);
  const read = await readText(file);
  expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(frames.filter(({ bus }) => bus === 'can0')));
  expect(read.messages).toEqual([expect.stringMatching(/the MDF4 file is damaged: a block at byte \d+ lies behind/)]);
});

describe('start times', () => {
  const [frame] = drive(1) as [Frame];

  test.each([
    ['UTC', 0],
    ['UTC with the offsets of local time', 2],
    ['local time without a zone', 1],
  ])('%s', async (_, timeFlags) => {
    const [read] = (await readText(mdf4([frame], { ...simple, timeFlags }))).frames;
    expect(read?.at).toBe(start);
  });
});

describe('a clear error or diagnostic is reported', () => {
  const file = mdf4([], simple, [
    otherGroup(['LIN_Frame'], 1),
    otherGroup(['EngineSpeed'], 2),
    otherGroup(['Torque'], 2),
  ]);

  test.each([
    [
      'without CAN frames',
      file,
      /the MDF4 file has no CAN frames; it has LIN frames in 1 group, samples of measured values in 2 groups$/,
    ],
    ['without anything', mdf4([], simple), /the MDF4 file has no CAN frames; it has no records at all$/],
    [
      'of version 3',
      Buffer.from('MDF     3.30    TGT 15.0'.padEnd(200, '\0')),
      /this is an MDF file of version 2 or 3, which is not read: convert it to MDF4/,
    ],
    [
      'encrypted by a CANedge',
      Buffer.from('Generic File\x01\x00\x11\x01\0\0\0\0'.padEnd(200, 'x')),
      /this is an encrypted log of a CANedge/,
    ],
    [
      'compressed by a CANedge',
      Buffer.from('Generic File\x01\x00\x22\x01\0\0\0\0'.padEnd(200, 'x')),
      /this is a compressed log of a CANedge/,
    ],
  ])('for a file %s', async (_, content, message) => {
    await expect(openLog(fileOf(content))).rejects.toThrow(message);
  });

  test('for groups linked in a circle, of which the first round is read', async () => {
    const circle = mdf4(drive(3), simple, [otherGroup(['A'], 1)]);
    const [first, second] = positionsOf(circle, 'DG') as [number, number];
    circle.writeBigUInt64LE(BigInt(first), second + 24);
    const read = await readText(circle);
    expect(read.frames).toHaveLength(2);
    expect(read.messages).toEqual([
      expect.stringMatching(/the MDF4 file is damaged: the ##DG at byte \d+ is linked in a circle$/),
    ]);
  });

  test('for a group of frames without identifiers, with the number of lost records', async () => {
    const log = await opened(mdf4(drive(3), simple, [otherGroup(['CAN_DataFrame', 'CAN_DataFrame.DLC'], 7)]));
    expect(log.frames).toBe(3);
    expect(log.leftOut).toMatchObject([
      {
        count: 7,
        example: { message: 'records of CAN_DataFrame cannot be read: they have no identifier' },
      },
    ]);
    expect(log.parts).toEqual([
      { name: 'channel group 1 (CAN_DataFrame)', read: 0, count: 7, why: 'they have no identifier' },
      { name: 'channel group 2 (CAN_DataFrame, CAN)', read: 2, count: 2, why: undefined },
      { name: 'channel group 3 (CAN_DataFrame, CAN)', read: 1, count: 1, why: undefined },
    ]);
  });

  test('for LZ4, with the number of missing records', async () => {
    const packed = mdf4(
      drive(2).map((frame) => ({ ...frame, bus: 'can0' })),
      { ...simple, packing: 'deflate' },
    );
    const [at] = positionsOf(packed, 'DZ') as [number];
    packed[at + 26] = 4;
    const log = await opened(packed);
    expect(log).toMatchObject({ frames: 0, faults: { count: 2 } });
    expect(log.leftOut[0]?.example.message).toMatch(
      /2 of 2 records of CAN_DataFrame are missing: the compressed block at byte \d+ is compressed by LZ4, which is not read$/,
    );
  });

  test('for a compressed block that claims gigabytes', async () => {
    const packed = mdf4(drive(2), { ...unsorted, packing: 'deflate' });
    const [at] = positionsOf(packed, 'DZ') as [number];
    packed.writeBigUInt64LE(1n << 40n, at + 32);
    const log = await opened(packed);
    expect(log.frames).toBe(0);
    expect(log.leftOut[0]?.example.message).toMatch(/claims 1099511627776 bytes$/);
  });
});

test('a transposed block with more columns than bytes is read untransposed, without a loop over its columns', async () => {
  const frames = drive(200).map((frame) => ({ ...frame, bus: 'can0' }));
  const file = mdf4(frames, { ...simple, packing: 'deflate', blockSize: 40 });
  const blocks = positionsOf(file, 'DZ');
  // Counting the columns would take seconds for each block.
  expect(blocks.length).toBeGreaterThan(60);
  for (const at of blocks) {
    file[at + 26] = 1;
    file.writeUInt32LE(0xffff_ffff, at + 28);
  }
  const read = await readText(file);
  expect(read).toMatchObject({ messages: [] });
  expect(read.frames).toEqual((await readText(mdf4(frames, simple))).frames);
});

describe('invalid records', () => {
  const frames = drive(10).map((frame) => ({ ...frame, bus: 'can0' }));

  test('a frame that claims more bytes than it has is left out', async () => {
    const file = mdf4(frames, { ...simple, bytes: 'sd' });
    const [data] = positionsOf(file, 'DT') as [number];
    file[data + 24 + 15] = 64;
    const read = await readText(file);
    expect(read.frames).toHaveLength(9);
    expect(read.messages).toEqual(['0: a frame has fewer bytes than it says']);
  });

  test('missing payload bytes are reported', async () => {
    const file = mdf4(frames, { ...simple, bytes: 'sd' });
    const [data] = positionsOf(file, 'DT') as [number];
    file.writeBigUInt64LE(99_999n, data + 24 + 16);
    const read = await readText(file);
    expect(read.frames).toHaveLength(9);
    expect(read.messages).toEqual(['0: the bytes of a frame are missing']);
  });

  test('an unknown record identifier ends reading, and missing records are reported', async () => {
    const file = mdf4(frames, { ...unsorted, bytes: 'fixed' });
    const [data] = positionsOf(file, 'DT') as [number];
    file[data + 24 + 5 * 81] = 77;
    const read = await readText(file);
    expect(read.frames).toHaveLength(5);
    expect(read.messages).toEqual([
      '0: a record has an unknown identifier (77): nothing behind it can be read',
      '0: 5 of 10 records of CAN_DataFrame are missing',
    ]);
  });
});

describe('files that asammdf wrote from frames of these tests', () => {
  test.each([
    ['plain', 'drive.mf4', 'DT'],
    ['packed with deflate', 'drive-deflate.mf4', 'DZ'],
    ['packed with transposed deflate', 'drive-transposed.mf4', 'DZ'],
    ['in columns with their times apart, of version 4.2', 'drive-420.mf4', 'LD'],
  ])('%s', async (_, name, block) => {
    const read = await readLog(join(foreign, name));
    expect(read).toMatchObject({ format: 'mdf4', messages: [] });
    const { frames } = await readLog(join(foreign, 'drive.log'));
    expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(frames));
    expect(positionsOf(readFileSync(join(foreign, name)), block).length).toBeGreaterThan(0);
  });
});

/** Positions of the blocks of a kind. */
function positionsOf(file: Buffer, id: string): number[] {
  const positions: number[] = [];
  for (let at = file.indexOf(`##${id}`); at >= 0; at = file.indexOf(`##${id}`, at + 1)) positions.push(at);
  return positions;
}
