/** An open source must hold nobody back from leaving. Runs this file again as a process of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { Bus, type Checks } from './rig.ts';

const path = import.meta.filename;

function leave(how: string): void {
  const { status, signal } = spawnSync(process.execPath, [path, how], { timeout: 20_000, stdio: 'inherit' });
  assert.deepEqual({ status, signal }, { status: 0, signal: null });
}

export const leaving: Checks = {
  'process.exit leaves at once while the bus sleeps': async () => leave('exit'),
  'a stopped source lets the process end': async () => leave('stop'),
};

if (process.argv[1] === path) {
  const bus = await Bus.open();
  assert.equal(bus.health.state, 'running');
  if (process.argv[2] === 'exit') setImmediate(() => process.exit(0));
  else await bus.can.stop();
}
