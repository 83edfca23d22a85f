/** `vigie check` in a shell, for a configuration whose secrets systemd passes to the service. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeNeeding } from '../needs.ts';
import { program } from '../rig/bench.ts';

const mounts = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;
/** Configuration file that the package installs. */
const example = fileURLToPath(new URL('../../scripts/service/vigie.yaml', import.meta.url));

describeNeeding(mounts, 'no name space of mounts can be made here', 'the check of the example configuration', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-credentials-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the check with an empty /run, except for files made by `prepare`, a line for the shell. */
  const checkAfter = (prepare: string) => {
    const command = `mount -t tmpfs none /run && ${prepare} && exec "$0" "$1" check -c "$2"`;
    const words = ['sh', '-c', command, process.execPath, program, example];
    const environment = { ...process.env };
    delete environment['CREDENTIALS_DIRECTORY'];
    return spawnSync('unshare', ['--map-root-user', '--mount', ...words], { encoding: 'utf8', env: environment });
  };

  test('check finds the password at its systemd source before the first run of the service', () => {
    const put = 'umask 077 && mkdir /run/credstore && echo secret > /run/credstore/vigie.password';
    const { status, stdout, stderr } = checkAfter(put);
    expect([status, stdout], stderr).toEqual([0, '']);
  });

  test('check finds the password of the running service', () => {
    const credentials = '/run/credentials/vigie.service';
    const { status, stdout, stderr } = checkAfter(
      `umask 077 && mkdir -p ${credentials} && echo x > ${credentials}/vigie.password`,
    );
    expect([status, stdout], stderr).toEqual([0, '']);
  });

  test('check names the file to create if there is no password', () => {
    const { status, stdout } = checkAfter('true');
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      line: 13,
      severity: 'error',
      message: '/etc/credstore/vigie.password cannot be read: it does not exist',
      fix: expect.stringContaining('systemd passes it to the service'),
    });
  });

  test('check warns of a password that every user can read', () => {
    const put = 'mkdir /run/credstore && echo secret > /run/credstore/vigie.password && chmod 644 /run/credstore/*';
    const { status, stdout } = checkAfter(put);
    expect(status).toBe(0);
    expect(stdout).toContain('every user can access it');
  });
});
