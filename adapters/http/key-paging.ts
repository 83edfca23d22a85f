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
import type { KeyRange, Keyset } from './resources/car.ts';

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
  const bounds = view ?? (await boundsOf(keys, call));
  const first = addressOf(call, undefined);
  const self = `${call.base}${call.self}`;
  if (bounds === undefined) {
    return { items: [], total: 0, totalPage: 1, currentPage: 1, links: { self, first, last: first } };
  }
  const whole: KeyRange = { from: bounds.first, to: bounds.last };
  const total = await keys.count(whole);
  const { items, next } =
    view?.begins === false
      ? await before(keys, whole, view.cursor, size)
      : await from(keys, { ...whole, from: view?.cursor ?? bounds.first }, size);
  const [begin] = items;
  const place = begin === undefined ? total : await keys.count({ from: bounds.first, before: begin });
  const lastPlace = Math.max(0, Math.ceil(total / size) - 1) * size;
  const lastBegin = await keys.nth(whole, Math.max(0, total - lastPlace - 1), true);
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
      last: link(lastBegin, true),
      ...(next === undefined ? {} : { next: link(next, true) }),
      ...(place > 0 && begin !== undefined ? { prev: link(begin, false) } : {}),
    },
  };
}

/** Returns the first and last record in `indexRange`, or undefined if it contains none. */
async function boundsOf<T extends RecordPosition>(
  keys: Keyset<T>,
  call: Call,
): Promise<{ readonly first: RecordPosition; readonly last: RecordPosition } | undefined> {
  const total = await keys.count({});
  const [low, high] = indexes(call.query['indexRange'], total);
  if (low >= high) return undefined;
  const first = await keys.nth({}, low);
  const last = await keys.nth({}, total - high, true);
  return first === undefined || last === undefined ? undefined : { first, last };
}

interface Part<T> {
  readonly items: readonly T[];
  /** Position of the first record after the page. */
  readonly next: RecordPosition | undefined;
}

async function from<T extends RecordPosition>(keys: Keyset<T>, range: KeyRange, size: number): Promise<Part<T>> {
  const items = await keys.read(range, size);
  const last = items.at(-1);
  const next = last === undefined || items.length < size ? undefined : await keys.nth({ ...range, from: last }, 1);
  return { items, next };
}

async function before<T extends RecordPosition>(
  keys: Keyset<T>,
  { from: first, to }: KeyRange,
  cursor: RecordPosition,
  size: number,
): Promise<Part<T>> {
  const range: KeyRange = first === undefined ? { before: cursor } : { from: first, before: cursor };
  const items = (await keys.read(range, size, true)).toReversed();
  return { items, next: await keys.nth(to === undefined ? { from: cursor } : { from: cursor, to }, 0) };
}
