/** Checks that an open source does not keep a process running. Runs left-open.ts in a separate process. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { extname, join } from 'node:path';
import type { Checks } from './rig.ts';

const program = join(import.meta.dirname, `left-open${extname(import.meta.filename)}`);

function leave(how: string): void {
  const { status, signal } = spawnSync(process.execPath, [program, how], { timeout: 20_000, stdio: 'inherit' });
  assert.deepEqual({ status, signal }, { status: 0, signal: null });
}

export const leaving: Checks = {
  'process.exit leaves at once while the bus sleeps': async () => leave('exit'),
  'a stopped source lets the process end': async () => leave('stop'),
};
