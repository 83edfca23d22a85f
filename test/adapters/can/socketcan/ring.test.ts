import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrorCounts } from '../../../../adapters/can/socketcan/error-frames.ts';
import { type Libc, loadLibc } from '../../../../adapters/can/socketcan/libc.ts';
import { ReceiveRing } from '../../../../adapters/can/socketcan/ring.ts';
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, SENT } from '../../../../agent/ports.ts';
import { bytesOfInts, frameBytes, type Message, writeMessages } from './messages.ts';

/** Addresses count from 0, so that an address in the memory is an offset in the memory. */
function ringOf(pointerSize: 4 | 8, slots = 16, own = true): { ring: ReceiveRing; errors: ErrorCounts } {
  const errors = new ErrorCounts();
  const ring = new ReceiveRing({ pointerSize, address: () => 0n, receiveMany: () => 0 }, errors, own, slots);
  return { ring, errors };
}

function framesOf({ batch }: ReceiveRing) {
  return Array.from({ length: batch.count }, (_, i) => {
    const offset = batch.offset[i]!;
    return {
      at: batch.at[i]!,
      id: batch.id[i]!,
      flags: batch.flags[i]!,
      data: Buffer.from(batch.data.slice(offset, offset + batch.length[i]!)).toString('hex'),
    };
  });
}

const seconds = 1_790_000_000;
const times = {
  new: { level: 1, type: 64, data: bytesOfInts(seconds, 0, 123_456_789, 0) },
  wide: { level: 1, type: 35, data: bytesOfInts(seconds, 0, 123_456_789, 0) },
  narrow: { level: 1, type: 35, data: bytesOfInts(seconds, 123_456_789) },
};
const drops = (count: number) => ({ level: 1, type: 40, data: bytesOfInts(count) });

describe.each([4, 8] as const)('ring with %d-byte pointers', (pointerSize) => {
  const old = pointerSize === 8 ? times.wide : times.narrow;

  it('reads identifier, flags, payload and time of frames', () => {
    const { ring } = ringOf(pointerSize);
    const payload = Uint8Array.of(1, 2, 3);
    writeMessages(ring, [
      { frame: frameBytes(0x123, false, 0, payload), control: [times.new, drops(7)] },
      { frame: frameBytes(EXTENDED + 5, true, 1, payload), control: [old] },
      { frame: frameBytes(6, true, 2, new Uint8Array(64).fill(9)), control: [drops(8), times.new] },
      { frame: frameBytes(7, false, 0, payload), flags: 0x800 | 4 },
    ]);
    ring.take(4, 5000);
    const at = seconds * 1000 + 123.456789;
    expect(framesOf(ring)).toEqual([
      { at, id: 0x123, flags: 0, data: '010203' },
      { at, id: EXTENDED + 5, flags: FD | BIT_RATE_SWITCH, data: '010203' },
      { at, id: 6, flags: FD | ERROR_STATE, data: '09'.repeat(64) },
      { at: 5000, id: 7, flags: SENT, data: '010203' },
    ]);
    expect(ring.dropped).toBe(8);
  });

  it('reads times after 2038', () => {
    const { ring } = ringOf(pointerSize);
    const late = { level: 1, type: 64, data: bytesOfInts(1, 1, 0, 0) };
    writeMessages(ring, [{ frame: frameBytes(1, false, 0, new Uint8Array(0)), control: [late] }]);
    ring.take(1, 0);
    expect(ring.batch.at[0]).toBe((2 ** 32 + 1) * 1000);
  });

  it('counts messages that are not frames and delivers the others', () => {
    const { ring } = ringOf(pointerSize);
    const good = { frame: frameBytes(1, false, 0, Uint8Array.of(1)) };
    const tooLong = frameBytes(2, false, 0, new Uint8Array(8));
    tooLong[4] = 9;
    writeMessages(ring, [
      good,
      { frame: tooLong },
      { frame: new Uint8Array(17) },
      { frame: new Uint8Array(0) },
      { ...good, flags: 0x20 },
      good,
    ]);
    ring.take(6, 0);
    expect(framesOf(ring).map(({ id }) => id)).toEqual([1, 1]);
    expect(ring.malformed).toBe(4);
  });

  it('tolerates truncated and invalid control data', () => {
    const { ring } = ringOf(pointerSize);
    const frame = frameBytes(1, false, 0, Uint8Array.of(1));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat(2 ** 31), (bytes, claimed) => {
        writeMessages(ring, [{ frame, control: [] }]);
        const { control, controlSpace } = ring.places;
        ring.memory.set(bytes.subarray(0, controlSpace), control);
        new DataView(ring.memory.buffer).setUint32(ring.layout.mmsghdr.controllen, claimed, true);
        ring.take(1, 1);
        expect(ring.batch.count).toBe(1);
        expect(ring.batch.id[0]).toBe(1);
      }),
    );
  });

  it('packs payloads like other batches: aligned, consecutive, padded with zeros', () => {
    const { ring } = ringOf(pointerSize, 8);
    const frame = fc.record({ flexible: fc.boolean(), payload: fc.uint8Array({ maxLength: 64 }), dirt: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), (frames) => {
        const sent = frames.map(({ flexible, payload, dirt }) => {
          const data = payload.subarray(0, flexible ? 64 : 8);
          return { data, bytes: frameBytes(3, flexible, 0, data, dirt) };
        });
        writeMessages(
          ring,
          sent.map(({ bytes }) => ({ frame: bytes })),
        );
        ring.take(sent.length, 0);
        const { batch } = ring;
        expect(batch.count).toBe(sent.length);
        let next = 0;
        for (const [i, { data }] of sent.entries()) {
          const padded = new Uint8Array(Math.max(8, Math.ceil(data.length / 8) * 8));
          padded.set(data);
          expect(batch.offset[i]).toBe(next);
          expect(batch.length[i]).toBe(data.length);
          expect(batch.data.slice(next, next + padded.length)).toEqual(padded);
          next += padded.length;
        }
      }),
    );
  });

  it('counts error frames and delivers them', () => {
    const { ring, errors } = ringOf(pointerSize);
    const message = (id: number): Message => ({ frame: frameBytes(ERROR + id, false, 0, Uint8Array.of(0, 0x20)) });
    writeMessages(ring, [message(0x40), message(0x24)]);
    ring.take(2, 0);
    expect(framesOf(ring).map(({ id }) => id - ERROR)).toEqual([0x40, 0x24]);
    expect(errors.counts()).toMatchObject({ errors: 2, busOff: 1, notAcknowledged: 1, errorPassive: 1 });
    expect(errors.isOff).toBe(true);
    writeMessages(ring, [{ frame: frameBytes(1, false, 0, Uint8Array.of(1)) }]);
    ring.take(1, 0);
    expect(errors.isOff, 'a frame came: the controller takes part').toBe(false);
  });
});

