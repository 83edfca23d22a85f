/** The outbox of a process that is killed, on the file system of the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openOutboxStore } from '../../../adapters/store/outbox-store.ts';
import { outboxEntry } from './entries.ts';

const child = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const kills = 20;

interface Printed {
  readonly next: number;
  readonly live: readonly number[];
  readonly acknowledged: readonly number[];
}

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'vigie-crash-'));
});
afterAll(() => rmSync(root, { recursive: true }));

/** Runs the child until it has printed `lines`, kills it some microseconds later, and gives what it printed. */
async function killAfter(directory: string, lines: number): Promise<Printed[]> {
  const running = spawn(process.execPath, [child, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(running, 'close');
  const printed: Printed[] = [];
  for await (const line of createInterface({ input: running.stdout })) {
    printed.push(JSON.parse(line) as Printed);
    if (printed.length === lines) running.kill('SIGKILL');
  }
  expect(await closed).toEqual([null, 'SIGKILL']);
  return printed;
}

it(`has what was committed and not what was acknowledged, killed ${kills} times`, async () => {
  const directory = join(root, 'outbox');
  for (let kill = 0; kill < kills; kill++) {
    const printed = await killAfter(directory, 1 + ((kill * 7919) % 97));
    const last = printed.at(-1)!;
    const store = await openOutboxStore(directory);
    const found = [...store.entries()].map((entry) => entry.seq);
    // The child went on after its last line: it may have acknowledged up to four of the oldest.
    expect(found).toEqual(expect.arrayContaining(last.live.slice(4)));
    const gone = new Set(printed.flatMap(({ acknowledged }) => acknowledged));
    expect(found.filter((seq) => gone.has(seq))).toEqual([]);
    expect(store.nextSeq(1)).toBeGreaterThanOrEqual(last.next);
    expect([...store.entries()]).toEqual(found.map((seq) => outboxEntry(1, seq)));
    expect(store.metrics).toMatchObject({ damaged: 0, malformed: 0, unknown: 0, aside: 0 });
    await store.close();
  }
});
