/** A unit that sleeps: the real program on a real broker, watched from outside. */
import { afterEach, describe, expect, it } from 'vitest';
import { describePeers } from '../rig/peers.ts';
import { QuietUnit } from '../rig/quiet-unit.ts';
import { completedCall, isQuestion, Strace, type SystemCall, wakeUpsOf } from '../rig/strace.ts';

/** Seconds of silence after which the broker is asked. */
const KEEPALIVE = 6;
/** Times that the broker is asked while the unit is watched. */
const QUESTIONS = 3;

describePeers(['mosquitto', 'socat', 'strace'], 'a unit that sleeps', () => {
  let unit: QuietUnit | undefined;
  afterEach(async () => {
    await unit?.close();
    unit = undefined;
  });

  /** Everything from one question to the broker to the third after it. */
  async function watch(pid: number): Promise<readonly SystemCall[]> {
    const strace = await Strace.attach(pid);
    await strace.calls.take(isQuestion);
    const from = strace.calls.all.length;
    for (let i = 0; i < QUESTIONS; i++) await strace.calls.take(isQuestion);
    await strace.detach();
    return strace.calls.all.slice(from);
  }

  it('is woken by the keep-alive only; a command and the bus wake it, and nothing of the first frame is lost', async () => {
    unit = await QuietUnit.start({ keepalive: `${KEEPALIVE}s`, linger: '5s' });
    unit.talk(12_001);
    await unit.presence.take((word) => word === 'asleep');

    const { pid } = unit;
    const wakeUps = wakeUpsOf(pid, await watch(pid));
    // Half-way between two questions the client looks whether there was one; V8 tidies up for two minutes. What polls
    // every second, as lines, recordings, requests and the agent do while awake, would wake it at least 18 times.
    const others = wakeUps.filter(
      ({ calls, keepAlive }) => !keepAlive && !/, 0, NULL, 8\) = 0$/.test(calls[0]?.text ?? ''),
    );
    expect(others.length, others.flatMap(({ calls }) => calls.map(({ text }) => text)).join('\n')).toBeLessThan(18);
    expect(wakeUps.filter(({ keepAlive }) => keepAlive).length).toBeGreaterThanOrEqual(QUESTIONS);
    expect(unit.adapter.sent).toEqual([]);

    // A command: the unit is online again, and asks the car to wake up by the one frame that is for that.
    const id = await unit.wake();
    expect(await unit.presence.take()).toBe('online');
    await unit.messages.take(
      ({ kind, body }) => kind === 'remote' && 'status' in body && body.status === 'WakingUpVehicle',
    );
    // The car answers; its first frame is what Status says. Which comes first is not said: on a slow disk the command
    // takes longer than a Status that is due.
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

    // And the bus: one frame.
    await unit.presence.take((word) => word === 'asleep');
    unit.talk(12_041);
    expect(await unit.presence.take()).toBe('online');
    await unit.messages.take(({ kind, body }) => kind === 'status' && JSON.stringify(body).includes('"mileage":12041'));
  }, 180_000);
});

describe('what strace says', () => {
  it('is counted when a call is complete', () => {
    const lines = [
      '12 write(23, "\\300\\0", 2)      = 2',
      '12 epoll_pwait(15,  <unfinished ...>',
      '13 futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>',
      '12 <... epoll_pwait resumed>[{events=EPOLLIN}], 1024, 506, NULL, 8) = 1',
      '[pid    12] read(24, "\\320\\0", 65536)   = 2',
      '12 write(24, "x", 1) = -1 EAGAIN (Resource temporarily unavailable)',
      '13 <... futex resumed>)        = 0',
      '12 --- SIGCONT {si_signo=SIGCONT} ---',
      '12 epoll_pwait(15, [], 1024, 505, NULL, 8) = 0',
      '12 epoll_pwait(15, <detached ...>',
      '13 +++ exited with 0 +++',
    ];
    const begun = new Map<string, string>();
    const calls = lines.flatMap((line) => completedCall(line, begun) ?? []);
    expect(calls.map(({ thread, name }) => `${thread} ${name}`)).toEqual([
      '12 write',
      '12 epoll_pwait',
      '12 read',
      '12 write',
      '13 futex',
      '12 epoll_pwait',
    ]);
    // What it was about stands in the line in which it began.
    expect(calls[4]?.text).toContain('FUTEX_WAIT_PRIVATE');
    const asked = ['12 write(24, "\\300\\0", 2 <unfinished ...>', '13 read(3) = 0', '12 <... write resumed>) = 2'];
    const questions = asked.flatMap((line) => completedCall(line, begun) ?? []).filter(isQuestion);
    expect(questions.map(({ thread }) => thread)).toEqual([12]);
    const wakeUps = wakeUpsOf(12, calls);
    expect(wakeUps.map(({ calls: made, keepAlive }) => [made.length, keepAlive])).toEqual([
      [3, true],
      [1, false],
    ]);
  });
});
