import { shiftInstants } from '../protocol/instants.ts';
import type { RecordKind } from '../protocol/schema/kind.ts';
import { type Body, bodies } from '../protocol/schema/message.ts';
import type { Log, Publisher, RecordStore } from './ports.ts';

/** Series: pieces of a record over time, in the order of time. */
type SeriesKind = 'telemetry' | 'waypoint' | 'signals' | 'capture' | 'text';

/** Message kinds of pieces of series: readings of custom signals are telemetry, and stored separately. */
const messageOf = {
  telemetry: 'telemetry',
  waypoint: 'waypoint',
  signals: 'telemetry',
  capture: 'capture',
  text: 'text',
} as const;
type Piece<K extends SeriesKind> = Body<(typeof messageOf)[K]>;

function isSeries(kind: RecordKind | SeriesKind): kind is SeriesKind {
  return Object.hasOwn(messageOf, kind);
}

/** Observes every record when it is created or changed. */
export interface RecordObserver {
  recorded<K extends RecordKind>(kind: K, record: Body<K>, previous: Body<K> | undefined): void;
}

/** Number of records from before the time was known that are remembered; a unit gets the time within minutes. */
const PROVISIONAL = 10_000;

/** Kinds that must be on disk at once, not with the next group commit. */
const urgent: ReadonlySet<RecordKind> = new Set(['alert', 'collision', 'alarm', 'stolen']);

/** Accepts records from recorders: publishes each, stores it for clients, and notifies observers. */
export class Records {
  readonly #publisher: Publisher;
  readonly #store: RecordStore;
  readonly #log: Log;
  readonly #observers: RecordObserver[] = [];
  #made = 0;
  /** True while the wall time is unknown: records that are put now will be corrected. */
  #uncertain = false;
  /** Kind and id of the records put while it is unknown, by collection and id. */
  #provisional = new Map<string, readonly [kind: RecordKind | SeriesKind, id: string]>();

  constructor(publisher: Publisher, store: RecordStore, log: Log) {
    this.#publisher = publisher;
    this.#store = store;
    this.#log = log;
  }

  observe(observer: RecordObserver): void {
    this.#observers.push(observer);
  }

  /** Returns a new id, unique for this car: the time, UTC milliseconds, and a number that is never reset. */
  newId(at: number): string {
    this.#made++;
    return `${Math.max(0, Math.round(at)).toString(16)}-${this.#made.toString(16)}`;
  }

  get<K extends RecordKind>(kind: K, id: string): Body<K> | undefined {
    return this.#store.get(kind, id)?.record as Body<K> | undefined;
  }

  /** Adds a record or replaces the one with its id. */
  put<K extends RecordKind>(kind: K, record: Body<K>): void {
    const { id, createdAt } = record as { id: string; createdAt: number };
    const previous = this.get(kind, id);
    this.#store.put(kind, { id, at: createdAt, record });
    this.#note(kind, id);
    if (urgent.has(kind)) {
      this.#publisher
        .secure(kind, record)
        .catch((error: Error) => this.#log.error('records.uncommitted', { kind, id, error: error.message }));
    } else this.#publisher.put(kind, record);
    for (const observer of this.#observers) observer.recorded(kind, record, previous);
  }

  /** Adds the next piece of a series, which starts at `at`, UTC milliseconds. */
  append<K extends SeriesKind>(kind: K, piece: Piece<K>, at: number): void {
    const id = this.newId(at);
    this.#store.put(kind, { id, at, record: piece });
    this.#note(kind, id);
    this.#publisher.put(messageOf[kind], piece as Body<(typeof messageOf)[SeriesKind]>);
  }

  /** Sets whether the wall time is known. While it is not, stored records can be corrected later. */
  trustClock(known: boolean): void {
    this.#uncertain = !known;
  }

  /**
   * Call when the time becomes known: records put without it are stored again with their times `by` ms later, except
   * times after `latest`, from a run that knew the time. Records are published again, each with its id; `hello` reports
   * the correction of series.
   */
  correct(by: number, latest = Number.POSITIVE_INFINITY): void {
    const provisional = this.#provisional;
    this.#provisional = new Map();
    for (const [kind, id] of provisional.values()) {
      const kept = this.#store.get(kind, id);
      if (kept === undefined) continue;
      const record = shiftInstants(bodies[isSeries(kind) ? messageOf[kind] : kind], kept.record, by, latest);
      if (isSeries(kind)) {
        this.#store.put(kind, { id, at: kept.at <= latest ? kept.at + by : kept.at, record });
      } else this.put(kind, record as Body<RecordKind>);
    }
  }

  #note(kind: RecordKind | SeriesKind, id: string): void {
    if (this.#uncertain && this.#provisional.size < PROVISIONAL) this.#provisional.set(`${kind}/${id}`, [kind, id]);
  }

  /** Returns the state that must survive a restart. */
  state(): unknown {
    return { made: this.#made, provisional: [...this.#provisional.values()] };
  }

  restore(state: unknown): void {
    const { made, provisional } = (state ?? {}) as {
      made?: unknown;
      provisional?: (readonly [RecordKind | SeriesKind, string])[];
    };
    if (typeof made === 'number' && Number.isSafeInteger(made) && made >= 0) this.#made = made;
    for (const [kind, id] of provisional ?? []) this.#provisional.set(`${kind}/${id}`, [kind, id]);
  }
}
