/** Collections: pages of the entries of a resource. */
import { defined } from '../../../protocol/defined.ts';
import type { Scope } from '../../../protocol/interface/operations/scopes.ts';
import { factsOf, matches, type RecordFilter } from '../../../protocol/interface/record-filter.ts';
import type { Answer } from '../call.ts';
import { type Page, page, type RecordPosition } from '../paging.ts';
import type { Awaitable, Keyset, ListedVehicle, VehicleOutline, VehicleView } from './car.ts';
import { type Context, contextIn, found, namesVehicle, periodsOf } from './context.ts';
import { Yielder } from './yield.ts';

/** Number of entries that are written together, so that a hub reads what they need with few statements. */
const TOGETHER = 200;

/**
 * Returns the requested page as CollectionResult (interface 3.19.2), with the entries under `name` in `_embedded`.
 * `items` contains all entries after the filters, ordered by time, then by id. Yields to other requests while it writes
 * a long page. `prepare` is called first, with the entries of the page.
 */
export async function collection<T extends RecordPosition>(
  { call, tokens }: Context,
  name: string,
  items: readonly T[],
  represent: (item: T) => Awaitable<unknown>,
  prepare?: (items: readonly T[]) => Promise<void>,
): Promise<Answer> {
  const shown = page(items, call, tokens);
  await prepare?.(shown.items);
  const yielder = new Yielder();
  const entries: unknown[] = [];
  for (const item of shown.items) {
    entries.push(await represent(item));
    await yielder.pause();
  }
  return pageOf(shown, name, entries);
}

/** Like {@link collection}, for a collection that is read in parts. */
export async function collectionByKey<T extends RecordPosition>(
  { call, tokens }: Context,
  name: string,
  keys: Keyset<T>,
  represent: (item: T) => Promise<unknown>,
): Promise<Answer> {
  // A car has its records in memory and does not load this module.
  const { pageByKey } = await import('../key-paging.ts');
  const shown = await pageByKey(keys, call, tokens);
  const entries: unknown[] = [];
  for (let begin = 0; begin < shown.items.length; begin += TOGETHER) {
    entries.push(...(await Promise.all(shown.items.slice(begin, begin + TOGETHER).map(represent))));
  }
  return pageOf(shown, name, entries);
}

/** Returns the vehicles that the caller may see and whose VIN begins with `prefix`. */
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

/** How to select and write the records of a list. */
interface RecordList<T> {
  /** Name of the collection; it equals the kind of its messages. */
  readonly collection: string;
  /** Name of the list in the response. */
  readonly name: string;
  /** Scope that the caller needs; without it, the list is empty. */
  readonly scope?: Scope;
  /** Filters in addition to `timestamps`. */
  readonly filter?: RecordFilter;
  /** Returns the current form of a record of `car`. If omitted, the stored form is used. */
  present?(record: T, car: VehicleView): T;
  /** Returns the record as JSON. @param own the request, restricted to the vehicle of the record */
  represent(record: T, own: Context): Awaitable<unknown>;
}

/** Returns the requested records, of the vehicle in the path or of all vehicles. */
export async function collectionOfRecords<T>(context: Context, list: RecordList<T>): Promise<Answer> {
  const { call, car, served } = context;
  const { name, scope, present = (record: T): T => record } = list;
  if (scope !== undefined && !context.sees(scope)) return collection(context, name, [], () => undefined);
  const periods = periodsOf(call);
  const filter = { ...list.filter, ...defined({ periods }) };
  const represent = async (kept: Kept<T>): Promise<unknown> => {
    const own = await contextOfKept(context, kept);
    return list.represent(present(kept.record, own.car), own);
  };
  const source = namesVehicle(call) ? car.records : served.records;
  const keys = 'keys' in source ? source.keys?.(list.collection, filter) : undefined;
  if (keys !== undefined) return collectionByKey(context, name, keys as Keyset<Kept<T>>, represent);
  const items: Kept<T>[] = [];
  for await (const kept of wholeOf<T>(context, list.collection, filter)) {
    if (matches(factsOf(list.collection, present(kept.record, car)), filter)) items.push(kept);
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

/** A record with its position in its collection. */
export interface Kept<T> extends RecordPosition {
  readonly record: T;
  /** Vehicle of the record. If omitted, it is the vehicle of the request. */
  readonly outline?: VehicleOutline;
}

/** Returns the request, restricted to the vehicle of the record. */
export async function contextOfKept(context: Context, { outline }: Pick<Kept<unknown>, 'outline'>): Promise<Context> {
  return outline === undefined ? context : contextIn(context, outline);
}

/** Kinds of records whose time is earlier than their creation. */
const madeLater: ReadonlySet<string> = new Set(['trip', 'alert', 'stolen']);

/** Returns all records that may match, and possibly others. */
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
  // Ids are unique only within a vehicle: append the vehicle's id.
  for await (const stored of whole(name, from)) {
    yield { ...(stored as Kept<T>), id: `${stored.id} ${stored.outline.vehicle.id}` };
  }
}

/** Returns the time in UTC ms just after the last period, or undefined if a period has no end. */
function latestOf(periods: RecordFilter['periods']): number | undefined {
  const ends = periods?.map(({ to = Number.POSITIVE_INFINITY }) => to) ?? [];
  const latest = Math.max(...ends);
  return Number.isFinite(latest) ? latest + 1 : undefined;
}

/** Compares records in the order that {@link collection} expects. */
export function byTimeAndId(a: RecordPosition, b: RecordPosition): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Returns a record by its id, or undefined. */
export async function recordOf<T>({ car }: Context, name: string, id: string): Promise<T | undefined> {
  return (await car.records.get(name, id))?.record as T | undefined;
}

/** Like {@link recordOf}, for any vehicle, with the request restricted to that vehicle. */
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
