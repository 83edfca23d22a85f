/**
 * Reads logs that other tools wrote. The files in `recorded/` contain the same nine frames, each as far as its format
 * allows. python-can 4.1 wrote `python-can.asc`, `python-can.blf` and `candump.log`; the others were written by hand
 * from the descriptions of their formats. The optional shared data add real captures.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { BIT_RATE_SWITCH, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { type Frame, fileOf, readLog, readText } from './frames.ts';

const recorded = fileURLToPath(new URL('recorded/', import.meta.url));
const octets = Array.from({ length: 64 }, (_, i) => i.toString(16).padStart(2, '0')).join('');

/** Checks that a log reads to its end without a fault. */
async function readsToItsEnd(path: string): Promise<void> {
  const log = await readLog(path);
  expect(log.messages).toEqual([]);
  expect(log.frames.length).toBeGreaterThan(0);
  expect(log.position).toBe(log.size);
}

/** 5 March 2024, 09:08:07.25 UTC. */
const start = 1_709_629_687_250;
const frame = (after: number, id: number, data: string, more: Partial<Frame> = {}): Frame => ({
  at: start + after,
  id: id >>> 0,
  bus: 'can0',
  flags: 0,
  length: data.length / 2,
  data,
  ...more,
});

/** Includes an extended identifier with a small number, and a remote frame, which has a length and no bytes. */
const classic: readonly Frame[] = [
  frame(0, 0x100, '1122334455667788'),
  frame(1.25, 0x18fef100 | EXTENDED, '0102030405060708'),
  frame(2.5, 0x7ff, ''),
  frame(12.5, 0x100 | EXTENDED, 'aabb', { flags: SENT }),
  frame(20, 0x704 | REMOTE, '00'),
  frame(1000.123, 0x2a0, 'deadbeef', { bus: 'can1' }),
  frame(61_500, 0x123, '00'),
];
const flexible: readonly Frame[] = [
  frame(61_600, 0x4ee, octets, { flags: FD | BIT_RATE_SWITCH }),
  frame(61_700, 0x1c4d80a7 | EXTENDED, 'a0a1a2a3a4a5a6a7a8a9aaab', { flags: FD | ERROR_STATE }),
];

interface Sample {
  readonly file: string;
  readonly format: string;
  readonly frames: readonly Frame[];
  /** Resolution of times, ms. */
  readonly step: number;
}

const everything = [...classic, ...flexible];
const onOneBus = (frames: readonly Frame[]): Frame[] => frames.map((one) => ({ ...one, bus: 'can0' }));
const withoutRemote = classic.filter(({ id }) => (id & REMOTE) === 0);

const samples: readonly Sample[] = [
  { file: 'python-can.asc', format: 'asc', frames: everything, step: 0.001 },
  { file: 'python-can.blf', format: 'blf', frames: everything, step: 0.001 },
  // A remote frame without a length field has length 0.
  {
    file: 'candump.log',
    format: 'candump',
    frames: everything.map((one) => ((one.id & REMOTE) === 0 ? one : { ...one, length: 0, data: '' })),
    step: 0.001,
  },
  { file: 'candump-screen.txt', format: 'candump-screen', frames: classic, step: 0.001 },
  { file: 'vector.asc', format: 'asc', frames: classic, step: 0.001 },
  // The format has no direction.
  {
    file: 'peak-1.0.trc',
    format: 'trc',
    frames: onOneBus(classic).map((one) => ({ ...one, flags: 0 })),
    step: 1,
  },
  { file: 'peak-1.1.trc', format: 'trc', frames: onOneBus(classic), step: 0.1 },
  { file: 'peak-1.3.trc', format: 'trc', frames: classic, step: 0.01 },
  { file: 'peak-2.0.trc', format: 'trc', frames: onOneBus(classic), step: 0.01 },
  { file: 'peak-2.1.trc', format: 'trc', frames: classic, step: 0.01 },
  { file: 'savvycan.csv', format: 'gvret', frames: withoutRemote, step: 0.001 },
  { file: 'ovms.crtd', format: 'crtd', frames: withoutRemote, step: 0.001 },
  { file: 'busmaster.log', format: 'busmaster', frames: classic, step: 0.1 },
  // Times start at 0, restart every minute, and there is no direction.
  {
    file: 'canhacker.trc',
    format: 'canhacker',
    frames: onOneBus(withoutRemote)
      .filter(({ flags }) => flags === 0)
      .map((one) => ({ ...one, at: one.at === start + 61_500 ? 1500 : one.at - start })),
    step: 1,
  },
];

