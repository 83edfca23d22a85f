import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockDirectory } from '../../../adapters/store/lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'vigie-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const module = new URL('../../../adapters/store/lock.ts', import.meta.url).href;

/** Starts a process that holds the lock until it is killed. */
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
  test('refuses a second process, and is released when the first is killed', async () => {
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

  test('refuses a second user in the same process, by any path, until the first releases it', () => {
    const link = `${directory}-link`;
    symlinkSync(directory, link);
    try {
      const unlock = lockDirectory(directory);
      expect(() => lockDirectory(link)).toThrow('this program already uses it');
      unlock();
      const next = lockDirectory(link);
      unlock();
      expect(() => lockDirectory(directory)).toThrow('this program already uses it');
      next();
    } finally {
      rmSync(link);
    }
  });

  test('refuses another thread of the same process', async () => {
    const unlock = lockDirectory(directory);
    const code = `import { lockDirectory } from ${JSON.stringify(module)};
      import { parentPort } from 'node:worker_threads';
      try { lockDirectory(${JSON.stringify(directory)}); parentPort.postMessage('held'); }
      catch ({ message }) { parentPort.postMessage(message); }`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
    const [said] = await once(worker, 'message');
    expect(said).toContain('this program already uses it');
    await worker.terminate();
    unlock();
  });

  test('is free after a release even if the lock file was not deleted', () => {
    const unlock = lockDirectory(directory);
    const text = readFileSync(join(directory, 'lock'), 'utf8');
    unlock();
    writeFileSync(join(directory, 'lock'), text);
    lockDirectory(directory)();
  });

  test('is free after its process was killed, even if the parent has not reaped it', async () => {
    // A shell that replaces itself with `sleep` never reaps its child.
    const script = `"$0" --input-type=module -e "$1" & exec sleep 600 >&-`;
    const code = `import { lockDirectory } from ${JSON.stringify(module)};
      lockDirectory(${JSON.stringify(directory)});
      console.log(process.pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn('sh', ['-c', script, process.execPath, code]);
    try {
      const [said] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(said.toString());
      process.kill(pid, 'SIGKILL');
      while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) await new Promise(setImmediate);
      expect(readFileSync(join(directory, 'lock'), 'utf8')).toMatch(new RegExp(`^${pid} `));
      lockDirectory(directory)();
    } finally {
      parent.kill('SIGKILL');
      await once(parent, 'exit');
    }
  });

  test('is taken over by exactly one of many processes when it is stale', async () => {
    for (let round = 0; round < 5; round++) {
      writeFileSync(join(directory, 'lock'), '999999 1 another-boot');
      const children = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const child = spawn(process.execPath, [
            '--input-type=module',
            '-e',
            `import { lockDirectory } from ${JSON.stringify(module)};
             try { lockDirectory(${JSON.stringify(directory)}); console.log('held'); } catch { console.log('refused'); }
             setInterval(() => {}, 1000);`,
          ]);
          const [said] = (await once(child.stdout, 'data')) as [Buffer];
          return { child, said: said.toString().trim() };
        }),
      );
      expect(children.map(({ said }) => said).sort()).toEqual(['held', 'refused', 'refused', 'refused']);
      for (const { child } of children) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(join(directory, 'lock'));
    }
  });

  test.each(['', 'nonsense', `${process.pid} 1 another-boot`, `${process.ppid}`])(
    'is taken over if no running process wrote it (%j)',
    (text) => {
      writeFileSync(join(directory, 'lock'), text);
      lockDirectory(directory)();
    },
  );
});
