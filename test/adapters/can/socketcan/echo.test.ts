/** Tests how echoes decide whether a frame was transmitted: echoes in time, late, or never. */
import { constants } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEAVING, TRYING } from '../../../../adapters/can/socketcan/echo.ts';
import { SocketCan, type SocketCanOptions } from '../../../../adapters/can/socketcan/index.ts';
import { ERROR, SENT } from '../../../../agent/ports.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { MemoryLog } from '../../../rig/log.ts';
import { FakeKernel } from './wire.ts';

const { ENETDOWN, EINVAL } = constants.errno;
const BUS_OFF = ERROR + 0x40;
const RESTARTED = ERROR + 0x100;
const outgoing = (id: number) => ({ bus: 'body', id, flags: 0, data: Uint8Array.of(1) });
const refusal = (message: RegExp) => ({ code: 'command.actuation', message: expect.stringMatching(message) });

async function open(options: Partial<SocketCanOptions> = {}) {
  const kernel = new FakeKernel();
  kernel.isHeard = false;
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const can = new SocketCan({ interface: 'can0', bus: 'body', clock, log, kernel: async () => kernel, ...options });
  const received: (readonly [id: number, flags: number])[] = [];
  await can.start(({ count, id, flags }) => {
    for (let i = 0; i < count; i++) received.push([id[i] as number, flags[i] as number]);
  });
  const events = () => log.lines.map(({ event }) => event).filter((event) => event !== 'can.open');
  return { can, kernel, clock, log, received, events, socket: kernel.socket };
}

/** Sends a frame that no node acknowledges, and waits past its time limit. */
async function stick({ can, clock }: Awaited<ReturnType<typeof open>>, id: number): Promise<void> {
  const refused = expect(can.send(outgoing(id))).rejects.toMatchObject(refusal(/has not left/));
  await lapse(clock);
  await refused;
}

/** Lets pending frames be written, then waits slightly longer than the time limit for transmission. */
async function lapse(clock: VirtualClock): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await clock.settle(LEAVING + 1, LEAVING / 4);
}