describe('logs of other tools', () => {
  test('the test has a sample for every file in the folder', () => {
    expect(readdirSync(recorded).sort()).toEqual(samples.map(({ file }) => file).sort());
  });

  test.each(samples)('$file reads to its end without a fault', ({ file }) => readsToItsEnd(join(recorded, file)));

  test.each(samples)('$file yields the same frames as the others', async ({ file, format, frames, step }) => {
    const read = await readLog(join(recorded, file));
    expect(read.format).toBe(format);
    const timeless = (list: readonly Frame[]) => list.map(({ at: _, ...rest }) => rest);
    expect(timeless(read.frames)).toEqual(timeless(frames));
    for (const [index, { at }] of read.frames.entries()) {
      // The writer truncates or rounds times. A start time in days with ten decimals is exact to 9 µs.
      expect(Math.abs(at - (frames[index] as Frame).at), `frame ${index}`).toBeLessThanOrEqual(step);
    }
  });

  test('a packed log yields the same frames', async () => {
    const path = join(recorded, 'vector.asc');
    const packed = await readLog(fileOf(gzipSync(readFileSync(path))));
    expect(packed.frames).toEqual((await readLog(path)).frames);
  });

  test('a file that is not a log is refused with a list of the known formats', async () => {
    const others = ['../../../../golden/dbc/j1939.dbc', '../../../../../package.json', '../../../../../LICENSE'];
    for (const name of others) {
      const path = join(recorded, name);
      await expect(openLog(path)).rejects.toMatchObject({ code: 'input.malformed', where: path });
    }
  });
});

/** A BLF file of uncompressed objects: signature, sizes, type, then flags, time in ns and body. */
function blfOf(...objects: readonly (readonly [type: number, body: string])[]): Buffer {
  const header = Buffer.alloc(144);
  header.write('LOGG');
  header.writeUInt32LE(144, 4);
  // SYSTEMTIME: year, month, day of the week, day, hour, minute, second, ms.
  for (const [index, value] of [2024, 3, 2, 5, 9, 8, 7, 250].entries()) header.writeUInt16LE(value, 40 + 2 * index);
  const all = objects.map(([type, body], index) => {
    const bytes = Buffer.from(body.replaceAll(/\s/g, ''), 'hex');
    const head = Buffer.alloc(32);
    head.write('LOBJ');
    head.writeUInt16LE(32, 4);
    head.writeUInt16LE(1, 6);
    head.writeUInt32LE(32 + bytes.length, 8);
    head.writeUInt32LE(type, 12);
    head.writeUInt32LE(2, 16);
    head.writeBigUInt64LE(BigInt(index) * 1_000_000n, 24);
    return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 4)]);
  });
  return Buffer.concat([header, ...all]);
}

