/** Options of `vigie watch` for brokers that authenticate their clients. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vigie } from '../rig/bench.ts';

const VIN = 'VF3WATCHEDCAR0001';

describe('conflicting broker options', () => {
  let folder: string;
  let file: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-broker-'));
    file = join(folder, 'file');
    writeFileSync(file, 'x');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each<[readonly string[], string]>([
    [['--password-file', '@'], 'add --username'],
    [['--cert', '@'], '--cert and --cert-key go together'],
    [['--ca', '@'], 'write mqtts://'],
    [['--ca', '/nowhere/ca.pem'], '/nowhere/ca.pem: cannot be read: there is no such file'],
    [['--username', 'anna', '--password-file', '/nowhere/password'], '/nowhere/password: the secret cannot be read'],
  ])('watch options that do not go together are refused with advice: %j', async (options, said) => {
    const given = options.map((option) => option.replace('@', file));
    const { status, stderr } = await vigie('watch', VIN, '--broker', 'mqtt://127.0.0.1:1', ...given);
    expect(status).toBe(2);
    expect(stderr).toContain(said);
  });
});
