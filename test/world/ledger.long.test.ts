/** A search with a ledger that is interrupted and restarted runs only the remaining seeds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { SeedLedger } from './ledger.ts';

test('an interrupted search continues where it stopped, and then has nothing left to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = fileURLToPath(new URL('../../scripts/simulate.ts', import.meta.url));
  const simulate = (...words: string[]) => {
    const args = [script, '--minutes', '0.05', '--ledger', folder, '--seed', '1', ...words];
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  };
  const ended = simulate('--runs', '100000');
  for await (const line of createInterface({ input: ended.stderr })) {
    if (/^25 worlds/.test(line)) break;
  }
  ended.kill('SIGTERM');
  await once(ended, 'exit');
  const ledger = new SeedLedger({ folder, digest: digestIn(folder), commit: 'c', length: 3_000, first: 1 });
  const lived = ledger.passed.size;
  expect(lived).toBeGreaterThanOrEqual(25);

  const output = async (count: number): Promise<string> => {
    const child = simulate('--runs', String(count));
    let text = '';
    child.stdout.on('data', (part: Buffer) => {
      text += part;
    });
    await once(child, 'close');
    return text;
  };
  expect(await output(lived + 5)).toMatch(
    new RegExp(`^5 worlds from seed 1 on.*\\n${lived + 5} of ${lived + 5} seeds`),
  );
  expect(await output(lived + 5)).toMatch(new RegExp(`^${lived + 5} of ${lived + 5} seeds`));

  function digestIn(where: string): string {
    const [name = ''] = readdirSync(where);
    return (JSON.parse(readFileSync(join(where, name), 'utf8')) as { digest: string }).digest;
  }
});