describe('BLF objects, byte by byte', () => {
  test('CAN_MESSAGE and CAN_MESSAGE2: channel, flags, length, identifier, data', async () => {
    const { frames, messages } = await readText(
      blfOf(
        // Channel 3, received, 8 bytes, 29-bit identifier 0x4444444.
        [1, '0300 00 08 44444484 55 66 77 88 99 aa bb cc'],
        // Channel 1, flags 0x81: remote and sent; then the frame duration in ns and in bits, and reserved bytes.
        [86, '0100 81 04 23010000 0000000000000000 10270000 6e 00 0000'],
      ),
    );
    expect(messages).toEqual([]);
    expect(frames).toEqual([
      frame(0, 0x04444444 | EXTENDED, '5566778899aabbcc', { bus: 'can2' }),
      frame(1, 0x123 | REMOTE, '00000000', { flags: SENT }),
    ]);
  });

  test('CAN_FD_MESSAGE and CAN_FD_MESSAGE_64: the flags of either, and 64 bytes', async () => {
    const { frames, messages } = await readText(
      blfOf(
        // Channel 2, sent, code 15, identifier, frame duration, bits, flags FD + BRS + ESI, 64 valid bytes, reserved.
        [100, `0200 01 0f ee040000 00000000 00 07 40 00 00000000 ${octets} 00000000`],
        // Channel, code, valid bytes, tx count, identifier, duration in ns, flags FD (bit 12) + BRS (bit 13), two bit
        // timings, three times, bit count, direction, offset of further data, checksum, data.
        [
          101,
          `02 0f 40 00 a7804d9c 00000000 00300000 00000000 00000000 00000000 00000000 0000 01 00 00000000 ${octets}`,
        ],
      ),
    );
    expect(messages).toEqual([]);
    expect(frames).toEqual([
      frame(0, 0x4ee, octets, { bus: 'can1', flags: FD | BIT_RATE_SWITCH | ERROR_STATE | SENT }),
      frame(1, 0x1c4d80a7 | EXTENDED, octets, { bus: 'can1', flags: FD | BIT_RATE_SWITCH | SENT }),
    ]);
  });

  test('a payload that the file leaves short is filled with zeros', async () => {
    const { frames } = await readText(
      blfOf([101, `07 0f 40 00 a9060000 00000000 00300000 ${'00'.repeat(24)} ${'ff'.repeat(48)}`]),
    );
    expect(frames).toEqual([
      frame(0, 0x6a9, 'ff'.repeat(48) + '00'.repeat(16), { bus: 'can6', flags: FD | BIT_RATE_SWITCH }),
    ]);
  });

  test('objects without a CAN frame, also of unknown types, are counted by kind', async () => {
    const log = await openLog(
      fileOf(
        blfOf([71, '00'.repeat(40)], [11, '00'.repeat(20)], [57, '00'.repeat(20)], [65, '00'.repeat(8)], [999, '00']),
      ),
    );
    for await (const _ of log.batches());
    expect(log.passedOver).toEqual(
      new Map([
        ['Ethernet events', 1],
        ['LIN events', 2],
        ['texts', 1],
        ['objects of type 999', 1],
      ]),
    );
    await log.close();
  });

  test('an error frame is an error of its bus', async () => {
    // CAN_ERROR_EXT: channel 1, length, flags, error code, position, code, frame length, identifier, flags, data.
    const { frames } = await readText(blfOf([73, `0100 0000 00000000 00 00 00 00 ${'00'.repeat(20)}`]));
    expect(frames.map(({ id, bus }) => [id, bus])).toEqual([[0x2000_0080, 'can0']]);
  });
});

