/** Reads the resource usage of this process from Linux. */

import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { ProcessVitals } from '../../agent/health/health.ts';
import { defined } from '../../protocol/defined.ts';

/** Returns a function that reads the resource usage. `busy` covers the time since the function's previous call. */
export function processVitals(): () => ProcessVitals {
  let last = performance.eventLoopUtilization();
  return () => {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const privateBytes = readPrivate();
    return {
      ...defined({ privateBytes }),
      residentBytes: rss,
      heapBytes: heapUsed,
      cpu: (user + system) / 1000,
      busy: utilization,
    };
  };
}

/** Returns this process's private memory in bytes (proc(5), smaps_rollup); undefined if the kernel lacks this. */
function readPrivate(): number | undefined {
  try {
    return privateBytesIn(readFileSync('/proc/self/smaps_rollup', 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}

/** Returns the total size in bytes of the private pages listed in `smaps_rollup`. */
export function privateBytesIn(text: string): number {
  let kilobytes = 0;
  for (const [, size] of text.matchAll(/^Private_(?:Clean|Dirty): +([0-9]+) kB$/gm)) kilobytes += Number(size);
  return kilobytes * 1024;
}
