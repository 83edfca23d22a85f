/** The outbox in the journal. */
import type { OutboxEntry, OutboxReference, OutboxStore } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Contents, Series } from './contents.ts';
import {
  entryBytes,
  entryRecord,
  entryTraits,
  longestCorrelation,
  readEntry,
  referenceOf,
  rowBytes,
} from './message-record.ts';
import { maximumPayload } from './record.ts';

/** Maximum size in bytes of an entry's fields other than payload and correlation data; includes the kind. */
const entryRoom = 1 << 16;

/** Functions that the outbox needs from the store. */
export interface OutboxDuties {
  commit(): Promise<void>;
  /** Called after an entry was acknowledged. */
  acknowledged(): void;
  readonly find: NonNullable<OutboxStore['find']>;
}

export function outboxStore(
  contents: Contents,
  { commit, acknowledged, find }: OutboxDuties,
  damagedFiles: readonly string[] = [],
): OutboxStore {
  const { kinds } = contents;
  const classes = new OutboxClasses(contents);
  return {
    entries: () => classes.references(),
    nextSeq: (priority) => classes.get(priority)?.next ?? 0,
    firstWaiting(priority) {
      const rows = classes.get(priority)?.rows;
      const row = rows?.next(0) ?? -1;
      return rows === undefined || row < 0 ? undefined : rows.number(row);
    },
    get bytes() {
      return classes.bytes;
    },
    reference(priority, seq) {
      const rows = classes.get(priority)?.rows;
      const row = rows?.find(seq) ?? -1;
      return rows === undefined || row < 0 ? undefined : referenceOf(priority, rows, row, kinds);
    },
    load(priority, seq) {
      const series = classes.get(priority);
      const row = series?.rows.find(seq) ?? -1;
      if (series === undefined || row < 0) return undefined;
      const cursor = contents.read(series, row);
      return cursor === undefined ? undefined : readEntry(cursor);
    },
    append(entry) {
      const traits = entryTraits(checked(entry), kinds);
      if (traits === undefined) throw new VigieError('message.unbounded', `kind ${entry.kind}: too many kinds`);
      const series = classes.of(entry.class);
      contents.append(series, entry.seq, entryRecord(entry), traits);
      classes.bytes += entryBytes(entry.payload.length, entry.correlation?.length ?? 0);
    },
    acknowledge(priority, seq) {
      const series = classes.get(priority);
      const row = series?.rows.find(seq) ?? -1;
      if (series === undefined || row < 0) return;
      contents.remove(series, row);
      acknowledged();
    },
    giveUp(priority, seq) {
      const series = classes.get(priority);
      const row = series?.rows.find(seq) ?? -1;
      if (series === undefined || row < 0) return;
      contents.giveUp(series, row);
      acknowledged();
    },
    *owed() {
      for (const [priority, { owed }] of classes.inOrder()) {
        if (owed.all.length > 0) yield { class: priority, numbers: [...owed.all] };
      }
    },
    damagedFiles,
    gapKnown({ class: priority, numbers }) {
      const series = classes.get(priority);
      if (series === undefined) return;
      for (const run of numbers) contents.clearOwed(series, run);
      acknowledged();
    },
    find,
    commit,
  };
}

/** The series that are priority classes, and the bytes of their messages. */
class OutboxClasses {
  bytes = 0;
  readonly #contents: Contents;
  readonly #series = new Map<number, Series>();

  constructor(contents: Contents) {
    this.#contents = contents;
    for (const series of contents.all()) if (typeof series.name === 'number') this.#watch(series);
    for (const { rows } of this.#series.values()) {
      for (let row = rows.next(0); row >= 0; row = rows.next(rows.number(row) + 1)) this.bytes += rowBytes(rows, row);
    }
  }

  get(priority: number): Series | undefined {
    return this.#series.get(priority);
  }

  /** Like {@link get}, but creates the class if it does not exist. */
  of(priority: number): Series {
    let series = this.#series.get(priority);
    if (series === undefined) {
      series = this.#contents.series(priority);
      this.#watch(series);
    }
    return series;
  }

  inOrder(): readonly (readonly [priority: number, series: Series])[] {
    return [...this.#series].sort(([a], [b]) => a - b);
  }

  *references(): Generator<OutboxReference, void, undefined> {
    for (const [priority, { rows }] of this.inOrder()) {
      for (let row = rows.next(0); row >= 0; ) {
        const reference = referenceOf(priority, rows, row, this.#contents.kinds);
        yield reference;
        row = rows.next(reference.seq + 1);
      }
    }
  }

  #watch(series: Series): void {
    this.#series.set(series.name as number, series);
    series.forget = (row) => {
      this.bytes -= rowBytes(series.rows, row);
    };
  }
}

/** Returns the entry if it can be stored. Throws `input.malformed` or `message.unbounded`. */
export function checked(entry: OutboxEntry): OutboxEntry {
  const { class: priority, payload, correlation } = entry;
  if (!Number.isSafeInteger(priority) || priority < 0) {
    throw new VigieError('input.malformed', `class ${priority}: it must be an integer from 0`);
  }
  if (payload.length + (correlation?.length ?? 0) + entryRoom > maximumPayload) {
    throw new VigieError('message.unbounded', `an entry of ${payload.length} bytes is too long to be kept`);
  }
  if (correlation !== undefined && correlation.length > longestCorrelation) {
    throw new VigieError('message.unbounded', `correlation data of ${correlation.length} bytes`);
  }
  return entry;
}
