/** How an outbox entry is kept: record fields `kind, at, retain, payload, correlation?`. */
import type { OutboxEntry } from '../../agent/ports.ts';
import type { EntryCodec } from './series.ts';

/** Bytes an entry takes beside payload and correlation data: frame, numbers, kind and time in the journal. */
const overhead = 32;

/** What an entry counts for in `OutboxStore.bytes`, in every store alike. */
export function entryBytes(entry: OutboxEntry): number {
  return overhead + entry.payload.length + (entry.correlation?.length ?? 0);
}

export const outboxCodec: EntryCodec<OutboxEntry> = {
  series: (entry) => entry.class,
  number: (entry) => entry.seq,
  bytes: entryBytes,

  fields({ kind, at, retain, payload, correlation }) {
    return correlation === undefined ? [kind, at, retain, payload] : [kind, at, retain, payload, correlation];
  },

  entry(series, number, [kind, at, retain, payload, correlation]) {
    if (typeof kind !== 'string' || typeof at !== 'number' || typeof retain !== 'boolean') return undefined;
    if (!(payload instanceof Uint8Array)) return undefined;
    const entry = { class: series, seq: number, kind, at, retain, payload };
    if (correlation === undefined || correlation === null) return entry;
    return correlation instanceof Uint8Array ? { ...entry, correlation } : undefined;
  },
};
