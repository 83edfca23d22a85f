/** Reads stored telemetry as samples: finds them by time and reads one stored piece after another. */
import type { StoredRecord } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { Period } from '../../../protocol/interface/parameters.ts';
import type { Telemetry } from '../../../protocol/schema/telemetry.ts';
import type { Slot } from '../../../protocol/slots.ts';
import type { RecordPosition } from '../paging.ts';
import type { RecordSource } from './car.ts';
import { type Sample, samplesOf } from './samples.ts';
import { Yielder } from './yield.ts';

const COLLECTION = 'telemetry';
/** Maximum timespan of a piece in ms: a minute, plus the delay of late readings (agent/recorders/telemetry.ts). */
export const PIECE = 120_000;
/** Number of pieces that a hub reads if the request has no period: as many as the longest page has entries. */
const NEWEST = 2_000;
/** Maximum number of samples whose times are cached, 8 bytes each. */
const REMEMBERED = 500_000;
const OVERHEAD = 64;

/** Series by the source of their records. A series is freed together with its source. */
const known = new WeakMap<RecordSource, TelemetrySeries>();

export function seriesOf(records: RecordSource): TelemetrySeries {
  const series = known.get(records) ?? new TelemetrySeries(records);
  known.set(records, series);
  return series;
}

export class TelemetrySeries {
  readonly #records: RecordSource;
  /** By piece and slots: times of the samples that contain any of the slots. Least recently used entries are first. */
  readonly #times = new Map<string, Float64Array>();
  #remembered = 0;

  constructor(records: RecordSource) {
    this.#records = records;
  }

  /**
   * Returns the positions of samples within the periods (undefined: all time) that contain any of the `wanted` slots,
   * ordered by time, then by piece. `key` identifies the set of slots in the cache. Yields to other work during the
   * search.
   */
  async places(
    wanted: ReadonlySet<Slot>,
    key: string,
    periods: readonly Period[] | undefined,
  ): Promise<RecordPosition[]> {
    const places: RecordPosition[] = [];
    const yielder = new Yielder();
    for (const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } of periods ?? [{}]) {
      for await (const piece of this.#records.list(COLLECTION, from - PIECE, to)) {
        for (const at of this.#timesOf(piece, wanted, key))
          if (at >= from && at < to) places.push({ at, id: piece.id });
        await yielder.pause();
      }
      // Yield even if nothing was read: a request may contain very many periods.
      await yielder.pause();
    }
    // Pieces may overlap because of late readings.
    return places.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  }

  /**
   * Returns the start in UTC ms of the oldest of the newest {@link NEWEST} pieces. Returns undefined if there are
   * fewer, and in a car, which stores only few (docs/durability.md).
   */
  async newestBegin(): Promise<number | undefined> {
    return (await this.#records.keys?.(COLLECTION, {}).nth({}, NEWEST - 1, true))?.at;
  }

  /** Returns a reader of samples. It is fastest if the samples of one piece are read in succession. */
  reader(): SampleReader {
    return new SampleReader(this.#records);
  }

  #timesOf(piece: StoredRecord, wanted: ReadonlySet<Slot>, key: string): Float64Array {
    // If a piece was stored again with another time, it counts as another piece.
    const name = `${piece.id} ${piece.at} ${key}`;
    const known = this.#times.get(name);
    if (known !== undefined) {
      this.#times.delete(name);
      this.#times.set(name, known);
      return known;
    }
    const times = Float64Array.from(
      samplesIn(piece)
        .filter(({ values }) => hasAny(values, wanted))
        .map(({ at }) => at),
    );
    this.#times.set(name, times);
    this.#remembered += times.length + OVERHEAD;
    for (const [oldest, forgotten] of this.#times) {
      if (this.#remembered <= REMEMBERED) break;
      this.#times.delete(oldest);
      this.#remembered -= forgotten.length + OVERHEAD;
    }
    return times;
  }
}

/** Reads the samples of a page and caches their pieces. */
export class SampleReader {
  readonly #records: RecordSource;
  readonly #pieces = new Map<string, readonly Sample[]>();
  readonly #stored = new Map<string, StoredRecord>();
  readonly #surroundings = new Map<string, readonly Sample[]>();

  constructor(records: RecordSource) {
    this.#records = records;
  }

  /** Reads the pieces of a page, in a hub with one statement. A car has its pieces in memory: it reads them one by one. */
  async prepare(places: readonly RecordPosition[]): Promise<void> {
    if (this.#records.keys === undefined) return;
    const read = async (id: string): Promise<void> => {
      const piece = await this.#records.get(COLLECTION, id);
      if (piece !== undefined) this.#stored.set(id, piece);
    };
    await Promise.all([...new Set(places.map(({ id }) => id))].map(read));
  }

  /** Returns the sample at this position, or undefined if it has been dropped meanwhile. */
  async at({ at, id }: RecordPosition): Promise<Sample | undefined> {
    return (await this.#piece(id))?.find((sample) => sample.at === at);
  }

  /** Returns the samples at a position and up to (not including) `span` ms before it, newest first. */
  async before(place: RecordPosition, span: number): Promise<Iterable<Sample>> {
    return newestFirst(await this.#surrounding(place, span), place.at, span);
  }

  /** Returns, in order of time, the samples of this piece and of earlier pieces within reach of `span`. */
  async #surrounding({ id }: RecordPosition, span: number): Promise<readonly Sample[]> {
    const known = this.#surroundings.get(id);
    if (known !== undefined) return known;
    const piece = (await this.#piece(id)) ?? [];
    const from = (piece[0]?.at ?? Number.POSITIVE_INFINITY) - span - PIECE;
    const to = (piece.at(-1)?.at ?? Number.NEGATIVE_INFINITY) + 1;
    const samples: Sample[] = [];
    for await (const one of this.#records.list(COLLECTION, from, to)) samples.push(...this.#known(one));
    samples.sort((a, b) => a.at - b.at);
    this.#surroundings.set(id, samples);
    return samples;
  }

  async #piece(id: string): Promise<readonly Sample[] | undefined> {
    const known = this.#pieces.get(id);
    if (known !== undefined) return known;
    const piece = this.#stored.get(id) ?? (await this.#records.get(COLLECTION, id));
    return piece === undefined ? undefined : this.#known(piece);
  }

  #known(piece: StoredRecord): readonly Sample[] {
    const known = this.#pieces.get(piece.id);
    if (known !== undefined) return known;
    const samples = samplesIn(piece);
    this.#pieces.set(piece.id, samples);
    return samples;
  }
}

function* newestFirst(samples: readonly Sample[], to: number, span: number): Generator<Sample, void, undefined> {
  for (let index = samples.length - 1; index >= 0; index--) {
    const sample = samples[index] as Sample;
    if (sample.at <= to - span) return;
    if (sample.at <= to) yield sample;
  }
}

function samplesIn({ id, record }: StoredRecord): Sample[] {
  try {
    return samplesOf(record as Telemetry);
  } catch (cause) {
    throw new VigieError('internal', 'telemetry that is kept cannot be read', { where: `${COLLECTION}/${id}`, cause });
  }
}

function hasAny(values: Sample['values'], wanted: ReadonlySet<Slot>): boolean {
  for (const slot of values.keys()) if (wanted.has(slot)) return true;
  return false;
}
