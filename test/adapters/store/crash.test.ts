/** Kills a process that uses the store on the machine's file system. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore } from '../../../adapters/store/store.ts';
import { bundled } from '../../rig/run.ts';
import { runs } from '../../rig/runs.ts';
import { entriesIn, outboxEntry } from './entries.ts';

const kills = runs(6, 20);

interface Printed {
  readonly next: number;
  readonly live: readonly number[];
  /** Acknowledged before the commit of this line. */
  readonly acknowledged: readonly number[];
}

let root: string;
let child: string;
beforeAll(async () => {
  child = await bundled('test/adapters/store/crash-child.ts');
  root = mkdtempSync(join(tmpdir(), 'vigie-crash-'));
});
afterAll(() => rmSync(root, { recursive: true }));

/** Runs the child until it has printed `lines` lines, kills it some microseconds later, and returns the lines. */
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

it(`the store has all committed data consistently, and no acknowledged messages, after ${kills} kills`, async () => {
  const directory = join(root, 'data');
  for (let kill = 0; kill < kills; kill++) {
    const printed = await killAfter(directory, 1 + ((kill * 7919) % 97));
    const last = printed.at(-1)!;
    const store = await openStore(directory);
    const found = [...store.outbox.entries()].map((entry) => entry.seq);
    // The child continued after its last line: it may have acknowledged up to four of the oldest messages.
    expect(found).toEqual(expect.arrayContaining(last.live.slice(4)));
    const gone = new Set(printed.flatMap(({ acknowledged }) => acknowledged));
    expect(found.filter((seq) => gone.has(seq))).toEqual([]);
    const next = store.outbox.nextSeq(1);
    expect(next).toBeGreaterThanOrEqual(last.next);
    expect(entriesIn(store.outbox)).toEqual(found.map((seq) => outboxEntry(1, seq)));
    // Consistency: the newest message has its record, and the state is from the same commit.
    const trips = [...store.records.list('trips')].map(({ record }) => record);
    const newest = Array.from({ length: Math.min(next, 50) }, (_, i) => next - Math.min(next, 50) + i);
    expect(trips).toEqual(newest);
    expect(store.memory.recall('state')).toEqual({ next, trips: trips.length });
    expect(store.metrics).toMatchObject({ damaged: 0, malformed: 0, unknown: 0, aside: 0 });
    await store.close();
  }
});
