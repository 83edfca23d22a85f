/** A first start with a power cut at any operation of the disk is followed by a good first or later start. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { generateKey } from '../../adapters/keys/index.ts';
import { claimFormat, FIRST_START, openDocument } from '../../adapters/store/index.ts';
import { missingEntries } from '../../assembly/data-folder.ts';
import { beginRecords, finishFirstStart } from '../../assembly/directory.ts';
import { openKeys, openRecords } from '../../assembly/records.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { type Choose, RecordedDisk } from '../adapters/store/recorded-disk.ts';
import { MemoryLog } from '../rig/log.ts';

const DATA = '/data';
const VIN = 'VF3F1RSTSTART0001';
let keys: string;
beforeAll(async () => {
  keys = mkdtempSync(join(tmpdir(), 'vigie-first-start-'));
  await generateKey(keys, 'owner', { algorithm: 'Ed25519', kinds: ['Doors'] });
});
afterAll(() => rmSync(keys, { recursive: true, force: true }));

/** The part of a start that concerns records, in the order of `vigie run`. */
async function start(files: RecordedDisk) {
  const log = new MemoryLog();
  const clock = new SystemClock();
  const missing = missingEntries(DATA, 'agent', files).map(({ name }) => name);
  const first = await beginRecords(DATA, log, files);
  const { fault, refused } = await claimFormat(DATA, files);
  for (const name of ['configuration.json', 'starts.json']) {
    const document = await openDocument<unknown>(`${DATA}/${name}`, [], { log, files });
    await document.write([]).catch((error: unknown) => expect(error).toMatchObject({ code: 'store.failed' }));
  }
  const teardowns: (() => Promise<void>)[] = [];
  const records = await openRecords(
    { vin: VIN, data: DATA, first, settings: agentSettings(), files, clock, log },
    teardowns,
  );
  const trust = await openKeys(
    { data: DATA, first, trust: join(keys, 'trust.json'), files, clock, log },
    records,
    teardowns,
  );
  if (first) await finishFirstStart(DATA, records.store.outbox, log, files);
  const { ledger, boot } = records;
  const doubtful = records.store.memory.damaged === true || ledger.found !== 'newest' || (ledger.corrupt ?? 0) > 0;
  // A failed operation is retried. The power is cut while it still fails.
  for (const end of teardowns)
    await end().catch((error: unknown) => expect(error).toMatchObject({ code: 'store.failed' }));
  return {
    first,
    boot,
    missing,
    fault,
    refused,
    unconfirmed: trust.unconfirmed,
    doubtful,
    log: log.lines.filter(({ level }) => level !== 'info'),
  };
}

const good = { missing: [], fault: undefined, unconfirmed: undefined, doubtful: false, log: [] };

function chance(seed: number): Choose {
  let state = seed | 1;
  return (most) => {
    // xorshift32 (Marsaglia 2003).
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % (most + 1);
  };
}

test('an empty directory is a first start, which finally removes its marker', async () => {
  const disk = new RecordedDisk();
  const begun = await start(disk);
  expect(begun).toMatchObject({ first: true, ...good });
  expect(disk.paths).not.toContain(`${DATA}/${FIRST_START}`);
  expect(await start(disk)).toMatchObject({ first: false, boot: begun.boot + 1, ...good });
});

test('a first start with a power cut at any operation is followed by a start without a false report', async () => {
  const disk = new RecordedDisk();
  await start(disk);
  const { moments } = disk;
  expect(moments).toBeGreaterThan(30);
  let again = 0;
  for (let moment = 0; moment <= moments; moment++) {
    const choices: Choose[] = [() => 0, (most) => most, chance(moment + 1)];
    for (const [i, choose] of choices.entries()) {
      const after = new RecordedDisk(disk.after(moment, choose));
      const next = await start(after);
      expect([moment, i, next]).toMatchObject([moment, i, good]);
      if (next.first) again++;
      expect([moment, i, await start(after)]).toMatchObject([
        moment,
        i,
        { first: false, boot: next.boot + 1, ...good },
      ]);
    }
  }
  expect(again).toBeGreaterThan(30);
});

test('a first start with a disk error at any operation is followed by a start without a false report', async () => {
  const clean = new RecordedDisk();
  await start(clean);
  for (let operation = 0; operation < 60; operation++) {
    const disk = new RecordedDisk();
    disk.failAfter(operation);
    const { refused } = await start(disk);
    const after = new RecordedDisk(disk.after(disk.moments, (most) => most));
    const { unconfirmed, missing, fault } = await start(after);
    expect([operation, unconfirmed, missing]).toEqual([operation, undefined, []]);
    // A start number that the disk refused was reported in that start.
    expect([operation, fault === undefined || refused !== undefined]).toEqual([operation, true]);
  }
});
