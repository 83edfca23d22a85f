/** What a process and all that it started take of the machine (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs';

export interface Cost {
  /** CPU time since their start, s. */
  readonly cpu: number;
  /** Private and shared memory that is resident, bytes. */
  readonly resident: number;
}

/** Clock ticks of /proc, fixed by the kernel's interface to programs. */
const TICKS = 100;
const PAGE = 4096;

/** Of the process group `group`. */
export function costOf(group: number): Cost {
  let [cpu, resident] = [0, 0];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (Number(fields[2]) !== group) continue;
    cpu += (Number(fields[11]) + Number(fields[12])) / TICKS;
    resident += Number(fields[21]) * PAGE;
  }
  return { cpu, resident };
}

/** The fields behind the name, which is in parentheses and may hold anything; none when the process has ended. */
function statOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
