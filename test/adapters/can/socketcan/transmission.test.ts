import { constants } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrorCounts } from '../../../../adapters/can/socketcan/error-frames.ts';
import { SocketCan } from '../../../../adapters/can/socketcan/index.ts';
import { ReceiveRing } from '../../../../adapters/can/socketcan/ring.ts';
import { encodeFrame } from '../../../../adapters/can/socketcan/transmission.ts';
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE } from '../../../../agent/ports.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { writeMessages } from './messages.ts';
import { FakeKernel } from './wire.ts';

const { ENOBUFS, EAGAIN, ENETDOWN, ENXIO, EIO } = constants.errno;
const outgoing = (id: number, data: readonly number[] = [1], flags = 0) => ({
  bus: 'body',
  id,
  flags,
  data: Uint8Array.from(data),
});
const refusal = (message: RegExp) => ({ code: 'command.actuation', message: expect.stringMatching(message) });

async function open() {
  const kernel = new FakeKernel();
  const clock = new VirtualClock();
  const can = new SocketCan({ interface: 'can0', bus: 'body', clock, kernel: async () => kernel });
  await can.start(() => undefined);
  return { can, kernel, clock, socket: kernel.socket };
}

describe('outgoing frames', () => {
  it('are written as bytes that read back the same', () => {
    const identifier = fc.oneof(
      fc.integer({ min: 0, max: 0x7ff }),
      fc.integer({ min: 0, max: 0x1fff_ffff }).map((id) => id + EXTENDED),
    );
    const classic = fc.record({ flags: fc.constant(0), data: fc.uint8Array({ maxLength: 8 }) });
    const flexible = fc
      .tuple(
        fc.constantFrom(0, BIT_RATE_SWITCH, ERROR_STATE, BIT_RATE_SWITCH | ERROR_STATE),
        fc.constantFrom(0, 1, 7, 8, 12, 16, 20, 24, 32, 48, 64),
      )
      .chain(([flags, length]) =>
        fc.record({
          flags: fc.constant(FD | flags),
          data: fc.uint8Array({ minLength: length, maxLength: length }),
        }),
      );
    const ring = new ReceiveRing(
      { pointerSize: 8, address: () => 0n, receiveMany: () => 0 },
      new ErrorCounts(),
      false,
      1,
    );
    const bytes = new Uint8Array(72);
    fc.assert(
      fc.property(identifier, fc.oneof(classic, flexible), (id, { flags, data }) => {
        bytes.fill(0xaa);
        const size = encodeFrame({ bus: '', id, flags, data }, bytes);
        writeMessages(ring, [{ frame: bytes.slice(0, size) }]);
        ring.take(1, 0);
        const { batch } = ring;
        expect([batch.id[0], batch.flags[0], batch.length[0]]).toEqual([id, flags, data.length]);
        expect(batch.data.slice(0, data.length)).toEqual(data);
      }),
    );
  });

  it.each([
    ['a standard identifier of 12 bits', outgoing(0x800), /0x800/],
    ['an error frame', outgoing(ERROR + 1), /not a CAN identifier/],
    ['a remote frame', outgoing(EXTENDED + REMOTE + 1), /not a CAN identifier/],
    ['9 bytes', outgoing(1, new Array(9).fill(0)), /9 bytes do not fit a classic CAN frame/],
    ['9 bytes in FD', outgoing(1, new Array(9).fill(0), FD), /9 bytes do not fit a CAN FD frame/],
    ['65 bytes in FD', outgoing(1, new Array(65).fill(0), FD), /65 bytes/],
    ['another bus', { ...outgoing(1), bus: 'engine' }, /can0 is the bus body, not engine/],
  ])('are refused: %s', async (_, frame, message) => {
    const { can, socket } = await open();
    await expect(can.send(frame)).rejects.toMatchObject(refusal(message));
    expect(socket.written).toEqual([]);
    await can.send(outgoing(2));
    expect(socket.written.length).toBe(1);
    await can.stop();
  });

  it('wait in order while the queue is full', async () => {
    const { can, socket, clock } = await open();
    socket.results = [-ENOBUFS, -ENOBUFS, -EAGAIN];
    const payload = outgoing(2, [2]);
    const done = [can.send(outgoing(1)), can.send(payload), can.send(outgoing(3))];
    // The caller may reuse its buffer at once.
    payload.data[0] = 99;
    await clock.settle(30, 1);
    await Promise.all(done);
    expect(socket.written.map((bytes) => [bytes[0], bytes[8]])).toEqual([
      [1, 1],
      [2, 2],
      [3, 1],
    ]);
    expect(can.health().counts).toMatchObject({ sent: 3, retries: 3, refused: 0 });
    await can.stop();
  });

  it('fail if the queue stays full, and the next one starts a new wait', async () => {
    const { can, socket, clock } = await open();
    socket.results = new Array(9).fill(-ENOBUFS);
    const [first, second] = [can.send(outgoing(1)), can.send(outgoing(2))];
    const refused = expect(first).rejects.toMatchObject(refusal(/can0: the transmit queue stays full.*ENOBUFS/));
    await clock.settle(300, 1);
    await refused;
    await second;
    expect(socket.written.map((bytes) => bytes[0])).toEqual([2]);
    expect(can.health().counts).toMatchObject({ sent: 1, refused: 1, retries: 8 });
    await can.stop();
  });

  it.each([
    [ENETDOWN, /the interface is down \(ENETDOWN\)/],
    [ENXIO, /the interface is gone \(ENXIO\)/],
    [EIO, /sending fails with EIO/],
  ])('fail at once with the reason (errno %d)', async (errno, message) => {
    const { can, socket } = await open();
    socket.results = [-errno];
    await expect(can.send(outgoing(1))).rejects.toMatchObject(refusal(message));
    await can.stop();
  });

  it('fail if the interface has no CAN FD', async () => {
    const { can, socket } = await open();
    socket.flexible = false;
    await expect(can.send(outgoing(1, [1], FD))).rejects.toMatchObject(refusal(/takes no CAN FD frames/));
    await can.stop();
  });

  it('fail while the interface is down, also those that wait', async () => {
    const { can, kernel, socket, clock } = await open();
    socket.results = [-ENOBUFS];
    const waiting = expect(can.send(outgoing(1))).rejects.toMatchObject(refusal(/the interface is down/));
    await clock.settle(0.5, 0.5);
    kernel.fault = 'the interface is down';
    socket.reason = 'the interface is down';
    kernel.changed?.();
    await clock.settle(10, 1);
    await waiting;
    await can.stop();
    await expect(can.send(outgoing(1))).rejects.toMatchObject(refusal(/nothing can be sent: stopped/));
  });

  it('are limited in number', async () => {
    const { can, socket, clock } = await open();
    socket.results = new Array(9).fill(-ENOBUFS);
    const outcomes = Promise.allSettled(Array.from({ length: 300 }, (_, i) => can.send(outgoing(i))));
    await clock.settle(900, 1);
    const settled = await outcomes;
    expect(settled.filter(({ status }) => status === 'rejected').length).toBe(300 - 256 + 1);
    expect(socket.written.length).toBe(255);
    await can.stop();
  });
});
