/** Outbox, state and records after a power cut at any moment. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FileSystem } from '../../../adapters/store/files.ts';
import type { Store } from '../../../adapters/store/store.ts';
import { runs, stride } from '../../rig/runs.ts';
import { entriesOnDisk, outboxEntry } from './entries.ts';
import { type Choose, RecordedDisk } from './recorded-disk.ts';
import { fault, openAt, recallAll, type Snapshot, type Step, snapshot, steps, work } from './workload.ts';

const start = Date.UTC(2024, 5, 1);

/** `none`: no unsynced data reached the medium; `all`: all of it did. */
const none: Choose = () => 0;
const all: Choose = (most) => most;

function random(seed: number): Choose {
  let state = seed | 1;
  return (most) => {
    // xorshift32 (Marsaglia 2003).
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % (most + 1);
  };
}

function check(store: Store): Snapshot {
  const { metrics } = store;
  expect({ damaged: metrics.damaged, malformed: metrics.malformed, unknown: metrics.unknown }).toEqual({
    damaged: 0,
    malformed: 0,
    unknown: 0,
  });
  expect(store.memory.damaged).toBe(false);
  expect([...store.outbox.owed()]).toEqual([]);
  return snapshot(store, recallAll(store));
}

/** A run with its own number of cases takes longer. */
const timeout = /^\d/.test(process.env['TEST_RUNS'] ?? '') ? 24 * 3_600_000 : 600_000;

/** Runs a workload and simulates power cuts at each moment, in four variants. Returns their number. */
async function cutEverywhere(todo: readonly Step[], seed: number): Promise<number> {
  const disk = new RecordedDisk();
  const keptBytes = seed % 2 === 0 ? 0 : 3_000;
  const protocol = await work(disk, todo, start, keptBytes);
  const chance = random(seed);
  let cuts = 0;
  for (let moment = 0; moment <= disk.moments; moment++) {
    for (const choose of [none, all, chance, chance]) {
      const files = disk.after(moment, choose);
      const store = await openAt(new RecordedDisk(files), () => start, keptBytes);
      expect(fault(protocol, moment, check(store))).toBeUndefined();
      for (const entry of entriesOnDisk(store.outbox)) {
        const given = protocol.given.get(`${entry.class}/${entry.seq}`);
        if (!isDeepStrictEqual(entry, given)) expect(entry).toEqual(given);
      }
      cuts++;
    }
  }
  return cuts;
}

it('after a power cut the store equals one committed group, not older than the last acknowledged commit', {
  timeout,
}, async () => {
  let cuts = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.integer(), async (todo, seed) => {
      cuts += await cutEverywhere(todo, seed);
    }),
    { numRuns: runs(1, 15) },
  );
  expect(cuts).toBeGreaterThan(200);
});

it('data of a failed commit does not reappear after a restart and a power cut', async () => {
  const record = { do: 'record', collection: 'trips', id: 0, size: 0 } as const;
  for (let after = 0; after < 12; after += stride(2)) {
    const todo: Step[] = [{ do: 'fail', after }, record, { do: 'reopen' }, { do: 'commit' }, { do: 'reopen' }];
    for (let seed = 1; seed <= runs(1, 12); seed++) await cutEverywhere(todo, seed);
  }
});

it('the store survives a second power cut while it opens, even if the disk refused the manifest', async () => {
  const message = { do: 'message', class: 0, size: 180, count: 2 } as const;
  const filling: Step[] = Array.from({ length: 3 }, (): Step[] => [message, { do: 'commit' }]).flat();
  for (let after = 0; after < 12; after += stride(5)) {
    const disk = new RecordedDisk();
    const protocol = await work(disk, [...filling, { do: 'fail', after }, ...filling], start);
    for (let moment = 0; moment <= disk.moments; moment += stride(3)) {
      for (const choose of [none, all, random(moment + 1)]) {
        const opened = new RecordedDisk(disk.after(moment, choose));
        const found = check(await openAt(opened, () => start));
        expect(fault(protocol, moment, found)).toBeUndefined();
        for (let later = 0; later <= opened.moments; later++) {
          const again = new RecordedDisk(opened.after(later, choose));
          expect(check(await openAt(again, () => start))).toEqual(found);
        }
      }
    }
  }
});

/** The file system of a process that ends after this number of changes to the disk. */
function endedAfter(disk: RecordedDisk, changes: number): FileSystem {
  let left = changes;
  const change = (): void => {
    if (left-- <= 0) throw new Error('the process has ended');
  };
  const counted = <A extends unknown[], R>(work: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      change();
      return work(...args);
    };
  };
  return {
    read: (path) => disk.read(path),
    list: (directory) => disk.list(directory),
    rename: counted((from, to) => disk.rename(from, to)),
    remove: counted((path) => disk.remove(path)),
    makeDirectory: counted((path) => disk.makeDirectory(path)),
    syncDirectory: async (path) => counted(() => disk.syncDirectory(path))(),
    open: (path, mode) => {
      if (mode !== 'read') change();
      const file = disk.open(path, mode);
      return {
        ...file,
        write: counted(file.write),
        truncate: counted(file.truncate),
        sync: async () => counted(file.sync)(),
        syncInPlace: counted(file.syncInPlace),
      };
    },
  };
}

it('the store survives a power cut while it opens after a start that was killed', async () => {
  const message = { do: 'message', class: 0, size: 180, count: 2 } as const;
  const disk = new RecordedDisk();
  // Most of the segment is unused: the next start cuts it off.
  await work(disk, [message, { do: 'commit' }], start);
  for (let changes = 0; changes < 25; changes++) {
    for (const choose of [none, all, random(changes + 1)]) {
      const killed = new RecordedDisk(disk.after(disk.moments, choose));
      await openAt(endedAfter(killed, changes), () => start).catch(() => undefined);
      const begun = killed.moments;
      const found = check(await openAt(killed, () => start));
      for (let moment = begun; moment <= killed.moments; moment++) {
        for (const later of [none, all, random(moment + 1)]) {
          const cut = new RecordedDisk(killed.after(moment, later));
          expect([changes, moment, check(await openAt(cut, () => start))]).toEqual([changes, moment, found]);
        }
      }
    }
  }
});

it('the store works after several power cuts in sequence', { timeout }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 2, maxLength: 4 }), fc.integer(), async (works, seed) => {
      const choose = random(seed);
      let files: ReadonlyMap<string, Uint8Array> = new Map();
      for (const todo of works) {
        const disk = new RecordedDisk(files);
        const protocol = await work(disk, todo, start);
        const moment = choose(disk.moments);
        files = disk.after(moment, choose);
        const after = new RecordedDisk(files);
        const store = await openAt(after, () => start);
        const found = check(store);
        expect(fault(protocol, moment, found)).toBeUndefined();
        // The recovered data persists whatever happened to the writes of opening, and new data is added to it.
        const again = new RecordedDisk(after.after(choose(after.moments), choose));
        const twice = await openAt(again, () => start);
        expect(check(twice)).toEqual(found);
        const seq = twice.outbox.nextSeq(1);
        twice.outbox.append(outboxEntry(1, seq));
        await twice.outbox.commit();
        const third = await openAt(new RecordedDisk(again.after(again.moments, none)), () => start);
        expect([...check(third).messages.keys()].sort()).toEqual([...found.messages.keys(), `1/${seq}`].sort());
      }
    }),
    { numRuns: runs(8, 60) },
  );
});
