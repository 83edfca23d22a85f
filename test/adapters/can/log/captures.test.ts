/** Reading of pcap and pcapng captures with CAN frames. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { Recording } from '../../../../adapters/can/log/recording.ts';
import { ERROR, EXTENDED, FD, SENT } from '../../../../agent/ports.ts';
import { asCaptured, type Capture, packetOf, pcap, pcapng } from './capture-writers.ts';
import { anyFrames, type Frame, fileOf, inMicroseconds, parserOf, readLog, readText } from './frames.ts';

const everything = { fd: true, remote: true, sent: true };
const runs = { numRuns: 60, seed: 20_260_601 };
const anyCapture: fc.Arbitrary<Capture> = fc.record({
  linkType: fc.constantFrom(227, 113, 276),
  little: fc.boolean(),
  nano: fc.boolean(),
});
const socketCan: Capture = { linkType: 227, little: true, nano: false };
const data: Frame = { at: 1_436_509_052_249.713, id: 0x123, bus: 'can0', flags: 0, length: 2, data: '0102' };
const foreign = join(dirname(fileURLToPath(import.meta.url)), 'foreign');

describe('pcap', () => {
  test('frames of every link type, byte order and resolution are read back', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), anyCapture, async (frames, capture) => {
        const read = await readText(pcap(frames, capture));
        expect(read).toMatchObject({ format: 'pcap', messages: [] });
        expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(asCaptured(frames, capture)));
      }),
      runs,
    );
  });

  test.each([
    [227, 'little'],
    [113, 'big'],
    [276, 'big'],
  ] as const)(
    'for link type %i, the byte order (%s) of identifiers is deduced from which identifiers are valid',
    async (linkType, identifiers) => {
      // The first two are valid in both byte orders; the others show the order.
      const ids = [0x8000_0000, 0, 0x123, 0x7ff, 0x98da_f110, 0x80 + EXTENDED, 0x2000_0004, 0x4000_0123];
      const frames = ids.map((id) => ({
        ...data,
        id: id >>> 0,
        ...((id & 0x6000_0000) === 0 ? {} : { length: 0, data: '' }),
      }));
      const capture: Capture = { linkType, little: true, nano: false, identifiers };
      for (const file of [pcap(frames, capture), pcapng(frames, capture)]) {
        const read = await readText(file);
        expect(read.frames.map(({ id }) => id.toString(16))).toEqual(frames.map(({ id }) => id.toString(16)));
        expect(read.messages).toEqual([]);
      }
    },
  );

  test('an identifier with more than 11 bits and no extended flag produces no frame', async () => {
    const read = await readText(pcap([data, { ...data, id: 0x1234 }, data], socketCan));
    expect(read.frames).toEqual([data, data]);
    expect(read.messages).toEqual(['0: an identifier has more bits than its flags say']);
  });

  test('times keep nanoseconds as far as a double can hold them', async () => {
    const file = pcap([data], { ...socketCan, nano: true });
    file.writeUInt32LE(249_713_250, 24 + 4);
    expect((await readText(file)).frames[0]?.at).toBe(1_436_509_052_000 + 249.71325);
  });

  test('a capture of Ethernet is reported as such', async () => {
    const file = pcap([data], socketCan);
    file.writeUInt32LE(1, 20);
    await expect(openLog(fileOf(file))).rejects.toThrow(
      /this capture is of Ethernet \(link type 1\) and has no CAN frames; read are the link types 227, 113, 276$/,
    );
  });

  test('a packet that claims an impossible size ends reading, and is reported', async () => {
    const file = Buffer.concat([pcap([data, data], socketCan), Buffer.alloc(16, 0xff)]);
    const read = await readText(file);
    expect(read.frames).toHaveLength(2);
    expect(read.messages).toEqual([
      '0: a packet claims an impossible size (4294967295), at byte 88: nothing behind it can be read',
    ]);
  });
});

describe('pcapng', () => {
  const anySection = fc.record({
    resolution: fc.constantFrom(undefined, 6, 7, 9, 0x80 | 24, 0x80 | 30),
    offset: fc.constantFrom(0, 1_000_000_000, -3600),
    block: fc.constantFrom('enhanced' as const, 'obsolete' as const),
  });

  test('frames of every link type, byte order, resolution and offset are read back', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrames(everything), anyCapture, anySection, async (frames, capture, section) => {
        const read = await readText(pcapng(frames, capture, section));
        expect(read).toMatchObject({ format: 'pcapng', messages: [] });
        const wanted = frames.map((frame, i) => ({
          ...frame,
          bus: capture.linkType === 276 ? (asCaptured(frames, capture)[i] as Frame).bus : frame.bus,
        }));
        expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(wanted));
      }),
      runs,
    );
  });

  test('an interface without a name is the bus of its number', async () => {
    const frames = [data, { ...data, bus: 'can7' }];
    const read = await readText(pcapng(frames, socketCan, { named: false }));
    expect(read.frames.map(({ bus }) => bus)).toEqual(['can0', 'can1']);
  });

  test('a simple packet has the time of the packet before it', async () => {
    const simple = pcapng([data], socketCan, { block: 'simple' });
    const [section] = [simple.length - 32];
    const enhanced = pcapng([data], socketCan);
    const read = await readText(Buffer.concat([enhanced, simple.subarray(section)]));
    expect(read.messages).toEqual([]);
    expect(read.frames).toEqual([data, data]);
  });

  test('sections of both byte orders follow each other', async () => {
    const other = { ...data, bus: 'can1' };
    const file = Buffer.concat([pcapng([data], socketCan), pcapng([other], { ...socketCan, little: false })]);
    expect((await readText(file)).frames).toEqual([data, other]);
  });

  test('a block without packets that the end of the file cuts is reported once, wherever the input is split', async () => {
    const file = pcapng([data], socketCan);
    const cut = Buffer.concat([file, Buffer.from([5, 0, 0, 0, 64, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])]);
    expect((await readText(cut)).messages).toEqual(['0: the file ends within a block']);
    for (let at = file.length + 12; at < cut.length; at++) {
      const recording = new Recording('log');
      const parser = parserOf('pcapng', recording, cut);
      const from = parser.parse(cut, 0, at, false);
      const to = parser.parse(cut, from, cut.length, false);
      parser.parse(cut, parser.parse(cut, to, cut.length, true), cut.length, true);
      expect([at, recording.faults.count]).toEqual([at, 1]);
    }
  });

  test('packets of other interfaces are counted separately', async () => {
    const file = pcapng([data, { ...data, bus: 'can1' }], socketCan);
    const description = file.indexOf(Buffer.from('can1')) - 12;
    file.writeUInt16LE(1, description);
    const log = await openLog(fileOf(file));
    for await (const _ of log.batches());
    expect(log).toMatchObject({ frames: 1, faults: { count: 0 } });
    expect(log.passedOver).toEqual(new Map([['packets of Ethernet (link type 1)', 1]]));
    await log.close();
  });

  test.each([
    [
      'an impossible size',
      (file: Buffer) => file.writeUInt32LE(13, file.length - 56 + 4),
      /^0: a block claims an impossible size \(13\), at byte \d+: nothing/,
    ],
    [
      'a different size at its end',
      (file: Buffer) => file.writeUInt32LE(60, file.length - 4),
      /^0: a block says another size at its end \(56\), at byte/,
    ],
    [
      'an interface that is not described',
      (file: Buffer) => file.writeUInt32LE(9, file.length - 56 + 8),
      /^0: a packet is from an interface that is not described$/,
    ],
    [
      'more bytes than itself',
      (file: Buffer) => file.writeUInt32LE(99, file.length - 56 + 20),
      /^0: a packet is longer than its block$/,
    ],
  ])('a block with %s is reported', async (_, damage, message) => {
    const file = pcapng([data, data], socketCan);
    damage(file);
    const read = await readText(file);
    expect(read.frames).toHaveLength(1);
    expect(read.messages).toEqual([expect.stringMatching(message)]);
  });
});

describe('frames in packets', () => {
  test('an error message keeps its class and data', async () => {
    const error = { ...data, id: (ERROR | 0x88) >>> 0, length: 8, data: '0001020304050607' };
    for (const linkType of [227, 113] as const) {
      const read = await readText(pcap([error], { ...socketCan, linkType }));
      expect(read.frames).toEqual([error]);
    }
  });

  test('an FD frame is recognised by its length if the capture has no FD flag', async () => {
    const fd = { ...data, id: (0x18fef100 | EXTENDED) >>> 0, flags: FD, length: 3, data: 'aabbcc' };
    const file = pcap([fd], socketCan);
    file[24 + 16 + 5] = 0;
    expect((await readText(file)).frames).toEqual([fd]);
  });

  test.each([
    ['a CAN XL frame', (packet: Buffer) => packet.writeUInt8(0x80, 4), 'CAN XL frames are not read'],
    ['a frame of 65 bytes', (packet: Buffer) => packet.writeUInt8(65, 4), 'a frame claims more than 64 bytes of data'],
    ['a frame of more bytes than its packet', (packet: Buffer) => packet.writeUInt8(9, 4), 'a frame is cut'],
  ])('%s is reported and left out', async (_, change, reason) => {
    const file = pcap([data, data], socketCan);
    change(file.subarray(24 + 16));
    const log = await openLog(fileOf(file));
    for await (const _ of log.batches());
    expect(log.frames).toBe(1);
    expect(log.leftOut).toMatchObject([{ reason, count: 1 }]);
    await log.close();
  });

  test('other protocols with Linux cooked headers are counted separately', async () => {
    const sll: Capture = { ...socketCan, linkType: 113 };
    const file = pcap([data, data], sll);
    file.writeUInt16BE(0x0800, 24 + 16 + 14);
    const log = await openLog(fileOf(file));
    for await (const _ of log.batches());
    expect([log.frames, log.faults.count, [...log.passedOver]]).toEqual([1, 0, [['packets of other protocols', 1]]]);
    await log.close();
  });

  test('a frame that this machine sent has the sent flag', async () => {
    const sent = { ...data, flags: SENT };
    expect((await readText(pcapng([sent], socketCan))).frames).toEqual([sent]);
    expect(packetOf(sent, { ...socketCan, linkType: 113 })[1]).toBe(4);
  });
});

describe('files that Wireshark’s tools wrote from frames of these tests', () => {
  const drive = () => readLog(join(foreign, 'drive.log'));

  test.each([
    ['drive.pcapng', (bus: string) => bus],
    ['drive.pcap', () => 'can0'],
    ['drive-nano.pcap', () => 'can0'],
    ['drive-113.pcapng', () => 'Fake_IF,_text2pcap'],
    ['drive-276.pcapng', (bus: string) => `if${Number(bus.slice(3)) + 3}`],
  ])('%s', async (name, busOf) => {
    const read = await readLog(join(foreign, name));
    expect(read.messages).toEqual([]);
    const { frames } = await drive();
    const wanted = frames.map((frame) => ({ ...frame, bus: busOf(frame.bus) }));
    expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(wanted));
  });
});