const [AF_INET, SOCK_DGRAM, SOL_SOCKET, SO_RCVBUF, SO_RXQ_OVFL, SO_TIMESTAMPNS_NEW] = [2, 2, 1, 8, 40, 64];

/** A loopback datagram socket instead of a CAN socket; recvmmsg works the same. */
async function loopback(libc: Libc, receiveBuffer?: number) {
  const descriptor = libc.socket(AF_INET, SOCK_DGRAM | 0x800, 0);
  const option = (name: number, value: number) =>
    expect(libc.setOption(descriptor, SOL_SOCKET, name, bytesOfInts(value))).toBe(0);
  option(SO_TIMESTAMPNS_NEW, 1);
  option(SO_RXQ_OVFL, 1);
  if (receiveBuffer !== undefined) option(SO_RCVBUF, receiveBuffer);
  // struct sockaddr_in: 127.0.0.1, the kernel chooses the port
  expect(libc.bind(descriptor, Uint8Array.of(2, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0))).toBe(0);
  const inode = /\d+/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))![0];
  const row = readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((columns) => columns[9] === inode);
  const port = Number.parseInt(row![1]!.split(':')[1]!, 16);
  const sender = createSocket('udp4');
  const send = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      sender.send(bytes, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error)));
    });
  const close = async () => {
    sender.close();
    await once(sender, 'close');
    libc.close(descriptor);
  };
  return { descriptor, send, close };
}

describe.runIf(process.platform === 'linux')('ring on a socket of this machine', () => {
  it("receives batches with the kernel's times, and reports when there is no more data", async () => {
    const libc = await loadLibc();
    const { descriptor, send, close } = await loopback(libc);
    const ring = new ReceiveRing(libc, new ErrorCounts(), false, 8);
    expect(ring.receive(descriptor, 0)).toBe(-11);
    const before = Date.now();
    for (let i = 0; i < 12; i++) await send(frameBytes(i, i % 2 === 1, 0, Uint8Array.of(i)));
    const received = [];
    for (const expected of [8, 4]) {
      expect(ring.receive(descriptor, 0)).toBe(expected);
      received.push(...framesOf(ring));
    }
    expect(ring.receive(descriptor, 0)).toBe(-11);
    // Later frames only: the kernel starts to stamp arrivals shortly after the request; before, it stamps them on
    // reading.
    const after = Date.now() + 1;
    expect(received.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(received.map(({ flags }) => flags)).toEqual([0, FD, 0, FD, 0, FD, 0, FD, 0, FD, 0, FD]);
    for (const { at } of received) {
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(after);
    }
    await close();
  });

  it('counts exactly the frames that the kernel dropped', async () => {
    const libc = await loadLibc();
    const { descriptor, send, close } = await loopback(libc, 4096);
    const ring = new ReceiveRing(libc, new ErrorCounts(), false);
    for (let i = 0; i < 200; i++) await send(frameBytes(i & 0x7ff, false, 0, new Uint8Array(8)));
    const first = ring.receive(descriptor, 0);
    expect(first).toBeLessThan(200);
    // A frame carries the number of frames dropped before it.
    await send(frameBytes(1, false, 0, new Uint8Array(8)));
    expect(ring.receive(descriptor, 0)).toBe(1);
    expect(first + ring.dropped).toBe(200);
    await close();
  });

  it('waits in the event loop for the next frame', async () => {
    const libc = await loadLibc();
    const { descriptor, send, close } = await loopback(libc);
    const ring = new ReceiveRing(libc, new ErrorCounts(), false);
    const readiness = libc.readiness(descriptor);
    for (let i = 0; i < 3; i++) {
      const ready = new Promise<void>((resolve) => readiness.wait(resolve));
      await send(frameBytes(i, false, 0, Uint8Array.of(1)));
      await ready;
      expect(ring.receive(descriptor, 0)).toBe(1);
    }
    let called = false;
    readiness.wait(() => {
      called = true;
    });
    readiness.close();
    await send(frameBytes(1, false, 0, Uint8Array.of(1)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(called).toBe(false);
    await close();
  });
});
