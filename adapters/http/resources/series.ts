/** The telemetry that is kept, as moments: found by time, read piece by piece. */
import type { RecordStore, StoredRecord } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { Period } from '../../../protocol/interface/parameters.ts';
import type { Telemetry } from '../../../protocol/schema/telemetry.ts';
import type { Slot } from '../../../protocol/slots.ts';
import type { Place } from '../paging.ts';
import { type Moment, momentsOf } from './moments.ts';
import { Turns } from './turns.ts';

const COLLECTION = 'telemetry';
/** No piece spans more: a minute, and what a reading may come late (agent/recorders/telemetry.ts). ms */
const PIECE = 120_000;
/** Moments whose times are remembered: 8 bytes each, and for each piece what this many take. */
const REMEMBERED = 500_000;
const OVERHEAD = 64;

export class TelemetrySeries {
  readonly #records: RecordStore;
  /** Times of the moments of a piece that have any of some slots, by piece and slots. Those used last come last. */
  readonly #times = new Map<string, Float64Array>();
  #remembered = 0;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /**
   * Where the moments lie that have any of the slots `wanted`, which `key` names, within the periods (absent: all
   * time): ascending by time, then by piece. Lets others have their turn while it looks for them.
   */
  async places(wanted: ReadonlySet<Slot>, key: string, periods: readonly Period[] | undefined): Promise<Place[]> {
    const places: Place[] = [];
    const turns = new Turns();
    for (const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } of periods ?? [{}]) {
      for (const piece of this.#records.list(COLLECTION, from - PIECE, to)) {
        for (const at of this.#timesOf(piece, wanted, key))
          if (at >= from && at < to) places.push({ at, id: piece.id });
        await turns.next();
      }
      // Also where nothing was read: a request may name very many periods.
      await turns.next();
    }
    // Pieces may overlap by what came late.
    return places.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  }

  /** Reads moments of places, those of one piece best one after the other. */
  reader(): MomentReader {
    return new MomentReader(this.#records);
  }

  #timesOf(piece: StoredRecord, wanted: ReadonlySet<Slot>, key: string): Float64Array {
    // A piece that was put again with another time is another one.
    const name = `${piece.id} ${piece.at} ${key}`;
    const known = this.#times.get(name);
    if (known !== undefined) {
      this.#times.delete(name);
      this.#times.set(name, known);
      return known;
    }
    const times = Float64Array.from(
      momentsIn(piece)
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

/** Reads the moments of a page: keeps the pieces that it has read. */
export class MomentReader {
  readonly #records: RecordStore;
  readonly #pieces = new Map<string, readonly Moment[]>();
  readonly #surroundings = new Map<string, readonly Moment[]>();

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** Undefined: it has been dropped since. */
  at({ at, id }: Place): Moment | undefined {
    return this.#piece(id)?.find((moment) => moment.at === at);
  }

  /** The moments at, and less than `span` ms before, a place, newest first. */
  *before(place: Place, span: number): Generator<Moment, void, undefined> {
    const moments = this.#surrounding(place, span);
    for (let index = moments.length - 1; index >= 0; index--) {
      const moment = moments[index] as Moment;
      if (moment.at <= place.at - span) return;
      if (moment.at <= place.at) yield moment;
    }
  }

  /** Moments of the place's piece and of those before it that may be asked for, ascending. */
  #surrounding({ id }: Place, span: number): readonly Moment[] {
    const known = this.#surroundings.get(id);
    if (known !== undefined) return known;
    const piece = this.#piece(id) ?? [];
    const from = (piece[0]?.at ?? Number.POSITIVE_INFINITY) - span - PIECE;
    const to = (piece.at(-1)?.at ?? Number.NEGATIVE_INFINITY) + 1;
    const moments: Moment[] = [];
    for (const one of this.#records.list(COLLECTION, from, to)) moments.push(...(this.#piece(one.id) ?? []));
    moments.sort((a, b) => a.at - b.at);
    this.#surroundings.set(id, moments);
    return moments;
  }

  #piece(id: string): readonly Moment[] | undefined {
    const known = this.#pieces.get(id);
    if (known !== undefined) return known;
    const piece = this.#records.get(COLLECTION, id);
    if (piece === undefined) return undefined;
    const moments = momentsIn(piece);
    this.#pieces.set(id, moments);
    return moments;
  }
}

function momentsIn({ id, record }: StoredRecord): Moment[] {
  try {
    return momentsOf(record as Telemetry);
  } catch (cause) {
    throw new VigieError('internal', 'telemetry that is kept cannot be read', { where: `${COLLECTION}/${id}`, cause });
  }
}

function hasAny(values: Moment['values'], wanted: ReadonlySet<Slot>): boolean {
  for (const slot of values.keys()) if (wanted.has(slot)) return true;
  return false;
}
