/** Advice in the error when the system refuses a file or directory. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adviceOn } from '../../commands/output.ts';
import { VigieError } from '../../protocol/errors.ts';
import { describeNeeding } from '../needs.ts';
import { program, vigie } from '../rig/bench.ts';
import { smallCar } from './small-car.ts';

const FULL = 'vigie: the disk is full: free space on it, ';
const FORBIDDEN =
  /vigie: (this user may not do that there: change the rights of the file or folder \(chmod, chown\)|the file system is read-only: mount it for writing), or use another folder with --dir\n/;

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

test('a full disk under a file named on the command line gives advice and the path', async () => {
  const { status, stderr } = await vigie('inspect', car.log, '--dbc', car.dbc, '--csv', '/dev/full');
  expect(status).toBe(2);
  expect(stderr).toContain('/dev/full: cannot be written: ENOSPC');
  expect(stderr).toContain(`${FULL}or use another file or folder\n`);
});

test('a full disk under standard output gives advice', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [program, 'inspect', car.log], { stdio: ['ignore', full, 'pipe'] });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [status] = await once(child, 'close');
  closeSync(full);
  expect(status).toBe(2);
  expect(stderr).toContain(`vigie: standard output: ENOSPC: no space left on device, write\n${FULL}`);
});

test('a directory that cannot be created gives advice and the option for another one', async () => {
  // Nobody, not even root, can make a directory there.
  const { status, stderr } = await vigie('keys', 'make', 'first', '--dir', '/sys/vigie-keys');
  expect(status).toBe(2);
  expect(stderr).toContain('vigie: /sys/vigie-keys: cannot be the directory of keys: E');
  expect(stderr).toMatch(FORBIDDEN);
});

test('a key that cannot be written gives advice and the option for another directory', async () => {
  const { status, stderr } = await vigie('keys', 'make', 'first', '--dir', '/sys');
  expect(status).toBe(2);
  expect(stderr).toContain('vigie: /sys/first.pem: cannot be written: E');
  expect(stderr).toMatch(FORBIDDEN);
});

test('a missing file gives no advice about disks and permissions', async () => {
  const { stderr } = await vigie('decode', join(car.folder, 'nothing.log'), '--raw');
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('an exhausted quota gives advice, and a refused port gives no advice about files', () => {
  const quota = Object.assign(new Error('EDQUOT: disk quota exceeded, write'), { code: 'EDQUOT', syscall: 'write' });
  const error = new VigieError('store.failed', 'cannot be written', { where: '/home/first', cause: quota });
  expect(adviceOn(error, '--data')).toMatch(/^vigie: the quota of this user .*, or use another folder with --data\n$/);
  expect(adviceOn(Object.assign(new Error('refused'), { code: 'EACCES', syscall: 'listen' }))).toBe('');
});

const mounts = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;
describeNeeding(mounts, 'no name space of mounts can be made here', 'a disk that takes nothing', () => {
  const filled = 'mount -t tmpfs -o size=4k tmpfs "$1" && head -c 4096 /dev/zero > "$1/full"';
  const readOnly = 'mount -t tmpfs -o ro tmpfs "$1"';
  const LOCKED = 'vigie: the file system is read-only: mount it for writing, ';
  test.each([
    {
      args: ['keys', 'make', 'first', '--dir'],
      disk: 'full',
      mount: filled,
      advice: `${FULL}or use another folder with --dir`,
    },
    { args: ['bench', '--data'], disk: 'full', mount: filled, advice: `${FULL}or use another folder with --data` },
    {
      args: ['bench', '--data'],
      disk: 'read-only',
      mount: readOnly,
      advice: `${LOCKED}or use another folder with --data`,
    },
  ])('vigie $args gives advice that names $disk', ({ args, mount, advice }) => {
    const disk = mkdtempSync(join(tmpdir(), 'vigie-full-'));
    const script = `${mount} && folder=$1 && shift && exec "$@" "$folder"`;
    const command = ['sh', '-c', script, 'sh', disk, process.execPath, program, ...args];
    const { status, stderr } = spawnSync('unshare', ['--map-root-user', '--mount', ...command], { encoding: 'utf8' });
    rmSync(disk, { recursive: true });
    expect(status, stderr).toBe(2);
    expect(stderr).toContain(`vigie: ${disk}/`);
    expect(stderr).toContain(`${advice}\n`);
  });

  test('a key whose creation failed on a full disk can be created once there is space', () => {
    const disk = mkdtempSync(join(tmpdir(), 'vigie-full-'));
    const full = 'mount -t tmpfs -o size=16k tmpfs "$1" && head -c 16384 /dev/zero > "$1/full"';
    const script = `${full} && { "$2" "$3" keys make first --dir "$1"; rm "$1/full"; "$2" "$3" keys make first --dir "$1"; }`;
    const command = ['sh', '-c', script, 'sh', disk, process.execPath, program];
    const { status, stderr } = spawnSync('unshare', ['--map-root-user', '--mount', ...command], { encoding: 'utf8' });
    rmSync(disk, { recursive: true });
    expect(stderr).toContain(FULL);
    expect(status, stderr).toBe(0);
  });
});
