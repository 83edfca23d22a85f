/** The car's records in the journal: collections, each with its own retention. */
import type { NumberedRecords, RecordStore } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { Collection } from './collection.ts';
import type { Contents } from './contents.ts';
import type { Journal } from './journal.ts';
import { stateSeries } from './record-types.ts';
import { isSeries, type RecordRules, ruleOf } from './retention.ts';

interface RecordsOptions {
  readonly rules: RecordRules;
  /** Returns the time by which records expire. */
  readonly agreed: () => number | undefined;
  /** Called after a record has been stored. */
  readonly changed: () => void;
}

/** Record store with retention. The store calls `retire` before it writes a group. */
interface JournalRecords extends RecordStore {
  readonly numbered: NumberedRecords;
  retire(): void;
  /** Call before a commit; call the returned function when the commit is on the disk. */
  committing(): () => void;
}

export function journalRecords(contents: Contents, journal: Journal, options: RecordsOptions): JournalRecords {
  const { metrics, wear } = journal;
  const collections = new Map<string, Collection>();
  const collection = (name: string): Collection => {
    let found = collections.get(name);
    if (found === undefined) {
      found = new Collection(name, ruleOf(name, options.rules), contents);
      collections.set(name, found);
    }
    return found;
  };
  const names = [...contents.all()].map(({ name }) => name);
  for (const name of names) if (typeof name === 'string' && name !== stateSeries) collection(name);

  return {
    put(name, record) {
      if (name === '') throw new VigieError('input.malformed', 'a collection must have a name');
      if (wear.exceeded && isSeries(name)) {
        metrics.refused++;
        return;
      }
      collection(name).put(record);
      options.changed();
    },
    get: (name, id) => collections.get(name)?.get(id),
    list: (name, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY) =>
      collections.get(name)?.list(from, to) ?? [],
    numbered: {
      from: (name, from) => collections.get(name)?.numbered(from) ?? [],
      end: (name) => collections.get(name)?.end ?? 0,
      expired: (name, from, to) => collections.get(name)?.expired(from, to) ?? 0,
    },
    committing() {
      const ends = [...collections.values()].map((one) => [one, one.next] as const);
      return () => {
        for (const [one, end] of ends) one.end = Math.max(one.end, end);
      };
    },
    retire() {
      const now = options.agreed();
      for (const one of collections.values()) metrics.retired += one.retire(now);
      // Files need up to twice the space of live records, plus kept files and a few new, moved or spare segments.
      const excess = metrics.live - Math.max(0, metrics.diskBound - metrics.kept - 7 * journal.segmentBytes) / 2;
      if (excess <= 0) return;
      const series = [...collections.values()].filter(({ name }) => isSeries(name));
      const largest = series.sort((a, b) => b.bytes - a.bytes)[0];
      if (largest !== undefined) metrics.retired += largest.retire(now, largest.bytes - excess);
    },
  };
}
