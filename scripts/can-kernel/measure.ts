/**
 * Four buses with 4,000 frames/s each, which our program and others read in turn. Used by scripts/benchmark/can.ts, in
 * the kernel of kernel.ts. Prints a line of JSON for each reader: a {@link Load} with its name. Argument: duration in s
 * for each.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Load, load, play } from './load.ts';
import { addInterface } from './rig.ts';

const RATE = 4000;
const seconds = Number(process.argv[2] ?? 5);
const names = ['vcan0', 'vcan1', 'vcan2', 'vcan3'];

/**
 * Measures `program`, which prints `ready`, reads until standard input ends, and then prints the number of received
 * frames and its processor time.
 */
async function others(program: string, ...args: readonly string[]): Promise<Load> {
  const child = spawn(program, [...args, ...names], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  if ((await lines.next()).value !== 'ready') throw new Error(`${program} is not ready`);
  const lasted = await play(names, RATE, seconds);
  child.stdin.end();
  const { received, processor } = JSON.parse(String((await lines.next()).value)) as Load;
  const sent = names.length * RATE * seconds;
  return { sent, received, missing: sent - received, dropped: sent - received, seconds: lasted, processor };
}

/** Path relative to the project's folder, where the kernel starts this program. */
const python = 'scripts/benchmark/reference/python_can_live.py';
const readers: Readonly<Record<string, () => Promise<Load>>> = {
  vigie: () => load(names, RATE, seconds),
  'python-can': () => others('/usr/bin/python3', python),
};

for (const name of names) addInterface(name);
for (const [name, read] of Object.entries(readers)) {
  try {
    console.log(JSON.stringify({ name, ...(await read()) }));
  } catch (error) {
    console.log(JSON.stringify({ name, reason: (error as Error).message }));
  }
}
process.exit(0);
