/**
 * Pages of collections that are not completely in memory: computes the same pages as {@link ./paging.ts} does for a
 * list, but from the positions of records, and reads only the records of the page.
 */
import type { Call } from './call.ts';
import {
  addressOf,
  indexes,
  type Page,
  type PageTokens,
  type RecordPosition,
  scopeOf,
  sizeOf,
  viewOf,
  writeView,
} from './paging.ts';
import type { KeyRange, Keyset, KeysSurvey } from './resources/car.ts';

const ORDER = 'ascending';

/** Returns the page that `call` requests with `pageSize`, `pageToken` and `indexRange`. Rejects like `page` throws. */
export async function pageByKey<T extends RecordPosition>(
  keys: Keyset<T>,
  call: Call,
  tokens: PageTokens,
): Promise<Page<T>> {
  const size = sizeOf(call);
  const scope = scopeOf(call, ORDER);
  const view = viewOf(call, tokens, scope);
  const { bounds, survey } = await surveyed(keys, call, { view, size });
  const first = addressOf(call, undefined);
  const self = `${call.base}${call.self}`;
  if (bounds === undefined) {
    return { items: [], total: 0, totalPage: 1, currentPage: 1, links: { self, first, last: first } };
  }
  const { total } = survey;
  const range: KeyRange = { from: bounds.first, to: bounds.last };
  const { items, next } =
    view?.begins === false
      ? { items: await before(keys, range, view.cursor, size), next: survey.next }
      : await from(keys, { ...range, from: view?.cursor ?? bounds.first }, size);
  const [begin] = items;
  const passed = view?.begins === false ? Math.max(0, survey.before - items.length) : survey.before;
  const place = begin === undefined ? total : passed;
  const link = (cursor: RecordPosition | undefined, begins: boolean): string =>
    cursor === undefined
      ? first
      : addressOf(call, tokens.sign(writeView({ first: bounds.first, last: bounds.last, cursor, begins }), scope));
  return {
    items,
    total,
    totalPage: Math.max(1, Math.ceil(total / size)),
    currentPage: Math.ceil(place / size) + 1,
    links: {
      self,
      first,
      // The last page begins after the last full one.
      last: link(survey.last[(total + size - 1) % size], true),
      ...(next === undefined ? {} : { next: link(next, true) }),
      ...(place > 0 && begin !== undefined ? { prev: link(begin, false) } : {}),
    },
  };
}

interface Bounds {
  readonly first: RecordPosition;
  readonly last: RecordPosition;
}

/** Returns the first and last record of the collection, or undefined if it contains none. */
async function surveyed<T extends RecordPosition>(
  keys: Keyset<T>,
  call: Call,
  { view, size }: { readonly view: ReturnType<typeof viewOf>; readonly size: number },
): Promise<{ readonly bounds: Bounds | undefined; readonly survey: KeysSurvey }> {
  if (view !== undefined) {
    const { first: from, last: to, cursor } = view;
    return { bounds: { first: from, last: to }, survey: await keys.survey({ range: { from, to }, size, cursor }) };
  }
  const survey = await keys.survey({ range: {}, size });
  const [low, high] = indexes(call.query['indexRange'], survey.total);
  const [last] = survey.last;
  if (low >= high || survey.first === undefined || last === undefined) return { bounds: undefined, survey };
  if (low === 0 && high === survey.total) return { bounds: { first: survey.first, last }, survey };
  const [from, to] = await Promise.all([keys.nth({}, low), keys.nth({}, survey.total - high, true)]);
  if (from === undefined || to === undefined) return { bounds: undefined, survey };
  return { bounds: { first: from, last: to }, survey: await keys.survey({ range: { from, to }, size }) };
}

interface Part<T> {
  readonly items: readonly T[];
  /** Position of the first record after the page. */
  readonly next: RecordPosition | undefined;
}

async function from<T extends RecordPosition>(keys: Keyset<T>, range: KeyRange, size: number): Promise<Part<T>> {
  const items = await keys.read(range, size + 1);
  return { items: items.slice(0, size), next: items[size] };
}

async function before<T extends RecordPosition>(
  keys: Keyset<T>,
  { from: first }: KeyRange,
  cursor: RecordPosition,
  size: number,
): Promise<readonly T[]> {
  const range: KeyRange = first === undefined ? { before: cursor } : { from: first, before: cursor };
  return (await keys.read(range, size, true)).toReversed();
}
