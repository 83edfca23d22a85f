/** A sleeping unit: the real program on a real broker, observed by its system calls. */
import { afterEach, expect, it } from 'vitest';
import { describePeers } from '../rig/peers.ts';
import { QuietUnit } from '../rig/quiet-unit.ts';
import { isQuestion, Strace, type SystemCall, wakeUpsOf } from '../rig/strace.ts';

/** Interval of the keep-alive, s. */
const KEEPALIVE = 6;
/** Number of keep-alives during the observation. */
const QUESTIONS = 3;

describePeers(['mosquitto', 'socat', 'strace', '/dev/ptmx'], 'a unit that sleeps', () => {
  let unit: QuietUnit | undefined;
  afterEach(async () => {
    await unit?.close();
    unit = undefined;
  });

  /** System calls from one keep-alive to the third after it. */
  async function watch(pid: number): Promise<readonly SystemCall[]> {
    const strace = await Strace.attach(pid);
    await strace.calls.take(isQuestion);
    const from = strace.calls.all.length;
    for (let i = 0; i < QUESTIONS; i++) await strace.calls.take(isQuestion);
    await strace.detach();
    return strace.calls.all.slice(from);
  }

  it('a sleeping unit wakes only for the keep-alive; a command or a frame wakes it, and the first frame is not lost', async () => {
    unit = await QuietUnit.start({ keepalive: `${KEEPALIVE}s`, standbyFor: '5s' });
    unit.talk(12_001);
    await unit.presence.take((word) => word === 'asleep');

    const { pid } = unit;
    const wakeUps = wakeUpsOf(pid, await watch(pid));
    // The client checks halfway between keep-alives, and V8 cleans up for two minutes. Anything that polls each second,
    // as lines, recordings, requests and the agent do while awake, would wake it at least 18 times. every second, as
    // lines, recordings, requests and the agent do while awake, would wake it at least 18 times.
    const others = wakeUps.filter(
      ({ calls, keepAlive }) => !keepAlive && !/, 0, NULL, 8\) = 0$/.test(calls[0]?.text ?? ''),
    );
    expect(others.length, others.flatMap(({ calls }) => calls.map(({ text }) => text)).join('\n')).toBeLessThan(18);
    expect(wakeUps.filter(({ keepAlive }) => keepAlive).length).toBeGreaterThanOrEqual(QUESTIONS);
    expect(unit.adapter.sent).toEqual([]);

    // A command: the unit is online again and wakes the car with its wake-up frame.
    const id = await unit.wake();
    expect(await unit.presence.take()).toBe('online');
    await unit.messages.take(
      ({ kind, body }) => kind === 'remote' && 'status' in body && body.status === 'WakingUpVehicle',
    );
    // The car answers, and its first frame is in Status. The order is not fixed: on a slow disk the command takes
    // longer than a Status that is due.
    const told = Promise.all([
      unit.messages.take(
        ({ kind, body }) =>
          kind === 'remote' && 'remoteActionId' in body && body.remoteActionId === id && body.status === 'Success',
      ),
      unit.messages.take(({ kind, body }) => kind === 'status' && JSON.stringify(body).includes('"mileage":12037')),
    ]);
    unit.talk(12_037);
    await told;
    expect(new Set(unit.adapter.sent.map((line) => line.slice(0, 4))).size).toBe(1);

    // One frame on the bus.
    await unit.presence.take((word) => word === 'asleep');
    unit.talk(12_041);
    expect(await unit.presence.take()).toBe('online');
    await unit.messages.take(({ kind, body }) => kind === 'status' && JSON.stringify(body).includes('"mileage":12041'));
  }, 180_000);
});
