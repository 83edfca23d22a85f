/** Load on four buses at once: every frame contains a counter, and the agent records the frames that it reads. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';

const buses = ['a', 'b', 'c', 'd'] as const;
/** Number of checks whether all frames have been read. They are a second apart. */
const LOOKS = 60;

/** Writes the traffic of each bus to the folder that becomes `/opt/car`: as a log for canplayer, and as frames only. */
export function writeLoad(folder: string, rate: number, seconds: number): void {
  const each = rate / buses.length;
  const frames = Array.from({ length: each * seconds }, (_, i) => {
    // 256 identifiers, which include that of a message that the agent decodes.
    const id = (0x0c0 + (i % 256)).toString(16).toUpperCase().padStart(3, '0');
    return `${id}#F4010000${i.toString(16).toUpperCase().padStart(8, '0')}`;
  });
  const times = frames.map((frame, i) => `(${(1_700_000_000 + i / each).toFixed(6)}) vcan0 ${frame}\n`);
  writeFileSync(join(folder, 'load.log'), times.join(''));
  writeFileSync(join(folder, 'load.frames'), frames.map((frame) => `${frame}\n`).join(''));
}

/** Frame counts of all buses. */
export interface Outcome {
  readonly sent: number;
  /** Number of frames that the agent counted. */
  readonly read: number;
  /** Number of frames that the kernel counted as dropped, as the agent reported it. */
  readonly dropped: number;
  /** Duration of playback in s. */
  readonly lasted: number;
}

/**
 * Plays the files of {@link writeLoad} on four buses, and waits until all frames have been read or reported as dropped.
 * @throws AssertionError if a frame was neither read nor reported as dropped
 */
export async function load(machine: Machine, rate: number, seconds: number): Promise<Outcome> {
  // The package sets the same value. Unlike those of most controllers, vcan frames pass through the processor's
  // backlog.
  await machine.run('echo 4194304 >/proc/sys/net/core/rmem_max; echo 50000 >/proc/sys/net/core/netdev_max_backlog');
  for (let i = 1; i < buses.length; i++) await machine.run(`ip link add vcan${i} type vcan; ip link set vcan${i} up`);
  await machine.start('loaded', 'vigie run -c /opt/car/load.yaml', /^loaded: ready: /);
  const players = buses.map((_, i) => `canplayer -g 1 -I /opt/car/load.log vcan${i}=vcan0 &`).join(' ');
  const [lasted] = await machine.run(`begin=$(date +%s); ( ${players} wait ); echo $(($(date +%s) - begin))`);
  const sent = rate * seconds;
  let [read, dropped] = [0, 0];
  for (let look = 0; look < LOOKS && read + dropped < sent; look++) {
    const metrics = await machine.run(
      "sleep 1; wget -qO- http://127.0.0.1:9100/metrics | grep -E '^vigie_(frames|source_events)'",
    );
    [read, dropped] = [sumOf(metrics, 'vigie_frames_total'), sumOf(metrics, 'vigie_frames_dropped_total')];
  }
  await machine.run('killall vigie; while pidof vigie >/dev/null; do sleep 0.2; done');
  assert.equal(read + dropped, sent, `${read} read, ${dropped} dropped`);
  return { sent, read, dropped, lasted: Number(lasted) };
}

/**
 * Compares what the agent recorded on each bus with the frames that were played.
 * @throws Error if a frame is missing, changed or out of order
 */
export async function recorded(machine: Machine): Promise<void> {
  for (const bus of buses) {
    await machine.run(`cat /run/frames/*.log | sed -n 's/^[^ ]* ${bus} //p' | cmp - /opt/car/load.frames`);
  }
}

/** Returns the sum of a metric over all sources. */
function sumOf(metrics: readonly string[], name: string): number {
  return metrics
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
}
