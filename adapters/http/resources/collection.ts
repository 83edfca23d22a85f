/** Collections: pages of what a resource has. */
import type { StoredRecord } from '../../../agent/ports.ts';
import type { Answer } from '../call.ts';
import { type Page, page, type RecordPosition } from '../paging.ts';
import { type Context, contextsOf, found, isAskedFor, periodsOf } from './context.ts';
import { Yielder } from './yield.ts';

/**
 * Interface 3.19.2 CollectionResult: the page that is asked for, under `name` in `_embedded`. `items` is all there is
 * after the filters, ascending by time, then by id.
 */
export function collection<T extends RecordPosition>(
  { call, tokens }: Context,
  name: string,
  items: readonly T[],
  represent: (item: T) => unknown,
): Answer {
  const shown = page(items, call, tokens);
  return pageOf(shown, name, shown.items.map(represent));
}

/** The same of long pages: others have their turn meanwhile. */
export async function longCollection<T extends RecordPosition>(
  { call, tokens }: Context,
  name: string,
  items: readonly T[],
  represent: (item: T) => unknown,
): Promise<Answer> {
  const shown = page(items, call, tokens);
  const yielder = new Yielder();
  const entries: unknown[] = [];
  for (const item of shown.items) {
    entries.push(represent(item));
    await yielder.pause();
  }
  return pageOf(shown, name, entries);
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
interface Kept<T> extends RecordPosition {
  readonly record: T;
  /** The request, about the vehicle that has the record. */
  readonly context: Context;
}

/**
 * Records of a collection that `timestamps` asks for. `begin` gives the moment that counts, which is never after the
 * moment that the record was made.
 */
export function recordsAskedFor<T extends { readonly createdAt: number }>(
  context: Context,
  name: string,
  begin: (record: T) => number = ({ createdAt }) => createdAt,
): Kept<T>[] {
  const from = periodsOf(context.call)?.[0]?.from;
  const contexts = contextsOf(context);
  const result: Kept<T>[] = [];
  for (const one of contexts) {
    for (const stored of one.car.records.list(name, from)) {
      const kept = keptOf<T>(stored, one, contexts.length > 1);
      if (isAskedFor(context, begin(kept.record))) result.push(kept);
    }
  }
  return contexts.length > 1 ? result.sort(byTimeAndId) : result;
}

/** For collections of several vehicles: {@link collection} wants its items so. */
export function byTimeAndId(a: RecordPosition, b: RecordPosition): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** A record by its id; undefined: there is none. */
export function recordOf<T>({ car }: Context, name: string, id: string): T | undefined {
  return car.records.get(name, id)?.record as T | undefined;
}

/** The same of whatever vehicle has it, with the request about that vehicle. */
export function findRecord<T>(
  context: Context,
  name: string,
  id: string,
): Pick<Kept<T>, 'record' | 'context'> | undefined {
  for (const one of contextsOf(context)) {
    const record = recordOf<T>(one, name, id);
    if (record !== undefined) return { record, context: one };
  }
  return undefined;
}

/** Ids are those of one vehicle: where several are listed, its own id makes them distinct. */
function keptOf<T>({ at, id, record }: StoredRecord, context: Context, several: boolean): Kept<T> {
  return { at, id: several ? `${id} ${context.car.vehicle.id}` : id, record: record as T, context };
}
