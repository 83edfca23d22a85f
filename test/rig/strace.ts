/** System calls of all threads of a process, from the live output of strace. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Arrivals } from './arrivals.ts';

export interface SystemCall {
  readonly thread: number;
  readonly name: string;
  /** The complete line, after the line in which the call began. */
  readonly text: string;
}

/** A wake-up of the main thread: system calls between waking and waiting again. */
export interface WakeUp {
  readonly calls: readonly SystemCall[];
  /** Whether it sent or received a keep-alive. */
  readonly keepAlive: boolean;
}

/** MQTT 3.1.1 clauses 3.12 and 3.13: PINGREQ and PINGRESP in strace notation. */
const PINGREQ = '"\\300\\0"';
const PINGRESP = '"\\320\\0"';

/** strace 5 and later: `12345 write(23, "\300\0", 2) = 2`, or split over two lines if another thread interrupts. */
const WHOLE = /^(?:\[pid +)?(\d+)\]? +(\w+)\(.* = .*$/;
const RESUMED = /^(?:\[pid +)?(\d+)\]? +<\.\.\. (\w+) resumed>.* = .*$/;
const BEGUN = /^(?:\[pid +)?(\d+)\]? +(.*) <unfinished \.\.\.>$/;

/**
 * Returns the call that a line completes. Undefined for a line that only begins a call, and for signals and exits.
 * `begun` stores the beginnings of incomplete calls by thread.
 */
export function completedCall(text: string, begun: Map<string, string>): SystemCall | undefined {
  const [, beginning, what] = BEGUN.exec(text) ?? [];
  if (beginning !== undefined && what !== undefined) begun.set(beginning, what);
  if (text.endsWith('<detached ...>') || beginning !== undefined) return undefined;
  const resumed = RESUMED.exec(text);
  const [, thread, name] = WHOLE.exec(text) ?? resumed ?? [];
  if (thread === undefined || name === undefined) return undefined;
  return { thread: Number(thread), name, text: resumed === null ? text : `${begun.get(thread) ?? ''} ${text}` };
}

/** Wake-ups of the thread. Calls before the first one are left out. */
export function wakeUpsOf(thread: number, calls: readonly SystemCall[]): WakeUp[] {
  const groups: SystemCall[][] = [];
  for (const call of calls) {
    if (call.thread !== thread) continue;
    if (/^epoll_(p?)wait2?$/.test(call.name)) groups.push([call]);
    else groups.at(-1)?.push(call);
  }
  return groups.map((group) => ({
    calls: group,
    keepAlive: group.some(({ text }) => text.includes(PINGREQ) || text.includes(PINGRESP)),
  }));
}

export function isQuestion({ name, text }: SystemCall): boolean {
  return name === 'write' && text.includes(PINGREQ);
}

export class Strace {
  readonly calls = new Arrivals<SystemCall>();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit');
  }

  /** Resolves when all threads are traced. */
  static async attach(pid: number): Promise<Strace> {
    const child = spawn('strace', ['-f', '-p', String(pid), '-s', '8'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const strace = new Strace(child);
    const begun = new Map<string, string>();
    const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
    const attached = new Promise<void>((resolve, reject) => {
      lines.on('line', (text) => {
        if (/^strace: Process \d+ attached/.test(text)) resolve();
        else if (text.startsWith('strace: ')) reject(new Error(text));
        const call = completedCall(/^(\[pid |\d+ )/.test(text) ? text : `${pid} ${text}`, begun);
        if (call !== undefined) strace.calls.push(call);
      });
    });
    await attached;
    return strace;
  }

  /** Detaches from the process. */
  async detach(): Promise<void> {
    this.#child.kill('SIGINT');
    await this.#ended;
  }
}
