import { describe, expect, test } from 'vitest';
import { FD, type OutgoingFrame } from '../../../agent/ports.ts';
import { codec } from './network.ts';
import { startCar } from './recorder.ts';

type Rig = Awaited<ReturnType<typeof startCar>>;

const [LOCK, UNLOCK] = [1, 2];

/** A BODY_COMMAND frame. `spoil` changes its checksum. */
function command(request: number, counter: number, spoil = 0): OutgoingFrame {
  const bare = codec.encode('BODY_COMMAND', { LockRequest: request, Counter: counter });
  const data = bare.data.slice();
  data[3] = data.reduce((sum, byte) => sum ^ byte, 0) ^ spoil;
  return { bus: 'body', id: bare.id, flags: 0, data };
}

/** Sends the frames at an interval of `every` ms. */
async function sendAll(rig: Rig, frames: readonly OutgoingFrame[], every = 50): Promise<void> {
  for (const frame of frames) {
    await rig.car.send(frame);
    rig.clock.advance(every);
  }
}

function lockState(rig: Rig): number {
  return rig.seen.filter((frame) => frame.message === 'BODY').at(-1)?.signals['LockState'] as number;
}

describe('the central lock', () => {
  test('locks after three valid frames and the time of the motors', async () => {
    const rig = await startCar({ scenario: 'parked' });
    await sendAll(rig, [command(LOCK, 0), command(LOCK, 1), command(LOCK, 2)]);
    rig.clock.advance(200);
    expect(rig.car.state().locked).toBe(false);
    expect(rig.seen.filter((frame) => frame.message === 'BODY').at(-1)?.signals['LockMotor']).toBe(1);
    rig.clock.advance(300);
    expect(lockState(rig)).toBe(1);
    expect(rig.car.commands).toEqual({ accepted: 1, rejected: 0 });
    expect(rig.seen.filter((frame) => frame.message === 'ALARM').at(-1)?.signals['Activation']).toBe(1);
  });

  test('accepts counters that wrap from 15 to 0, and takes ten frames as one request', async () => {
    const rig = await startCar({ scenario: 'parked' });
    await sendAll(
      rig,
      Array.from({ length: 10 }, (_, i) => command(LOCK, (12 + i) % 16)),
    );
    rig.clock.advance(500);
    expect(lockState(rig)).toBe(1);
    expect(rig.car.commands).toEqual({ accepted: 1, rejected: 0 });
  });

  test('unlocks, and stays unlocked if it was', async () => {
    const rig = await startCar({ scenario: 'parked', restore: { ...(await startCar()).car.state(), locked: true } });
    rig.clock.advance(100);
    expect(lockState(rig)).toBe(1);
    for (const _ of [1, 2]) {
      await sendAll(rig, [command(UNLOCK, 3), command(UNLOCK, 4), command(UNLOCK, 5)]);
      rig.clock.advance(500);
      expect(lockState(rig)).toBe(0);
    }
    expect(rig.car.commands.accepted).toBe(2);
  });

  test.each([
    ['two frames', [command(LOCK, 0), command(LOCK, 1)], 0],
    ['wrong checksums', [0, 1, 2, 3].map((counter) => command(LOCK, counter, 0x10)), 4],
    ['a wrong checksum between', [0, 1, 2, 3, 4].map((i) => command(LOCK, i, i === 2 ? 1 : 0)), 1],
    ['a counter that stands still', [4, 4, 4, 4].map((counter) => command(LOCK, counter)), 3],
    ['a counter that jumps', [0, 1, 3, 4, 6, 7].map((counter) => command(LOCK, counter)), 2],
    ['a counter that runs backwards', [5, 4, 3, 2].map((counter) => command(LOCK, counter)), 3],
    ['no request', [0, 1, 2, 3].map((counter) => command(0, counter)), 0],
    ['a request that changes', [LOCK, LOCK, UNLOCK, LOCK, LOCK].map((r, i) => command(r, i)), 0],
    ['a frame too short', [0, 1, 2, 3].map((i) => ({ ...command(LOCK, i), data: command(LOCK, i).data.slice(1) })), 4],
    ['a request that does not exist', [0, 1, 2, 3].map((i) => ({ ...command(LOCK, i), data: forged(3, i) })), 4],
    ['frames of another message', [0, 1, 2, 3].map((i) => ({ ...command(LOCK, i), id: 0x51 })), 0],
  ])('is not locked by %s', async (_, frames, rejected) => {
    const rig = await startCar({ scenario: 'parked' });
    await sendAll(rig, frames);
    rig.clock.advance(1_000);
    expect(lockState(rig)).toBe(0);
    expect(rig.car.commands).toEqual({ accepted: 0, rejected });
  });

  test('restarts the count of frames after a pause', async () => {
    const rig = await startCar({ scenario: 'parked' });
    await sendAll(
      rig,
      [0, 1, 2, 3, 4].map((counter) => command(LOCK, counter)),
      201,
    );
    expect(rig.car.commands).toEqual({ accepted: 0, rejected: 0 });
  });

  test('accepts requests without effect in a car that does not obey', async () => {
    const rig = await startCar({ scenario: 'parked', obey: false });
    await sendAll(
      rig,
      [0, 1, 2].map((counter) => command(LOCK, counter)),
    );
    rig.clock.advance(1_000);
    expect(lockState(rig)).toBe(0);
    expect(rig.car.commands.accepted).toBe(1);
  });

  test('is not changed by the simulated day', async () => {
    const rig = await startCar();
    await sendAll(
      rig,
      [0, 1, 2].map((counter) => command(LOCK, counter)),
    );
    rig.clock.advance(1_000);
    rig.seen.length = 0;
    rig.clock.advance(rig.car.period);
    const states = rig.seen.filter((frame) => frame.message === 'BODY').map((frame) => frame.signals['LockState']);
    expect(new Set(states)).toEqual(new Set([1]));
  });

  test.each([
    ['a bus it does not have', { ...command(LOCK, 0), bus: 'comfort' }],
    ['an FD frame', { ...command(LOCK, 0), flags: FD }],
    ['nine bytes', { ...command(LOCK, 0), data: new Uint8Array(9) }],
  ])('does not accept %s', async (_, frame) => {
    const rig = await startCar();
    await expect(rig.car.send(frame)).rejects.toMatchObject({ code: 'command.actuation' });
    await rig.car.stop();
    await expect(rig.car.send(command(LOCK, 0))).rejects.toMatchObject({ code: 'command.actuation' });
  });
});

/** Bytes of a BODY_COMMAND with a request that the DBC lacks. */
function forged(request: number, counter: number): Uint8Array {
  return Uint8Array.of(request, counter, 0, request ^ counter);
}