describe('a frame', () => {
  it('counts as sent when it was transmitted, not when the kernel accepted it', async () => {
    const { can, clock, socket, received, events } = await open();
    let left = false;
    const sent = can.send(outgoing(1)).then(() => {
      left = true;
    });
    await clock.settle(200, 10);
    expect([left, socket.held, can.health().counts['sent']]).toEqual([false, [1], 0]);
    socket.acknowledge();
    await sent;
    expect(can.health().counts).toMatchObject({ sent: 1, overdue: 0, late: 0, frames: 0 });
    expect([received, events()]).toEqual([[], []]);
    await clock.settle(100);
    expect(clock.pending).toBe(0);
    await can.stop();
  });

  it('fails if it is not transmitted in time; others then fail at once until it is transmitted, which is logged', async () => {
    const rig = await open();
    const { can, clock, socket, log, received } = rig;
    await stick(rig, 0x12);
    expect(clock.pending).toBe(0);
    for (const id of [2, 3]) {
      await expect(can.send(outgoing(id))).rejects.toMatchObject(
        refusal(/^can0: frame 0x12 has not left for \d+ ms: the bus sleeps.*ip link set can0 down/),
      );
    }
    expect(socket.held).toEqual([0x12]);
    expect(can.health().counts).toMatchObject({ sent: 0, refused: 3, overdue: 1, late: 0 });
    // The bus wakes two hours later.
    clock.advance(7_200_000);
    socket.acknowledge();
    await clock.settle(30);
    expect(can.health().counts).toMatchObject({ overdue: 1, late: 1 });
    expect(log.lines.filter(({ event }) => event !== 'can.open')).toMatchObject([
      { level: 'warn', event: 'can.overdue', fields: { interface: 'can0', frame: '0x12' } },
      { level: 'warn', event: 'can.late', fields: { interface: 'can0', frame: '0x12', after: 7_200_251 } },
    ]);
    socket.isHeard = true;
    const sent = can.send(outgoing(4));
    await clock.settle(30);
    await sent;
    expect(socket.written.map((bytes) => bytes[0])).toEqual([0x12, 4]);
    expect(received).toEqual([]);
    await can.stop();
  });

  it('that waits behind a failing one fails as well', async () => {
    const { can, clock, socket } = await open();
    const outcomes = Promise.allSettled([1, 2, 3].map((id) => can.send(outgoing(id))));
    await lapse(clock);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(socket.written.length).toBe(1);
    await can.stop();
  });

  it('counts as sent if its echo came in time although this process was blocked', async () => {
    const { can, clock, socket } = await open();
    const sent = can.send(outgoing(1));
    await clock.settle(2, 1);
    // Timers run before the events from the kernel.
    socket.acknowledge(false);
    clock.stall(5_000);
    await sent;
    expect(can.health().counts).toMatchObject({ sent: 1, overdue: 0 });
    await can.stop();
  });

  it('can follow at once if the echo of the last one has arrived but was not read yet', async () => {
    const rig = await open();
    const { can, clock, socket } = rig;
    await stick(rig, 1);
    socket.arrive(0x700);
    socket.acknowledge();
    socket.isHeard = true;
    const sent = can.send(outgoing(2));
    await clock.settle(5, 1);
    await sent;
    expect(can.health().counts).toMatchObject({ sent: 1, late: 1 });
    await can.stop();
  });

  it('is discarded by an interface that goes down', async () => {
    const rig = await open();
    const { can, kernel, clock, socket, events } = rig;
    await stick(rig, 1);
    socket.reason = 'the interface is down';
    socket.arrive(-ENETDOWN);
    kernel.isHeard = true;
    await clock.settle(200);
    const sent = can.send(outgoing(2));
    await clock.settle(10, 1);
    await sent;
    expect(events()).toEqual(['can.overdue', 'can.waiting']);
    await can.stop();
  });

  it('fails with the reason if the interface goes down or the source stops before it was transmitted', async () => {
    const { can, kernel, clock, socket } = await open();
    const down = expect(can.send(outgoing(1))).rejects.toMatchObject(refusal(/frame 0x1 had not left: .*is down/));
    await clock.settle(1);
    socket.reason = 'the interface is down';
    kernel.changed?.();
    await down;
    await clock.settle(100);
    const stopped = expect(can.send(outgoing(2))).rejects.toMatchObject(refusal(/0x2 had not left: stopped/));
    await clock.settle(1);
    await can.stop();
    await stopped;
    expect(clock.pending).toBe(0);
  });

  it('is discarded by a controller that restarts after bus-off', async () => {
    const rig = await open();
    const { can, clock, socket } = rig;
    await stick(rig, 1);
    socket.arrive(BUS_OFF);
    await clock.settle(100);
    await expect(can.send(outgoing(2))).rejects.toMatchObject(refusal(/0x1 has not left/));
    socket.held.length = 0;
    socket.arrive(RESTARTED);
    socket.isHeard = true;
    const sent = can.send(outgoing(3));
    await clock.settle(10, 1);
    await sent;
    await can.stop();
  });

  it('is not discarded by a restart that happened before it and was not read yet', async () => {
    const rig = await open();
    const { can, socket } = rig;
    socket.arrive(BUS_OFF);
    socket.hold(RESTARTED);
    await stick(rig, 1);
    await expect(can.send(outgoing(2))).rejects.toMatchObject(refusal(/0x1 has not left/));
    expect(socket.held).toEqual([1]);
    await can.stop();
  });

  it('is sent again if the controller makes only one attempt', async () => {
    const { can, clock, socket, events } = await open();
    socket.oneShot = true;
    const written = () => socket.written.map((bytes) => bytes[0]);
    for (const id of [1, 2]) {
      const refused = expect(can.send(outgoing(id))).rejects.toMatchObject(refusal(/given up \(one-shot\)/));
      await lapse(clock);
      await lapse(clock);
      await refused;
    }
    expect(written()).toEqual([1, 1, 1, 2, 2, 2]);
    expect(can.health().counts).toMatchObject({ refused: 2, overdue: 0, retries: 4 });
    // Another frame won the arbitration, so the controller gave up its only attempt.
    const sent = can.send(outgoing(3));
    await clock.settle(TRYING, 20);
    socket.held.length = 0;
    await clock.settle(TRYING, 20);
    socket.acknowledge();
    await clock.settle(5);
    await sent;
    expect(written().slice(6)).toEqual([3, 3]);
    expect([events(), can.health().counts['sent']]).toEqual([[], 1]);
    await can.stop();
  });

  it.each(['dropped', 'interfaceDropped'] as const)(
    'does not block others if the kernel may have dropped its echo (%s)',
    async (count) => {
      const { can, clock, socket, events } = await open();
      socket[count] = 5;
      const refused = expect(can.send(outgoing(1))).rejects.toMatchObject(
        refusal(/does not know whether frame 0x1 has left/),
      );
      await clock.settle(1);
      socket[count] = 6;
      await lapse(clock);
      await refused;
      // A late echo of an abandoned frame must not count for the next one.
      const second = can.send(outgoing(2));
      await clock.settle(1);
      socket.acknowledge();
      await clock.settle(10);
      expect([events(), can.health().counts['sent']]).toEqual([['can.late'], 0]);
      socket.acknowledge();
      await second;
      await can.stop();
    },
  );

  it('is echoed although the filters exclude it, for as long as necessary', async () => {
    const { can, clock, socket, received } = await open({ identifiers: [0x123] });
    socket.isHeard = true;
    for (const id of [0x55, 0x123, 0x55, 0x66]) {
      const sent = can.send(outgoing(id));
      await clock.settle(10, 1);
      await sent;
    }
    const filter = (id: number) => ({ id, mask: 0xc000_07ff });
    expect(socket.filters).toEqual([
      [filter(0x55), filter(0x123)],
      [filter(0x55), filter(0x66), filter(0x123)],
    ]);
    await clock.settle(1_000, 100);
    expect(socket.filters.length).toBe(2);
    socket.arrive(0x123);
    expect(socket.filters.slice(2)).toEqual([[filter(0x123)]]);
    const again = can.send(outgoing(0x55));
    await clock.settle(10, 1);
    await again;
    expect(socket.filters.length).toBe(4);
    expect(received).toEqual([[0x123, 0]]);
    await can.stop();
  });

  it('that is overdue stays in the filters when they are narrowed', async () => {
    const rig = await open({ identifiers: [0x123] });
    await stick(rig, 0x55);
    rig.clock.advance(10_000);
    rig.socket.arrive(0x123);
    expect(rig.socket.filters.length).toBe(1);
    rig.socket.acknowledge();
    await rig.clock.settle(50);
    expect(rig.socket.filters.length).toBe(2);
    await rig.can.stop();
  });

  it('is not sent if its echo could not be received', async () => {
    const { can, socket } = await open({ identifiers: [0x123] });
    socket.filterResult = -EINVAL;
    await expect(can.send(outgoing(0x55))).rejects.toMatchObject(refusal(/filters cannot be changed \(EINVAL\)/));
    expect(socket.written).toEqual([]);
    await can.stop();
  });

  it('is delivered with the sent flag if requested', async () => {
    const { can, socket, received } = await open({ own: true });
    socket.isHeard = true;
    await can.send(outgoing(1));
    expect(received).toEqual([[1, SENT]]);
    await can.stop();
  });
});

