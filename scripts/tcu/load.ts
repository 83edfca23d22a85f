/** Four buses at once: every frame has a counter, and the agent records what it read. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';

const buses = ['a', 'b', 'c', 'd'] as const;
/** How often it is looked whether all has been read, a second apart. */
const LOOKS = 60;

/** Writes what each bus carries into the folder that becomes `/opt/car`: a log for canplayer, and its frames alone. */
export function writeLoad(folder: string, rate: number, seconds: number): void {
  const each = rate / buses.length;
  const frames = Array.from({ length: each * seconds }, (_, i) => {
    // 256 identifiers, among them that of a message which is decoded.
    const id = (0x0c0 + (i % 256)).toString(16).toUpperCase().padStart(3, '0');
    return `${id}#F4010000${i.toString(16).toUpperCase().padStart(8, '0')}`;
  });
  const times = frames.map((frame, i) => `(${(1_700_000_000 + i / each).toFixed(6)}) vcan0 ${frame}\n`);
  writeFileSync(join(folder, 'load.log'), times.join(''));
  writeFileSync(join(folder, 'load.frames'), frames.map((frame) => `${frame}\n`).join(''));
}

/** Outcome of the frames of all buses. */
export interface Outcome {
  readonly sent: number;
  /** As the agent counts them. */
  readonly read: number;
  /** By the kernel's count, reported by the agent. */
  readonly dropped: number;
  /** Seconds that the players took. */
  readonly lasted: number;
}

/**
 * Plays what {@link writeLoad} wrote on four buses, and waits until all of it has been read or reported.
 * @throws AssertionError when a frame is neither
 */
export async function load(machine: Machine, rate: number, seconds: number): Promise<Outcome> {
  // As the package sets it; and vcan's frames go through the processor's backlog, as hardly any controller's do.
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
 * Compares what the agent recorded of each bus with what was played.
 * @throws Error when a frame is missing, changed or out of order
 */
export async function recorded(machine: Machine): Promise<void> {
  for (const bus of buses) {
    await machine.run(`cat /run/frames/*.log | sed -n 's/^[^ ]* ${bus} //p' | cmp - /opt/car/load.frames`);
  }
}

/** The sum of a metric over all sources. */
function sumOf(metrics: readonly string[], name: string): number {
  return metrics
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
}
