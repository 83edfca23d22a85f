import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { SocketCan, type SocketCanOptions } from '../../../../adapters/can/socketcan/index.ts';
import { UnitRest } from '../../../../agent/power/rest.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { FakeKernel } from './wire.ts';

const { ENETDOWN, EIO } = constants.errno;

async function started(options: Partial<SocketCanOptions> = {}, kernel = new FakeKernel()) {
  const clock = new VirtualClock();
  const can = new SocketCan({ interface: 'can0', bus: 'body', clock, kernel: async () => kernel, ...options });
  const ids: number[] = [];
  await can.start((batch) => ids.push(...batch.id.subarray(0, batch.count)));
  return { can, kernel, clock, ids };
}

describe('SocketCan', () => {
  it('reads the first frame after silence at once, then at intervals, and needs no timer while there are none', async () => {
    const { can, kernel, clock, ids } = await started();
    expect(can.buses).toEqual(['body']);
    expect(kernel.socket.isWaiting).toBe(true);
    expect(clock.pending).toBe(0);
    kernel.socket.arrive(1);
    expect(ids).toEqual([1]);
    kernel.socket.arrive(2, 3);
    expect(ids).toEqual([1]);
    clock.advance(40);
    expect(ids).toEqual([1, 2, 3]);
    clock.advance(40);
    expect(clock.pending).toBe(0);
    expect(kernel.socket.isWaiting).toBe(true);
    await can.stop();
  });

  it('reads more often while an answer to a sent frame may come', async () => {
    const { can, kernel, clock, ids } = await started();
    kernel.socket.arrive(1);
    const frame = { bus: 'body', id: 0x700, data: Uint8Array.of(1), flags: 0 };
    // Sending shortens the current reading interval, and the frame itself is sent at once.
    const sent = can.send(frame);
    await clock.settle(2, 1);
    await sent;
    kernel.socket.arrive(2);
    clock.advance(4);
    expect(ids).toEqual([1]);
    clock.advance(1);
    expect(ids).toEqual([1, 2]);
    kernel.socket.arrive(7);
    clock.advance(5);
    expect(ids).toEqual([1, 2, 7]);
    // The request-response exchange has ended.
    clock.advance(1_000);
    kernel.socket.arrive(8, 9);
    kernel.socket.arrive(10);
    clock.advance(39);
    expect(ids).toEqual([1, 2, 7, 8, 9]);
    clock.advance(1);
    expect(ids).toEqual([1, 2, 7, 8, 9, 10]);
    await can.stop();
  });

  it('lets other tasks run during a flood of frames, and loses none', async () => {
    const { can, kernel, clock, ids } = await started();
    const flood = Array.from({ length: 1000 }, (_, i) => i);
    kernel.socket.arrive(...flood);
    expect(ids.length).toBe(64);
    expect(clock.pending).toBe(1);
    clock.advance(0);
    expect(ids).toEqual(flood);
    expect(can.health()).toMatchObject({ state: 'running', counts: { frames: 1000, restarts: 0 } });
    await can.stop();
  });

  it('retries a missing interface with growing delays, and reports the reason', async () => {
    const kernel = new FakeKernel();
    kernel.fault = 'there is no such interface';
    const { can, clock } = await started({}, kernel);
    expect(can.health()).toMatchObject({ state: 'waiting', reason: 'can0: there is no such interface' });
    const attempts = [];
    for (let minute = 0; minute < 3; minute++) {
      clock.advance(60_000);
      attempts.push(kernel.asked.length);
    }
    // Attempts after 0.1, 0.2 … 3.2 s, then every 5 s.
    expect(attempts).toEqual([17, 29, 41]);
    kernel.fault = undefined;
    clock.advance(5000);
    expect(can.health().state).toBe('running');
    await can.stop();
  });

  it('retries rarely while the unit sleeps, and at once when the kernel reports a change or the unit wakes', async () => {
    const kernel = new FakeKernel();
    kernel.fault = 'the interface is down';
    const rest = new UnitRest();
    const { can, clock } = await started({ rest }, kernel);
    rest.set(true);
    // The delays grow to ten minutes.
    clock.advance(3_600_000);
    const before = kernel.asked.length;
    clock.advance(3_600_000);
    expect(kernel.asked.length - before).toBe(6);
    kernel.changed?.();
    clock.advance(100);
    expect(kernel.asked.length - before).toBe(7);
    kernel.fault = undefined;
    rest.set(false);
    clock.advance(100);
    expect(can.health().state).toBe('running');
    // An open interface without traffic needs no timer, whether the unit sleeps or not.
    rest.set(true);
    expect([kernel.socket.isWaiting, clock.pending]).toEqual([true, 0]);
    await can.stop();
    rest.set(false);
    expect(clock.pending).toBe(0);
  });

  it('delivers the frames received before the interface went down, then reopens it', async () => {
    const { can, kernel, clock, ids } = await started();
    const first = kernel.socket;
    first.dropped = 3;
    first.interfaceDropped = 30;
    kernel.fault = 'the interface is down';
    first.reason = 'the interface is down';
    first.arrive(-ENETDOWN, 1, 2, 3, 4, 5);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect(first.isClosed).toBe(true);
    expect(can.health()).toMatchObject({ state: 'waiting', reason: 'can0: the interface is down' });
    kernel.fault = undefined;
    clock.advance(100);
    kernel.socket.dropped = 2;
    kernel.socket.interfaceDropped = 20;
    kernel.socket.arrive(6);
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
    expect(can.health()).toMatchObject({
      state: 'running',
      counts: { restarts: 1, dropped: 5, interfaceDropped: 50, frames: 6 },
    });
    await can.stop();
  });

  it('delivers the frames received earlier if the link change arrives before the socket error', async () => {
    const { can, kernel, ids } = await started();
    const first = kernel.socket;
    const waiting = Array.from({ length: 500 }, (_, i) => i);
    first.reason = 'the interface is down';
    first.hold(-ENETDOWN, ...waiting);
    kernel.changed?.();
    expect(ids).toEqual(waiting);
    expect(first.isClosed).toBe(true);
    await can.stop();
  });

  it('stays stopped if the receiver stops it during those last frames', async () => {
    const kernel = new FakeKernel();
    const clock = new VirtualClock();
    const can = new SocketCan({ interface: 'can0', bus: 'body', clock, kernel: async () => kernel });
    const stops: Promise<void>[] = [];
    await can.start(() => stops.push(can.stop()));
    kernel.socket.reason = 'the interface is down';
    kernel.socket.hold(1);
    kernel.changed?.();
    await Promise.all(stops);
    expect(stops.length).toBe(1);
    expect(clock.pending).toBe(0);
    expect(can.health().reason).toBe('stopped');
  });

  it('does not loop on a permanent error', async () => {
    const { can, kernel } = await started();
    kernel.socket.arrive(...Array.from({ length: 1000 }, () => -EIO));
    expect(kernel.sockets[0]?.receives).toBeLessThan(5);
    expect(can.health()).toMatchObject({ state: 'waiting', reason: 'can0: reading fails with EIO' });
    await can.stop();
  });

  it('closes the socket when another interface, or none, has its name', async () => {
    const { can, kernel, clock, ids } = await started();
    kernel.changed?.();
    expect(can.health().state).toBe('running');
    kernel.socket.reason = 'another interface has its name now';
    kernel.changed?.();
    expect(can.health()).toMatchObject({ state: 'waiting', reason: 'can0: another interface has its name now' });
    clock.advance(100);
    expect(kernel.sockets.length).toBe(2);
    kernel.socket.arrive(7);
    expect(ids).toEqual([7]);
    await can.stop();
  });

  it('retries soon after a link change, even during an endless series of changes', async () => {
    const kernel = new FakeKernel();
    kernel.fault = 'there is no such interface';
    const { can, clock } = await started({}, kernel);
    clock.advance(60_000);
    kernel.fault = undefined;
    for (let i = 0; i < 6; i++) {
      kernel.changed?.();
      clock.advance(10);
    }
    expect(can.health().state).toBe('running');
    await can.stop();
  });

  it('delivers nothing after stop, which the receiver may call', async () => {
    const kernel = new FakeKernel();
    const clock = new VirtualClock();
    const can = new SocketCan({ interface: 'can0', bus: 'body', clock, kernel: async () => kernel });
    const stops: Promise<void>[] = [];
    await can.start(() => stops.push(can.stop()));
    kernel.socket.arrive(1, 2, 3, 4, 5, 6);
    await Promise.all(stops);
    expect(stops.length).toBe(1);
    expect(clock.pending).toBe(0);
    expect(kernel.changed).toBeUndefined();
    expect(kernel.socket.isClosed).toBe(true);
    expect(can.health()).toMatchObject({ state: 'waiting', reason: 'stopped' });
  });

  it('can be stopped while it waits, and before it has started', async () => {
    const kernel = new FakeKernel();
    kernel.fault = 'the interface is down';
    const { can, clock } = await started({}, kernel);
    await can.stop();
    expect(clock.pending).toBe(0);
    const other = new SocketCan({ interface: 'can0', bus: '', clock, kernel: async () => kernel });
    const starting = other.start(() => undefined);
    await other.stop();
    await starting;
    expect(kernel.asked.length).toBe(1);
  });

  it('reports why this machine has no CAN', async () => {
    const error = new VigieError('input.unreadable', 'this kernel has no CAN');
    const can = new SocketCan({
      interface: 'can0',
      bus: 'body',
      clock: new VirtualClock(),
      kernel: () => Promise.reject(error),
    });
    await expect(can.start(() => undefined)).rejects.toBe(error);
    expect(can.health()).toMatchObject({ state: 'waiting', reason: 'this kernel has no CAN' });
  });

  it('passes filters for the wanted identifiers to the kernel, and receives own frames only on request', async () => {
    const { can, kernel } = await started({ identifiers: [0x123], own: true, receiveBuffer: 1000 });
    expect(kernel.asked[0]).toMatchObject({
      interface: 'can0',
      filters: [{ id: 0x123, mask: 0xc000_07ff }],
      own: true,
      receiveBuffer: 1000,
    });
    await can.stop();
    const all = await started();
    expect(all.kernel.asked[0]).not.toHaveProperty('filters');
    expect(all.kernel.asked[0]?.own).toBe(false);
    await all.can.stop();
  });

  it('passes additional identifiers while there is a listener for them, also if the interface was down meanwhile', async () => {
    const { can, kernel } = await started({ identifiers: [0x123] });
    can.listen([0x200]);
    const both = [
      { id: 0x123, mask: 0xc000_07ff },
      { id: 0x200, mask: 0xc000_07ff },
    ];
    expect(kernel.socket.filters.at(-1)).toEqual(both);
    can.listen([]);
    expect(kernel.socket.filters.at(-1)).toEqual([{ id: 0x123, mask: 0xc000_07ff }]);
    await can.stop();
    can.listen([0x200]);
    await can.start(() => undefined);
    expect(kernel.asked.at(-1)?.filters).toEqual(both);
    await can.stop();
    const all = await started();
    all.can.listen([0x200]);
    expect(all.kernel.socket.filters).toEqual([]);
    await all.can.stop();
  });

  it('reports that the kernel refuses the filters for additional identifiers', async () => {
    const { can, kernel } = await started({ identifiers: [0x123] });
    kernel.socket.filterResult = -12;
    expect(() => can.listen([0x200])).toThrow(
      expect.objectContaining({
        code: 'input.unreadable',
        message: expect.stringMatching(/filters cannot be changed/),
      }),
    );
    await can.stop();
  });

  it.each(['', 'a name', 'sixteen-letters!', 'can/0', '.', '..', 'can0:1', 'a\0b'])('refuses the name "%s"', (name) => {
    const make = () => new SocketCan({ interface: name, bus: '', clock: new VirtualClock() });
    expect(make).toThrowError(expect.objectContaining({ code: 'configuration.wrong' }));
  });
});
