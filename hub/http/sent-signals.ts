/** Custom signals that a car has sent. The catalogs of its telemetry define them. */

import { PIECE } from '../../adapters/http/resources/series.ts';
import { Yielder } from '../../adapters/http/resources/yield.ts';
import type { ColumnSeries } from '../../protocol/columns/block.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ShownReading } from '../../protocol/interface/json/signals.ts';
import type { Catalog, CatalogEntry } from '../../protocol/schema/catalog.ts';
import { type SignalRules, signalRulesOf } from '../../protocol/schema/monitor/signals.ts';
import type { Telemetry } from '../../protocol/schema/telemetry.ts';
import type { SignalText } from '../../protocol/schema/text.ts';
import { hexOf } from '../../protocol/signals/hash.ts';
import { signalSeries } from '../../protocol/signals/telemetry.ts';
import { type ShownDefinition, valuesOf } from '../../protocol/signals/values.ts';
import type { HubKeyset, HubPosition, HubRecord, VehicleReader } from '../core/ports.ts';

/** Number of newest telemetry and text messages in which present values are searched. */
const NEWEST = 500;
/** Number of messages in memory at a time. */
const BATCH = 50;
/** Largest number of catalog parts to search, both before telemetry that refers to a catalog and after it. */
const PARTS = 1_000;

type Reader = Pick<VehicleReader, 'records' | 'recordKeys'>;

export interface SentSignal {
  readonly definition: ShownDefinition;
  /** Newest reading. Omitted if none was found. */
  readonly reading?: ShownReading;
}

export interface SentReading extends ShownReading {
  readonly definition: ShownDefinition;
}

/**
 * Returns the rules for monitors on the signals of a catalog (hash in hexadecimal), or undefined if no part of it has
 * arrived. Only the car knows which signals are positions, so each may be one.
 */
export async function catalogRules(reader: Reader, vin: string, hash: string): Promise<SignalRules | undefined> {
  const entries = await new SentCatalogs(reader, vin).named(hash, Number.MAX_SAFE_INTEGER - 1);
  return entries.size === 0
    ? undefined
    : signalRulesOf([...entries.values()].map((one) => ({ ...one, position: true })));
}

/** Returns the signals in the newest messages of a car, by name. */
export async function newestSignals(reader: Reader, vin: string): Promise<ReadonlyMap<string, SentSignal>> {
  const found = new Map<string, SentSignal>();
  const take = (definition: ShownDefinition, reading: ShownReading): void => {
    const known = found.get(definition.name)?.reading;
    if (known === undefined || known.at < reading.at) found.set(definition.name, { definition, reading });
  };
  const catalogs = new SentCatalogs(reader, vin);
  const yielder = new Yielder();
  for await (const { at, record } of newest(reader.recordKeys(vin, 'telemetry'))) {
    const telemetry = record as Telemetry;
    if (telemetry.signals !== undefined) {
      const entries = await catalogs.find(telemetry.signals.catalog, at);
      for (const entry of entries.values()) {
        if (!found.has(entry.name)) found.set(entry.name, { definition: entry });
      }
      for (const { slot, times, values } of seriesIn(telemetry)) {
        const entry = entries.get(slot);
        if (entry === undefined) continue;
        const last = times.reduce((latest, time, i) => (time >= (times[latest] as number) ? i : latest), 0);
        take(entry, { at: times[last] as number, value: valuesOf(entry)(values[last] as number) });
      }
    }
    await yielder.pause();
  }
  for await (const { record } of newest(reader.recordKeys(vin, 'text'))) {
    const { at, name, text } = record as SignalText;
    take({ name, kind: 'text' }, { at, value: text });
  }
  return found;
}

