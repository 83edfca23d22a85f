/** Reads a pipe on standard input: any writer, any sizes of chunks. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PipeInput } from '../../../../adapters/can/log/standard-input.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-pipe-'));
const path = join(folder, 'pipe');
const module = fileURLToPath(new URL('../../../../adapters/can/log/standard-input.ts', import.meta.url));
beforeAll(() => {
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Both ends of the pipe. */
function pipe(): { input: PipeInput; writer: number } {
  // The read end must be open before the write end can open without blocking.
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  return { input: new PipeInput(reader), writer };
}

/** Reads to the end, at most `size` bytes at a time. */
async function all(input: PipeInput, size: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const into = new Uint8Array(size);
    const count = await input.read(into);
    if (count === 0) return Buffer.concat(parts);
    parts.push(into.subarray(0, count));
  }
}

describe('a pipe', () => {
  test('yields every byte in order, whatever the sizes of writes and reads', async () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 9_000 });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 5 }), fc.integer({ min: 1, max: 10_000 }), async (chunks, size) => {
        const { input, writer } = pipe();
        const got = all(input, size);
        for (const bytes of chunks) writeSync(writer, bytes);
        closeSync(writer);
        expect(await got).toEqual(Buffer.concat(chunks));
        expect(input.position).toBe(chunks.reduce((sum, { length }) => sum + length, 0));
        expect(await input.read(new Uint8Array(1))).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  test('yields more than its buffer holds', async () => {
    const { input, writer } = pipe();
    const other = spawn('head', ['-c', '1000000', '/dev/zero'], { stdio: ['ignore', writer, 'inherit'] });
    closeSync(writer);
    expect((await all(input, 300_000)).equals(Buffer.alloc(1_000_000))).toBe(true);
    expect(other.pid).toBeDefined();
  });

  test('yields data as soon as it arrives, and does not wait for more', async () => {
    const { input, writer } = pipe();
    const into = new Uint8Array(100);
    for (const text of ['one', 'two', 'three']) {
      writeSync(writer, text);
      expect(Buffer.from(into.subarray(0, await input.read(into))).toString()).toBe(text);
    }
    closeSync(writer);
    await input.close();
  });

  test('ends a pending read when it is closed', async () => {
    const { input, writer } = pipe();
    const waiting = input.read(new Uint8Array(1));
    await input.close();
    expect(await waiting).toBe(0);
    closeSync(writer);
  });
});

describe('standard input', () => {
  const run = (code: string, input?: string): string =>
    spawnSync(process.execPath, ['--input-type=module', '-e', `const m = await import('${module}'); ${code}`], {
      encoding: 'utf8',
      ...(input === undefined ? { stdio: [openSync(module, 'r'), 'pipe', 'inherit'] } : { input }),
    }).stdout;

  test('can be opened only once', () => {
    const code = `m.openStandardInput(); try { m.openStandardInput() } catch ({ code }) { console.log(code) } m.closeStandardInput();`;
    expect(run(code, 'x')).toBe('input.unreadable\n');
  });

  test('is read as a file if it is redirected from one', () => {
    expect(run('console.log(m.openStandardInput()); m.closeStandardInput();')).toBe('undefined\n');
  });
});
