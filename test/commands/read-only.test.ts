/** `vigie run` with records on a disk that cannot be written: read-only, as after a disk error, or full. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeNeeding } from '../needs.ts';
import { program, VigieProcess } from '../rig/bench.ts';

const mounts = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;

const configuration = `configuration: 1
vin: VF3SERVCECAR00001
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: 'mqtt://127.0.0.1:1' }
`;

/**
 * Starts an agent in its own mount namespace. Resolves when it is ready or has ended. `script` gets the data directory.
 */
async function startAfter(script: string, records: string, configuration: string) {
  const command = `${script} && exec "$2" "$3" run -c "$4"`;
  const options = ['--map-root-user', '--mount', 'sh', '-c', command, 'sh', records];
  const agent = spawn('unshare', [...options, process.execPath, program, configuration]);
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
  return { agent, said: () => said, exit };
}

describeNeeding(mounts, 'no name space of mounts can be made here', 'a disk that became read-only', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-read-only-'));
    writeFileSync(join(folder, 'vigie.yaml'), configuration);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('an agent starts on a read-only disk, whatever the previous run left', { timeout: 60_000 }, async () => {
    const records = join(folder, 'records');
    const before = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml')]);
    await before.says('ready: ');
    await before.end('SIGKILL');
    // The unit file lets systemd write this after each end. The lock of the killed process exists too.
    writeFileSync(join(records, 'ended'), 'signal killed KILL\n');
    expect(existsSync(join(records, 'lock'))).toBe(true);

    const script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"';
    const { agent, said, exit } = await startAfter(script, records, join(folder, 'vigie.yaml'));
    expect(said()).toContain('records.unlocked');
    expect(said()).toContain('ready: VF3SERVCECAR00001');
    agent.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  });

  test('the error names a read-only disk on which the data directory cannot be created', {
    timeout: 60_000,
  }, async () => {
    const records = join(folder, 'records');
    const script = 'mount --bind "$(dirname "$1")" "$(dirname "$1")" && mount -o remount,ro,bind "$(dirname "$1")"';
    const { said, exit } = await startAfter(script, records, join(folder, 'vigie.yaml'));
    expect(await exit).toEqual([2, null]);
    expect(said()).toContain(`${records}: cannot be the directory of records: EROFS`);
  });
});

describeNeeding(
  mounts,
  'no name space of mounts can be made here',
  'a disk that is full before the first start',
  () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'vigie-full-'));
      writeFileSync(join(folder, 'vigie.yaml'), configuration.replace('./records', './disk/records'));
      mkdirSync(join(folder, 'disk'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    // A first start on a full disk leaves empty files, which must not prevent the next start.
    const leftovers = ['', ' && mkdir -p "$1/configuration" "$1/outbox" && touch "$1/version.next"'];
    test.each(leftovers)('an agent starts on a full disk%s', { timeout: 60_000 }, async (before) => {
      const fill =
        'cd "$(dirname "$1")" && mount -t tmpfs -o size=4k tmpfs "$PWD" && cd "$PWD" && head -c 4096 /dev/zero > full';
      const records = join(folder, 'disk', 'records');
      const { agent, said, exit } = await startAfter(fill + before, records, join(folder, 'vigie.yaml'));
      expect(said()).toContain('start.unrecorded');
      expect(said()).toContain('ready: VF3SERVCECAR00001');
      agent.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
    });
  },
);