/** Returns the first `limit` readings of a signal with `from` ≤ at < `to` (UTC ms), in ascending order of time. */
export async function sentReadings(
  reader: Reader,
  vin: string,
  { name, from, to, limit }: { name: string; from: number; to: number; limit: number },
): Promise<SentReading[]> {
  const readings: SentReading[] = [];
  const add = (reading: SentReading): void => {
    if (reading.at >= from && reading.at < to) readings.push(reading);
  };
  const catalogs = new SentCatalogs(reader, vin);
  const yielder = new Yielder();
  for await (const { at, record } of reader.records(vin, 'telemetry', from - PIECE, to)) {
    // A piece has no readings from before its start, so this piece and the following ones only have later readings.
    if (readings.length >= limit && sorted(readings)[limit - 1]!.at < at) break;
    const telemetry = record as Telemetry;
    if (telemetry.signals !== undefined) {
      const entries = await catalogs.find(telemetry.signals.catalog, at);
      const own = seriesIn(telemetry).find(({ slot }) => entries.get(slot)?.name === name);
      if (own !== undefined) {
        const definition = entries.get(own.slot) as CatalogEntry;
        const value = valuesOf(definition);
        for (const [i, time] of own.times.entries()) {
          add({ at: time, value: value(own.values[i] as number), definition });
        }
      }
    }
    await yielder.pause();
  }
  let texts = 0;
  for await (const { record } of reader.records(vin, 'text', from, to)) {
    const { at, name: of, text } = record as SignalText;
    await yielder.pause();
    if (of !== name) continue;
    add({ at, value: text, definition: { name, kind: 'text' } });
    if (++texts === limit) break;
  }
  return sorted(readings).slice(0, limit);
}

/** Sorts by time: pieces overlap if readings were late. */
function sorted(readings: SentReading[]): SentReading[] {
  return readings.sort((a, b) => a.at - b.at);
}

/** Yields the newest records, in descending order. */
async function* newest(keys: HubKeyset<HubRecord>): AsyncGenerator<HubRecord, void> {
  yield* walk(keys, { before: { at: Number.MAX_SAFE_INTEGER, id: '' }, most: NEWEST });
}

/** Yields the records before a position, in descending order. */
async function* walk(
  keys: HubKeyset<HubRecord>,
  { before, most }: { before: HubPosition; most: number },
): AsyncGenerator<HubRecord, void> {
  for (let place = before, left = most; left > 0; left -= BATCH) {
    const records = await keys.read({ before: place }, Math.min(BATCH, left), true);
    yield* records;
    const last = records.at(-1);
    if (last === undefined || records.length < BATCH) return;
    place = last;
  }
}

function seriesIn(telemetry: Telemetry): ColumnSeries[] {
  try {
    return signalSeries(telemetry);
  } catch (cause) {
    throw new VigieError('internal', 'telemetry that is kept cannot be read', { cause });
  }
}

/** Catalogs of a car, read on demand. */
class SentCatalogs {
  readonly #keys: HubKeyset<HubRecord>;
  readonly #reader: Reader;
  readonly #vin: string;
  readonly #parts = new Map<string, Map<number, Catalog>>();
  readonly #entries = new Map<string, ReadonlyMap<number, CatalogEntry>>();

  constructor(reader: Reader, vin: string) {
    this.#reader = reader;
    this.#vin = vin;
    this.#keys = reader.recordKeys(vin, 'catalog');
  }

  /** Returns the received entries of a catalog by number. It may arrive after its telemetry if the broker is new. */
  find(catalog: Uint8Array, at: number): Promise<ReadonlyMap<number, CatalogEntry>> {
    return this.named(hexOf(catalog), at);
  }

  /** As {@link find}, by the hash in hexadecimal. */
  async named(hash: string, at: number): Promise<ReadonlyMap<number, CatalogEntry>> {
    const known = this.#entries.get(hash);
    if (known !== undefined) return known;
    if (!this.#isWhole(hash)) await this.#look(hash, at);
    const parts = [...(this.#parts.get(hash)?.values() ?? [])];
    const entries = new Map(parts.flatMap((part) => part.entries.map((entry) => [entry.number, entry] as const)));
    this.#entries.set(hash, entries);
    return entries;
  }

  async #look(hash: string, at: number): Promise<void> {
    for await (const { record } of walk(this.#keys, { before: { at: at + 1, id: '' }, most: PARTS })) {
      this.#take(record as Catalog);
      if (this.#isWhole(hash)) return;
    }
    let left = PARTS;
    for await (const { record } of this.#reader.records(this.#vin, 'catalog', at)) {
      this.#take(record as Catalog);
      if (this.#isWhole(hash) || --left === 0) return;
    }
  }

  #take(part: Catalog): void {
    const hash = hexOf(part.catalog);
    const parts = this.#parts.get(hash) ?? new Map<number, Catalog>();
    this.#parts.set(hash, parts.set(part.part, part));
  }

  #isWhole(hash: string): boolean {
    const parts = this.#parts.get(hash);
    const [first] = parts?.values() ?? [];
    return parts !== undefined && parts.size === first?.parts;
  }
}
