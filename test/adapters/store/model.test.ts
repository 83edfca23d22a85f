/** Compares any sequence of calls on the file store with a simple map. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../rig/runs.ts';
import { entriesIn, outboxEntry } from './entries.ts';
import { type FileOutboxStore, openOutboxStore } from './outbox-alone.ts';
import { SimulatedDisk } from './simulated-disk.ts';

interface Model {
  live: Map<string, number>;
  next: number[];
}

interface Real {
  disk: SimulatedDisk;
  store: FileOutboxStore;
}

type Command = fc.AsyncCommand<Model, Real>;

const classes = 3;
const segmentBytes = 600;

function compare(model: Model, { store }: Real): void {
  const expected = [...model.live.keys()].map((key) => key.split('/').map(Number) as [number, number]);
  expected.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const entries = expected.map(([priorityClass, seq]) =>
    outboxEntry(priorityClass, seq, model.live.get(`${priorityClass}/${seq}`)),
  );
  expect(entriesIn(store)).toEqual(entries);
  expect(model.next.map((_, priorityClass) => store.nextSeq(priorityClass))).toEqual(model.next);
}

const command = (name: string, run: (model: Model, real: Real) => void | Promise<void>): Command => ({
  check: () => true,
  run: async (model, real) => {
    await run(model, real);
    compare(model, real);
  },
  toString: () => name,
});

const append = (priorityClass: number, size: number, count: number): Command =>
  command(`append ${count} of ${size} bytes to ${priorityClass}`, (model, { store }) => {
    for (let i = 0; i < count; i++) {
      const seq = model.next[priorityClass]!++;
      store.append(outboxEntry(priorityClass, seq, size));
      model.live.set(`${priorityClass}/${seq}`, size);
    }
  });

const acknowledge = (which: number, count: number): Command =>
  command(`acknowledge ${count} from ${which}`, (model, { store }) => {
    const keys = [...model.live.keys()];
    for (let i = 0; i < count && keys.length > 0; i++) {
      const [key] = keys.splice(which % keys.length, 1);
      const [priorityClass, seq] = key!.split('/').map(Number);
      store.acknowledge(priorityClass!, seq!);
      model.live.delete(key!);
    }
  });

const commit = command('commit', (_, { store }) => store.commit());

const reopen = command('close and open', async (_, real) => {
  await real.store.close();
  real.store = await openOutboxStore('/outbox', { files: real.disk, segmentBytes });
});

const crash = command('commit, power cut and open', async (_, real) => {
  await real.store.commit();
  real.disk = real.disk.powerCut(() => false);
  real.store = await openOutboxStore('/outbox', { files: real.disk, segmentBytes });
});

/** Makes one later operation fail: this commit may report it, the next one must not. */
const fail = (after: number): Command =>
  command(`fail at operation ${after}`, async (_, { store, disk }) => {
    const at = disk.operations + after;
    disk.fault = () => (disk.operations === at ? 'EIO' : undefined);
    await store.commit().catch((error: unknown) => expect(error).toMatchObject({ code: 'store.failed' }));
    disk.fault = () => undefined;
  });

const priorityClass = fc.nat(classes - 1);
const commands = fc.commands(
  [
    fc.tuple(priorityClass, fc.nat(300), fc.integer({ min: 1, max: 8 })).map((a) => append(...a)),
    fc.tuple(fc.nat(50), fc.integer({ min: 1, max: 12 })).map((a) => acknowledge(...a)),
    fc.constant(commit),
    fc.constant(reopen),
    fc.constant(crash),
    fc.integer({ min: 1, max: 6 }).map(fail),
  ],
  { maxCommands: 60, size: 'max' },
);

it('any sequence of calls has the same result as on a map', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const disk = new SimulatedDisk();
      const store = await openOutboxStore('/outbox', { files: disk, segmentBytes });
      const model: Model = { live: new Map(), next: new Array<number>(classes).fill(0) };
      const real: Real = { disk, store };
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      await real.store.close();
      // Dead records do not accumulate: each segment has at least a quarter of its size, and about half of it may be
      // dead.
      const { failures } = real.store.metrics;
      expect(real.disk.paths.length).toBeLessThan(16 + (8 * 1.5 * real.store.bytes) / segmentBytes + failures);
    }),
    { numRuns: runs(60, 300) },
  );
});