describeShared('recorded logs beside the project', () => {
  const folder = join(sharedData, 'canlogs');
  const read = (name: string) => readLog(join(folder, name));

  it('every file reads to its end without a fault', async () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(20);
    for (const file of files) await readsToItsEnd(join(file.parentPath, file.name));
  });

  it('a real candump log has the expected frames', async () => {
    const log = await read('icsim/sample-can.log');
    expect(log.frames).toHaveLength(6158);
    expect(log.faults).toBe(0);
    expect(log.frames[0]).toEqual({
      at: 1_398_128_223_803.317,
      id: 0x166,
      bus: 'can0',
      flags: 0,
      length: 4,
      data: 'd0320009',
    });
  });

  it('the two exports of one capture have the same identifiers and payloads', async () => {
    const content = async (name: string) =>
      (await read(name)).frames.map(({ id, length, data }) => ({ id, length, data }));
    const candump = await content('savvycan/candump.log');
    expect(candump).toHaveLength(12_974);
    expect(await content('savvycan/GVRET_Log.csv')).toEqual(candump);
  });

  it('ASC, its gzip and the TRC converted from it have the same frames', async () => {
    const asc = await read('python-can/test_CanMessage.asc');
    expect((await read('python-can/test_CanMessage.asc.gz')).frames).toEqual(asc.frames);
    const trc = await read('python-can/test_CanMessage.trc');
    expect(trc.frames.map((frame) => ({ ...frame, at: Math.round(frame.at) }))).toEqual(
      asc.frames.map((frame) => ({ ...frame, at: Math.round(frame.at) })),
    );
  });

  it('the versions of TRC have the same frames, as far as each format allows', async () => {
    const { frames } = await read('python-can/test_CanMessage_V2_1.trc');
    expect(frames.map(({ id }) => id).slice(-2)).toEqual([(0x100 | EXTENDED) >>> 0, 0x4000_0704]);
    for (const version of ['V1_1', 'V1_3', 'V2_0_BUS1']) {
      expect((await read(`python-can/test_CanMessage_${version}.trc`)).frames, version).toEqual(frames);
    }
    const oldest = (await read('python-can/test_CanMessage_V1_0_BUS1.trc')).frames;
    expect(oldest.map(({ id, data, at }) => [id, data, at])).toEqual(
      frames.map(({ id, data, at }) => [id, data, Math.trunc(at)]),
    );
  });

  it('the fields of BLF objects are read', async () => {
    const common = { at: 2_459_565_876_494.607, bus: 'can4368', id: (0x0444_4444 | EXTENDED) >>> 0 };
    for (const name of ['test_CanMessage.blf', 'test_CanMessage2.blf']) {
      const frame = { ...common, flags: 0, length: 8, data: '5566778899aabbcc' };
      expect((await read(`python-can/${name}`)).frames).toMatchObject([frame, frame].map(({ at: _, ...rest }) => rest));
    }
    const fd = (await read('python-can/test_CanFdMessage.blf')).frames;
    expect(fd).toHaveLength(2);
    expect(fd[0]).toMatchObject({ bus: 'can4368', flags: 7, length: 64, data: octets });
    const fd64 = (await read('python-can/test_CanFdMessage64.blf')).frames;
    expect(fd64[1]).toMatchObject({ bus: 'can16', length: 64, data: octets });
    const errors = (await read('python-can/test_CanErrorFrameExt.blf')).frames;
    expect(errors.map(({ id }) => id)).toEqual([0x2000_0080, 0x2000_0080]);
  });

  it('BLF payloads that the file leaves short are filled with zeros', async () => {
    const { frames } = await read('python-can/issue_1905.blf');
    expect(frames).toHaveLength(22);
    expect(frames[0]).toMatchObject({ id: 0x6a9, bus: 'can6', flags: FD | 2, length: 64 });
    expect(frames[0]?.data).toMatch(/^(ff){48}(00){16}$/);
  });

  it('FD frames in ASC are read', async () => {
    const { frames } = await read('python-can/test_CanFdMessage64.asc');
    expect(frames.map(({ id, flags, length, data }) => [id, flags, length, data.slice(0, 8)])).toEqual([
      [0x4ee, FD | 4, 64, 'a1020304'],
      [(0x1c4d80a7 | EXTENDED) >>> 0, FD | 2, 64, 'b1020304'],
    ]);
  });

  it('a file that is not a log is refused with a list of the known formats', async () => {
    for (const name of ['ORIGIN.md', 'gnss/sl869.log', 'drives/drive1.csv', 'dbc/css/canmod-gps.dbc']) {
      const path = join(sharedData, name);
      await expect(openLog(path)).rejects.toMatchObject({ code: 'input.malformed', where: path });
    }
  });
});
