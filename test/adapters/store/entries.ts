import type { OutboxEntry, OutboxStore } from '../../../agent/ports.ts';

/** An entry with non-default members that depend on its numbers. */
export function outboxEntry(priorityClass: number, seq: number, size = 20): OutboxEntry {
  const payload = new Uint8Array(size).fill((priorityClass * 31 + seq) & 0xff);
  const entry = { class: priorityClass, seq, kind: 'telemetry', at: 1_700_000_000_000.25 + seq, payload };
  return seq % 2 === 0
    ? { ...entry, retain: false }
    : { ...entry, retain: true, correlation: Uint8Array.of(seq & 0xff, 7) };
}

/** `class/number` of all entries in a store, in order. */
export function numbersIn(store: OutboxStore): string[] {
  return [...store.entries()].map((entry) => `${entry.class}/${entry.seq}`);
}

/** All entries in a store, loaded. */
export function entriesIn(store: OutboxStore): (OutboxEntry | undefined)[] {
  return [...store.entries()].map((entry) => store.load(entry.class, entry.seq));
}

/** Every message on the disk, acknowledged or not, once for each copy. */
export function entriesOnDisk(store: OutboxStore): OutboxEntry[] {
  const search = store.find?.(() => true);
  const entries: OutboxEntry[] = [];
  for (let step = search?.next(); step?.done === false; step = search?.next()) entries.push(...step.value);
  return entries;
}
