/** Plays a recording of a GNSS receiver as if the receiver were connected to the unit. */
import type { ReplayClock } from '../adapters/clock/replay.ts';
import { type Fix, FixReadings } from '../adapters/gnss/index.ts';
import type { Agent } from '../agent/agent.ts';
import { counted } from '../protocol/counted.ts';
import { fixLogsIn, reportFixes } from './fix-logs.ts';
import { progressBar } from './output.ts';

export interface FixPlay {
  readonly agent: Pick<Agent, 'wanted' | 'sink'>;
  readonly clock: ReplayClock;
  /** Advances the time, and starts the agent before the first fix. */
  advance(at: number): Promise<void>;
  /** Called after each part of the recording. */
  played(): Promise<void>;
}

/**
 * Delivers the fixes that have a time to the agent, and resolves with the number of these fixes. Reports other fixes
 * and unreadable parts on standard error. Throws `input.unreadable`, `input.malformed`.
 */
export async function replayFixes(path: string, play: FixPlay, printed: boolean): Promise<number> {
  const readings = new FixReadings(play.agent.wanted, play.agent.sink(true));
  let total = 0;
  for await (const { name, log } of fixLogsIn(path)) {
    const bar = await progressBar(log.size, printed);
    let count = 0;
    let timeless = 0;
    let last = Number.NEGATIVE_INFINITY;
    let backwards = 0;
    const deliver = async (fix: Fix): Promise<void> => {
      if (fix.t === undefined) {
        timeless++;
        return;
      }
      if (fix.t < last) backwards++;
      last = fix.t;
      await play.advance(fix.t);
      readings.deliver(fix, Math.max(fix.t, play.clock.now()));
      total++;
    };
    try {
      for await (const fixes of log.fixes()) {
        for (const fix of fixes) await deliver(fix);
        count += fixes.length;
        bar.update(log.position, count);
        await play.played();
      }
    } finally {
      bar.stop();
    }
    reportFixes(log, name, count);
    if (timeless > 0) {
      process.stderr.write(`${name}: ${counted(timeless, 'fix has', 'fixes have')} no time, and cannot be played\n`);
    }
    if (backwards > 0)
      process.stderr.write(`${name}: time jumps back ${counted(backwards, 'time')}; order logs by time\n`);
  }
  return total;
}
