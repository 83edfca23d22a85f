/** `vigie run` with records on a disk that the kernel lets nobody write to any more, as after an error of it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeNeeding } from '../needs.ts';
import { VigieProcess } from '../rig/bench.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const mounts = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;

describeNeeding(mounts, 'no name space of mounts can be made here', 'a disk that became read-only', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-read-only-'));
    const bus = '{ bus: body, simulated: true }';
    const text = `configuration: 1\nvin: VF3SERVCECAR00001\nprofile: bench\ndata: ./records\ncan: [${bus}]\n`;
    writeFileSync(join(folder, 'vigie.yaml'), `${text}mqtt: { url: 'mqtt://127.0.0.1:1' }\n`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('keeps no agent from starting, whatever the run before left', { timeout: 60_000 }, async () => {
    const records = join(folder, 'records');
    const before = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml')]);
    await before.says('ready: ');
    await before.end('SIGKILL');
    // What the unit file has systemd write at every end; the lock of the killed process is there as well.
    writeFileSync(join(records, 'ended'), 'signal killed KILL\n');
    expect(existsSync(join(records, 'lock'))).toBe(true);

    const script = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" "$3" run -c "$4"`;
    const options = ['--map-root-user', '--mount', 'sh', '-c', script, 'sh', records];
    const agent = spawn('unshare', [...options, process.execPath, main, join(folder, 'vigie.yaml')]);
    let said = '';
    const exit = once(agent, 'exit');
    const ready = new Promise<void>((resolve) => {
      for (const stream of [agent.stdout, agent.stderr]) {
        stream.setEncoding('utf8').on('data', (words: string) => {
          said += words;
          if (said.includes('ready: ')) resolve();
        });
      }
    });
    await Promise.race([ready, exit]);
    expect(said).toContain('cannot be locked');
    expect(said).toContain('ready: VF3SERVCECAR00001');
    agent.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  });
});
