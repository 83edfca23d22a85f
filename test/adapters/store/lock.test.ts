import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockDirectory } from '../../../adapters/store/lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'vigie-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const module = new URL('../../../adapters/store/lock.ts', import.meta.url).href;

/** A process that holds the lock until it is ended. */
async function holder() {
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { lockDirectory } from ${JSON.stringify(module)};
     lockDirectory(${JSON.stringify(directory)});
     console.log('held');
     setInterval(() => {}, 1000);`,
  ]);
  await once(child.stdout, 'data');
  return child;
}

describe('the lock of a directory', () => {
  test('refuses a second process while the first runs, and goes with a killed one', async () => {
    const child = await holder();
    expect(() => lockDirectory(directory)).toThrow(`process ${child.pid} uses it`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const unlock = lockDirectory(directory);
    expect(existsSync(join(directory, 'lock'))).toBe(true);
    unlock();
    expect(existsSync(join(directory, 'lock'))).toBe(false);
    unlock();
  });

  test.each(['', 'nonsense', `${process.pid} 1 another-boot`, `${process.ppid}`])(
    'a lock that no running process wrote (%j) is taken over',
    (text) => {
      writeFileSync(join(directory, 'lock'), text);
      lockDirectory(directory)();
    },
  );
});
