/**
 * `npm run quiet`: a fully equipped agent goes to sleep while it is connected to a real Mosquitto. Counts the system
 * calls of all threads: waits until they have settled, then counts for one minute (`npm run quiet 300`: five minutes).
 * Fails if the agent makes 30 or more calls a minute in addition to the keep-alive. The test suite includes a short
 * form.
 */
import { setTimeout as until } from 'node:timers/promises';
import { QuietUnit } from '../../test/rig/quiet-unit.ts';
import { Strace, type SystemCall, wakeUpsOf } from '../../test/rig/strace.ts';
import type { RunnableScenario } from './scenario.ts';

/** Limit for the number of calls per minute of a sleeping unit, in addition to the keep-alive. */
const MOST = 30;
const MINUTE = 60;
/**
 * Time in minutes until work that began while the unit was awake has ended: every 8 s, V8 checks whether to collect
 * garbage after the last activity, and some minutes later does so once (its memory reducer).
 */
const SETTLING = 5;

export const quiet: RunnableScenario<{ readonly seconds: number }> = {
  options: { seconds: MINUTE },
  argument: 'seconds',
  async run({ seconds }) {
    const unit = await QuietUnit.start({ keepalive: '60s', standbyFor: '3s' });
    let failed = false;
    try {
      unit.talk(12_345);
      await unit.presence.take((word) => word === 'asleep');
      const strace = await Strace.attach(unit.pid);
      let from = 0;
      for (let minute = 1; minute <= SETTLING; minute++) {
        await until(MINUTE * 1000);
        console.log(`minute ${minute} asleep: ${strace.calls.all.length - from} system calls`);
        from = strace.calls.all.length;
      }
      await until(seconds * 1000);
      await strace.detach();
      failed = !judge(unit.pid, seconds, strace.calls.all.slice(from));
    } finally {
      await unit.close();
    }
    return failed ? [unit.output] : [];
  },
};

function judge(pid: number, seconds: number, calls: readonly SystemCall[]): boolean {
  const wakeUps = wakeUpsOf(pid, calls);
  const kept = new Set(wakeUps.filter(({ keepAlive }) => keepAlive).flatMap(({ calls: made }) => made));
  const table = new Map<string, { calls: number; 'for the keep-alive': number }>();
  for (const call of calls) {
    const row = table.get(call.name) ?? { calls: 0, 'for the keep-alive': 0 };
    row.calls++;
    if (kept.has(call)) row['for the keep-alive']++;
    table.set(call.name, row);
  }
  console.table(Object.fromEntries([...table].sort(([, a], [, b]) => b.calls - a.calls)));
  const others = ((calls.length - kept.size) * MINUTE) / seconds;
  console.log(
    `${seconds} s: ${wakeUps.length} wake-ups, ${calls.length} system calls, ${kept.size} of them for the keep-alive; ` +
      `${others.toFixed(1)} others a minute (fewer than ${MOST} are allowed)`,
  );
  // If the agent sent no ping to the broker, it was not connected, and the test would prove nothing.
  return others < MOST && kept.size > 0;
}