type Step = { readonly kind: 'send' | 'echo' | 'heard' | 'down' | 'up' | 'restart' } | { readonly pass: number };

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ kind: 'send' }) },
    { weight: 3, arbitrary: fc.constant<Step>({ kind: 'echo' }) },
    { weight: 4, arbitrary: fc.record({ pass: fc.constantFrom(0, 1, 5, 60, LEAVING - 1, LEAVING, LEAVING + 30) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Step>({ kind: 'heard' }, { kind: 'down' }, { kind: 'up' }, { kind: 'restart' }),
    },
  ),
  { maxLength: 40 },
);

describe('whatever the order of echoes, refusals and restarts', () => {
  it('at most one frame is pending, each send ends, and late transmissions are counted', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (order) => {
        const { can, kernel, clock } = await open();
        const resolved: number[] = [];
        const rejected: number[] = [];
        const acknowledged: number[] = [];
        let id = 0;
        const setDown = (reason: string | undefined): void => {
          kernel.fault = reason;
          kernel.socket.reason = reason;
        };
        for (const step of order) {
          const { socket } = kernel;
          if ('pass' in step) await clock.settle(step.pass, 60);
          else if (step.kind === 'send') {
            const sent = ++id;
            can.send(outgoing(sent)).then(
              () => resolved.push(sent),
              () => rejected.push(sent),
            );
          } else if (step.kind === 'echo') {
            acknowledged.push(...socket.held.slice(0, 1));
            socket.acknowledge();
          } else if (step.kind === 'heard') socket.arrive(0x700);
          else if (step.kind === 'up') {
            setDown(undefined);
            kernel.changed?.();
          } else if (step.kind === 'down') {
            // A dead interface discards its queue and refuses new frames.
            socket.held.length = 0;
            socket.results = [-ENETDOWN];
            setDown('the interface is down');
            socket.arrive(-ENETDOWN);
          } else if (kernel.fault === undefined) {
            socket.arrive(BUS_OFF);
            await clock.settle(30);
            socket.held.length = 0;
            socket.arrive(RESTARTED);
          }
          await new Promise((resolve) => setImmediate(resolve));
          expect(kernel.socket.held.length).toBeLessThanOrEqual(1);
        }
        // Finally the interface is up and every node acknowledges.
        setDown(undefined);
        await clock.settle(6_000, 500);
        const { socket } = kernel;
        acknowledged.push(...socket.held.slice(0, 1));
        socket.acknowledge();
        kernel.isHeard = true;
        socket.isHeard = true;
        socket.results = [];
        await clock.settle(LEAVING * 2, 10);
        const last = can.send(outgoing(0x7ff));
        await clock.settle(100, 10);
        await last;
        expect(resolved.length + rejected.length).toBe(id);
        expect([...resolved].sort((a, b) => a - b)).toEqual(resolved);
        const { sent, refused, late } = can.health().counts;
        expect([sent, refused]).toEqual([resolved.length + 1, rejected.length]);
        expect(resolved.every((frame) => acknowledged.includes(frame))).toBe(true);
        expect(late).toBe(acknowledged.filter((frame) => !resolved.includes(frame)).length);
        await can.stop();
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
