/** Collections: pages of what a resource has. */
import { defined } from '../../../protocol/defined.ts';
import type { Scope } from '../../../protocol/interface/operations/scopes.ts';
import { factsOf, matches, type RecordFilter } from '../../../protocol/interface/record-filter.ts';
import type { Answer } from '../call.ts';
import { type Page, page, type RecordPosition } from '../paging.ts';
import type { Awaitable, Keyset, ListedVehicle, VehicleOutline } from './car.ts';
import { type Context, contextIn, found, namesVehicle, periodsOf } from './context.ts';
import { Yielder } from './yield.ts';

/**
 * Interface 3.19.2 CollectionResult: the page that is asked for, under `name` in `_embedded`. `items` is all there is
 * after the filters, ascending by time, then by id. Other requests have their turn while a long page is written.
 */
export async function collection<T extends RecordPosition>(
  { call, tokens }: Context,
  name: string,
  items: readonly T[],
  represent: (item: T) => Awaitable<unknown>,
): Promise<Answer> {
  const shown = page(items, call, tokens);
  const yielder = new Yielder();
  const entries: unknown[] = [];
  for (const item of shown.items) {
    entries.push(await represent(item));
    await yielder.pause();
  }
  return pageOf(shown, name, entries);
}

/** The same of a collection that is read part by part. */
export async function collectionByKey<T extends RecordPosition>(
  { call, tokens }: Context,
  name: string,
  keys: Keyset<T>,
  represent: (item: T) => Awaitable<unknown>,
): Promise<Answer> {
  // A car has its records at hand and does not load this.
  const { pageByKey } = await import('../key-paging.ts');
  const shown = await pageByKey(keys, call, tokens);
  const entries: unknown[] = [];
  for (const item of shown.items) entries.push(await represent(item));
  return pageOf(shown, name, entries);
}

/** Vehicles that the caller may see, with a VIN that begins with `prefix`. */
export function collectionOfVehicles(
  context: Context,
  name: string,
  represent: (own: Context) => Awaitable<unknown>,
  prefix = '',
): Promise<Answer> {
  const { vehicles } = context.served;
  const write = async ({ outline }: ListedVehicle): Promise<unknown> => represent(await contextIn(context, outline));
  if (typeof vehicles === 'function') return collectionByKey(context, name, vehicles(prefix), write);
  const listed = vehicles.filter(({ outline }) => outline.vehicle.vin.startsWith(prefix));
  return collection(context, name, listed, write);
}

/** How a list of records is read and written. */
interface RecordList<T> {
  /** The collection, which has the name of the kind of its messages. */
  readonly collection: string;
  /** Its name in the answer. */
  readonly name: string;
  /** Value that the caller must be allowed to see. Otherwise the collection is empty. */
  readonly scope?: Scope;
  /** Filters in addition to `timestamps`. */
  readonly filter?: RecordFilter;
  /** Present form of a record. If omitted, the stored form. */
  present?(record: T): T;
  /** `own`: the request, about the vehicle that has the record. */
  represent(record: T, own: Context): Awaitable<unknown>;
}

/** Records that the request asks for, of the vehicle that it names or of all. */
export async function collectionOfRecords<T>(context: Context, list: RecordList<T>): Promise<Answer> {
  const { call, car, served } = context;
  const { name, scope, present = (record: T): T => record } = list;
  if (scope !== undefined && !context.sees(scope)) return collection(context, name, [], () => undefined);
  const periods = periodsOf(call);
  const filter = { ...list.filter, ...defined({ periods }) };
  const represent = async (kept: Kept<T>): Promise<unknown> =>
    list.represent(present(kept.record), await contextOfKept(context, kept));
  const source = namesVehicle(call) ? car.records : served.records;
  const keys = 'keys' in source ? source.keys?.(list.collection, filter) : undefined;
  if (keys !== undefined) return collectionByKey(context, name, keys as Keyset<Kept<T>>, represent);
  const items: Kept<T>[] = [];
  for await (const kept of wholeOf<T>(context, list.collection, filter)) {
    if (matches(factsOf(list.collection, present(kept.record)), filter)) items.push(kept);
  }
  return collection(context, name, items.sort(byTimeAndId), represent);
}

function pageOf({ links, total, totalPage, currentPage }: Page<unknown>, name: string, entries: unknown[]): Answer {
  return found({
    _links: Object.fromEntries(Object.entries(links).map(([relation, href]) => [relation, { href }])),
    total,
    totalPage,
    currentPage,
    _embedded: { [name]: entries },
  });
}

/** A record with its place in its collection. */
export interface Kept<T> extends RecordPosition {
  readonly record: T;
  /** The vehicle that has the record; absent: the one that the request names. */
  readonly outline?: VehicleOutline;
}

/** The request, about the vehicle that has the record. */
export async function contextOfKept(context: Context, { outline }: Pick<Kept<unknown>, 'outline'>): Promise<Context> {
  return outline === undefined ? context : contextIn(context, outline);
}

/** Kinds of records that count from a moment before they were made. */
const madeLater: ReadonlySet<string> = new Set(['trip', 'alert', 'stolen']);

/** All records that may match, and perhaps others. */
async function* wholeOf<T>(
  { call, car, served }: Context,
  name: string,
  { periods }: RecordFilter,
): AsyncGenerator<Kept<T>, void> {
  const from = periods?.[0]?.from;
  if (namesVehicle(call)) {
    yield* car.records.list(name, from, madeLater.has(name) ? undefined : latestOf(periods)) as Iterable<Kept<T>>;
    return;
  }
  const { whole } = served.records;
  if (whole === undefined) return;
  // Ids are those of one vehicle: its own id makes them distinct.
  for await (const stored of whole(name, from)) {
    yield { ...(stored as Kept<T>), id: `${stored.id} ${stored.outline.vehicle.id}` };
  }
}

/** When the last of the periods ends, with the moment itself; undefined: one of them does not end. */
function latestOf(periods: RecordFilter['periods']): number | undefined {
  const ends = periods?.map(({ to = Number.POSITIVE_INFINITY }) => to) ?? [];
  const latest = Math.max(...ends);
  return Number.isFinite(latest) ? latest + 1 : undefined;
}

/** For collections of several vehicles: {@link collection} wants its items so. */
export function byTimeAndId(a: RecordPosition, b: RecordPosition): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** A record by its id, or undefined. */
export async function recordOf<T>({ car }: Context, name: string, id: string): Promise<T | undefined> {
  return (await car.records.get(name, id))?.record as T | undefined;
}

/** The same of whatever vehicle has it, with the request about that vehicle. */
export async function findRecord<T>(
  context: Context,
  name: string,
  id: string,
): Promise<{ readonly record: T; readonly context: Context } | undefined> {
  const { call, car, served } = context;
  const kept: { readonly record: unknown; readonly outline?: VehicleOutline } | undefined = namesVehicle(call)
    ? await car.records.get(name, id)
    : await served.record(name, id);
  return kept && { record: kept.record as T, context: await contextOfKept(context, kept) };
}
