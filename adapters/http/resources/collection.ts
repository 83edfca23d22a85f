/** Collections: pages of what a resource has. */
import type { Answer } from '../call.ts';
import { type Page, page, type RecordPosition } from '../paging.ts';
import type { Awaitable, Keyset, ListedVehicle, VehicleOutline } from './car.ts';
import { type Context, contextIn, found, isAskedFor, namesVehicle, periodsOf } from './context.ts';
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

/** The vehicles that the caller may see, those whose VIN begins with `prefix`. */
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

/**
 * Records of the vehicle that the request names, of all time: what a page shows of them is read part by part. Undefined
 * where they are read whole.
 */
export function keysOf<T>(context: Context, name: string): Keyset<Kept<T>> | undefined {
  const { call, car } = context;
  if (!namesVehicle(call) || periodsOf(call) !== undefined) return undefined;
  return car.records.keys?.(name) as Keyset<Kept<T>> | undefined;
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

/**
 * Records of a collection that `timestamps` asks for. `begin` gives the moment that counts, which is never after the
 * moment that the record was made.
 */
export async function recordsAskedFor<T extends { readonly createdAt: number }>(
  context: Context,
  name: string,
  begin: (record: T) => number = madeAt,
): Promise<Kept<T>[]> {
  const { call, car, served } = context;
  const periods = periodsOf(call);
  const from = periods?.[0]?.from;
  const to = begin === madeAt ? latestOf(periods) : undefined;
  const result: Kept<T>[] = [];
  const take = (kept: Kept<T>): void => {
    if (isAskedFor(context, begin(kept.record))) result.push(kept);
  };
  if (namesVehicle(call)) {
    for await (const stored of car.records.list(name, from, to)) take(stored as Kept<T>);
    return result;
  }
  // Ids are those of one vehicle: its own id makes them distinct.
  for await (const stored of served.records(name, from)) {
    take({ ...(stored as Kept<T>), id: `${stored.id} ${stored.outline.vehicle.id}` });
  }
  return result.sort(byTimeAndId);
}

function madeAt({ createdAt }: { readonly createdAt: number }): number {
  return createdAt;
}

/** When the last of the periods ends, with the moment itself; undefined: one of them does not end. */
function latestOf(periods: ReturnType<typeof periodsOf>): number | undefined {
  const ends = periods?.map(({ to = Number.POSITIVE_INFINITY }) => to) ?? [];
  const latest = Math.max(...ends);
  return Number.isFinite(latest) ? latest + 1 : undefined;
}

/** For collections of several vehicles: {@link collection} wants its items so. */
export function byTimeAndId(a: RecordPosition, b: RecordPosition): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** A record by its id; undefined: there is none. */
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
