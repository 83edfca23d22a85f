/** Cost of a process and all its child processes on the machine (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs';

export interface Cost {
  /** Processor time in s since the start, including children that have ended. */
  readonly cpu: number;
  /** Resident private and shared memory in bytes. */
  readonly resident: number;
}

/** Clock ticks per second in /proc, which the kernel's interface to programs fixes. */
const TICKS = 100;
const PAGE = 4096;

/** Returns the total cost of several processes. Process 0 is ignored. */
export function costOf(...pids: readonly number[]): Cost {
  const all = new Map<number, readonly number[]>();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) all.set(Number(name), fieldsOf(name));
  }
  let [cpu, resident] = [0, 0];
  const add = (one: number): void => {
    const fields = all.get(one) ?? [];
    const field = (place: number): number => fields[place] ?? 0;
    cpu += (field(11) + field(12) + field(13) + field(14)) / TICKS;
    resident += field(21) * PAGE;
    for (const [child, [, parent]] of all) if (parent === one) add(child);
  };
  for (const pid of pids) if (pid !== 0) add(pid);
  return { cpu, resident };
}

/**
 * Returns the fields after the process name, which is in parentheses and may contain anything; empty if the process has
 * ended.
 */
function fieldsOf(pid: string): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}
