/** Runs a store, and records its contents at every group, to compare them with those after a power cut. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { FileSystem } from '../../../adapters/store/files.ts';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import type { OutboxEntry, StoredRecord } from '../../../agent/ports.ts';
import type { VigieError } from '../../../protocol/errors.ts';
import { outboxEntry } from './entries.ts';
import type { RecordedDisk } from './recorded-disk.ts';

export type Step =
  | { readonly do: 'message'; readonly class: number; readonly size: number; readonly count: number }
  | { readonly do: 'acknowledge'; readonly which: number; readonly count: number }
  | { readonly do: 'state'; readonly key: number; readonly value: number | undefined }
  | { readonly do: 'record'; readonly collection: string; readonly id: number; readonly size: number }
  | { readonly do: 'fail'; readonly after: number }
  | { readonly do: 'commit' | 'commit later' | 'turn' | 'reopen' | 'day' };

const keys = ['status', 'trip', 'ledger'];

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('message' as const),
        class: fc.nat(2),
        size: fc.nat(200),
        count: fc.integer({ min: 1, max: 6 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('acknowledge' as const),
        which: fc.nat(20),
        count: fc.integer({ min: 1, max: 12 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('state' as const),
        key: fc.nat(keys.length - 1),
        value: fc.option(fc.nat(1000), { nil: undefined, freq: 6 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('record' as const),
        collection: fc.constantFrom('trips', 'telemetry'),
        id: fc.nat(12),
        size: fc.nat(150),
      }),
    },
    {
      weight: 9,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'commit' as const,
          'commit' as const,
          'commit' as const,
          'commit later' as const,
          'turn' as const,
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reopen' as const, 'day' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), after: fc.nat(8) }) },
  ),
  { minLength: 20, maxLength: 150, size: 'max' },
);

const classes = [0, 1, 2];
const collections = ['trips', 'telemetry'];
const day = 86_400_000;

/** Complete contents of a store. */
export interface Snapshot {
  readonly messages: ReadonlyMap<string, string>;
  /** Numbers, state and records, as comparable text. */
  readonly rest: string;
  /** Messages acknowledged after this snapshot and before the next. */
  readonly acknowledged: Set<string>;
}

export function snapshot({ outbox, records }: Store, states: ReadonlyMap<string, unknown>): Snapshot {
  const messages = new Map<string, string>();
  for (const { class: priority, seq } of outbox.entries()) {
    messages.set(`${priority}/${seq}`, JSON.stringify(outbox.load(priority, seq)));
  }
  const rest = JSON.stringify({
    next: classes.map((one) => outbox.nextSeq(one)),
    states: keys.map((key) => states.get(key) ?? null),
    records: collections.map((collection) => [...records.list(collection)]),
  });
  return { messages, rest, acknowledged: new Set() };
}

export interface Protocol {
  /** Contents at the end of each group, in order; the first is from opening. */
  readonly snapshots: Snapshot[];
  /** After this moment of the disk, at least this snapshot must be found. */
  readonly promises: { readonly moment: number; readonly snapshot: number }[];
  /** Every appended message, by class and number. */
  readonly given: Map<string, OutboxEntry>;
}

/** @param keptBytes limit for acknowledged messages */
export function openAt(files: FileSystem, now: () => number, keptBytes = 0): Promise<Store> {
  const records = { trips: { days: 2, bytes: 900 }, telemetry: { bytes: 400 } };
  return openStore('/data', { files, segmentBytes: 700, now, records, settleWithin: 3_600_000, keptBytes });
}

export function recallAll({ memory }: Store): Map<string, unknown> {
  return new Map(keys.flatMap((key) => (memory.recall(key) === undefined ? [] : [[key, memory.recall(key)]])));
}

/** Opens a store on the disk and runs the workload. */
export async function work(files: RecordedDisk, todo: readonly Step[], from: number, keptBytes = 0): Promise<Protocol> {
  let now = from;
  const protocol: Protocol = { snapshots: [], promises: [], given: new Map() };
  const { snapshots, promises, given } = protocol;
  const states = new Map<string, unknown>();

  const open = async (): Promise<Store> => {
    const opened = await openAt(files, () => now, keptBytes);
    for (const [key, value] of recallAll(opened)) states.set(key, value);
    opened.memory.keep(() => {
      snapshots.push(snapshot(opened, states));
      return keys.map((key) => [key, states.get(key)] as const);
    });
    return opened;
  };

  let store = await open();
  snapshots.push(snapshot(store, states));
  const commit = async (): Promise<void> => {
    const covered = snapshots.length;
    await store.outbox.commit().then(
      () => promises.push({ moment: files.moments, snapshot: covered }),
      (error: VigieError) => expect(error.code).toBe('store.failed'),
    );
  };
  let later: Promise<void>[] = [];
  for (const step of todo) {
    switch (step.do) {
      case 'message':
        for (let i = 0; i < step.count; i++) {
          const entry = outboxEntry(step.class, store.outbox.nextSeq(step.class), step.size);
          store.outbox.append(entry);
          given.set(`${entry.class}/${entry.seq}`, entry);
        }
        break;
      case 'acknowledge': {
        const live = [...store.outbox.entries()];
        for (let i = 0; i < step.count && live.length > 0; i++) {
          const { class: priority, seq } = live.splice(step.which % live.length, 1)[0]!;
          store.outbox.acknowledge(priority, seq);
          snapshots.at(-1)!.acknowledged.add(`${priority}/${seq}`);
        }
        break;
      }
      case 'state':
        states.set(keys[step.key]!, step.value && { value: step.value, more: 'x'.repeat(step.value % 50) });
        break;
      case 'record': {
        const record: StoredRecord = { id: `r${step.id}`, at: now + (step.id % 5), record: ['y'.repeat(step.size)] };
        store.records.put(step.collection, record);
        break;
      }
      case 'commit':
        await commit();
        break;
      case 'commit later':
        later.push(commit());
        break;
      case 'turn':
        await new Promise<void>((resolve) => setImmediate(resolve));
        break;
      case 'fail':
        files.failAfter(step.after);
        break;
      case 'day':
        now += day;
        break;
      case 'reopen': {
        await Promise.all(later);
        later = [];
        const covered = snapshots.length;
        const closed = await store.close().then(
          () => true,
          () => false,
        );
        if (closed) promises.push({ moment: files.moments, snapshot: covered });
        states.clear();
        store = await open();
        break;
      }
    }
  }
  await Promise.all(later);
  return protocol;
}

/**
 * Explains how a store opened after a power cut is wrong; undefined if it is right. It must equal one snapshot, not
 * older than the last promised one, except for messages acknowledged since.
 */
export function fault({ snapshots, promises }: Protocol, moment: number, found: Snapshot): string | undefined {
  const least = promises.reduce((least, one) => (one.moment <= moment ? Math.max(least, one.snapshot) : least), 0);
  const reasons: string[] = [];
  for (const [i, wanted] of snapshots.entries()) {
    if (i < least) continue;
    const gone = [...wanted.messages.keys()].filter((key) => !found.messages.has(key));
    const more = [...found.messages].filter(([key, text]) => wanted.messages.get(key) !== text).map(([key]) => key);
    const lost = gone.filter((key) => !wanted.acknowledged.has(key));
    if (found.rest === wanted.rest && lost.length === 0 && more.length === 0) return undefined;
    if (reasons.length < 2) reasons.push(`is not ${i}: lost [${lost}], has [${more}], wanted ${wanted.rest}`);
  }
  return `cut at ${moment}, found [${[...found.messages.keys()]}] ${found.rest}\n${reasons.join('\n')}`;
}
