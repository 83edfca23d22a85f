/**
 * Pages of collections. A client can go from page to page while records are added and removed: a page token contains
 * the first and last record of the collection at the first request, and the start of the page, each by time and id
 * rather than by index. Tokens are signed, and valid for only one caller, one collection and one set of filters.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { VigieError } from '../../protocol/errors.ts';
import type { Call } from './call.ts';

/** Position of a record in its collection: by time, then by id. A StoredRecord is one. */
export interface RecordPosition {
  /** Time of the record in UTC ms. */
  readonly at: number;
  readonly id: string;
}

/** One page, in the form of CollectionResult (interface 3.19.2 and 4.17.2). */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number of records within `indexRange` that existed at the first request and still exist. */
  readonly total: number;
  /** Number of pages, at least 1: an empty collection has one empty page. */
  readonly totalPage: number;
  /** Number of this page, from 1. */
  readonly currentPage: number;
  /** Addresses. `first` starts again and so includes new records. `next` and `prev` are absent at the ends. */
  readonly links: {
    readonly self: string;
    readonly first: string;
    readonly last: string;
    readonly next?: string;
    readonly prev?: string;
  };
}

/** Entries per page if the operation declares no default for `pageSize` (interface 3.19.2: 60). */
const PAGE_SIZE = 60;
/** Length of a signature in bytes. A token grants no access, so half of SHA-256 is enough. */
const SIGNATURE = 16;
/** Maximum length of a token in characters: it contains two or three ids and times. Longer strings are not tokens. */
const LONGEST_TOKEN = 4096;

/** Secrets for page tokens. The first one signs; tokens signed with any of them are accepted. */
export type PageKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Signs page tokens. The key must survive restarts; otherwise tokens in use become invalid. */
export class PageTokens {
  readonly #keys: () => PageKeys;

  /** @param key a secret of at least 32 bytes, or a function that returns such secrets */
  constructor(key: Uint8Array | (() => PageKeys)) {
    this.#keys = typeof key === 'function' ? key : () => [key];
  }

  /** Returns a token for `contents` that is valid only within `scope`. */
  sign(contents: string, scope: string): string {
    const [key] = this.#keys();
    return `${Buffer.from(contents).toString('base64url')}.${signature(key, contents, scope).toString('base64url')}`;
  }

  /** Returns the signed content, or undefined if none of the keys has signed the token for this scope. */
  read(token: string, scope: string): string | undefined {
    const [first = '', second = '', ...rest] = token.split('.');
    if (rest.length > 0 || token.length > LONGEST_TOKEN) return undefined;
    const contents = Buffer.from(first, 'base64url').toString();
    const given = Buffer.from(second, 'base64url');
    if (given.length !== SIGNATURE) return undefined;
    return this.#keys().some((key) => timingSafeEqual(given, signature(key, contents, scope))) ? contents : undefined;
  }
}

function signature(key: Uint8Array, contents: string, scope: string): Buffer {
  const hash = createHmac('sha256', key).update(`${scope.length}:${scope}${contents}`).digest();
  return hash.subarray(0, SIGNATURE);
}

/** Bounds of a page. The records at `first`, `last` and `cursor` may have been removed since the first request. */
interface View {
  readonly first: RecordPosition;
  readonly last: RecordPosition;
  readonly cursor: RecordPosition;
  /** True if the page begins at the cursor; false if it ends before the cursor. */
  readonly begins: boolean;
}

/**
 * Returns the page that `call` requests with `pageSize`, `pageToken` and `indexRange`.
 *
 * `items` is the whole collection after the filters of the query, sorted by time and then by id, in the direction of
 * `order`. Throws `input.malformed` for a token of another caller, collection or filter set, and for an `indexRange`
 * that ends before it starts.
 */
export function page<T extends RecordPosition>(
  items: readonly T[],
  call: Call,
  tokens: PageTokens,
  order: 'ascending' | 'descending' = 'ascending',
): Page<T> {
  const compare = order === 'ascending' ? inTime : (a: RecordPosition, b: RecordPosition) => inTime(b, a);
  const size = sizeOf(call);
  const scope = scopeOf(call, order);
  const view = viewOf(call, tokens, scope);
  const [low, high] =
    view === undefined ? indexes(call.query['indexRange'], items.length) : bounds(items, view, compare);
  const total = high - low;
  const start = view === undefined ? low : Math.max(low, startOf(items, view, size, compare));
  const end = Math.min(high, view === undefined || view.begins ? start + size : cut(items, view.cursor, compare));

  const first = view?.first ?? items[low];
  const last = view?.last ?? items[high - 1];
  const link = (cursor: T | undefined, begins: boolean): string => {
    if (cursor === undefined || first === undefined || last === undefined) return addressOf(call, undefined);
    return addressOf(call, tokens.sign(writeView({ first, last, cursor, begins }), scope));
  };
  const lastStart = low + Math.max(0, Math.ceil(total / size) - 1) * size;
  return {
    items: items.slice(start, end),
    total,
    totalPage: Math.max(1, Math.ceil(total / size)),
    currentPage: Math.ceil((start - low) / size) + 1,
    links: {
      self: `${call.base}${call.self}`,
      first: addressOf(call, undefined),
      last: link(items[lastStart], true),
      ...(end < high ? { next: link(items[end], true) } : {}),
      ...(start > low ? { prev: link(items[start], false) } : {}),
    },
  };
}

/** Returns the number of entries per page. */
export function sizeOf({ query }: Call): number {
  return typeof query['pageSize'] === 'number' ? query['pageSize'] : PAGE_SIZE;
}

/** Returns the content of the call's page token. @throws VigieError `input.malformed` for a token of another call */
export function viewOf({ query }: Call, tokens: PageTokens, scope: string): View | undefined {
  const token = query['pageToken'];
  return typeof token === 'string' ? readView(tokens.read(token, scope)) : undefined;
}

function inTime(a: RecordPosition, b: RecordPosition): number {
  if (a.at !== b.at) return a.at - b.at;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

type Compare = (a: RecordPosition, b: RecordPosition) => number;

/** Returns the index of the first item that is not before `place`. */
function cut(items: readonly RecordPosition[], place: RecordPosition, compare: Compare): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(items[middle] as RecordPosition, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the indexes of the part of the list that is within the collection as it was at the first request. */
function bounds(
  items: readonly RecordPosition[],
  { first, last }: View,
  compare: Compare,
): [low: number, high: number] {
  const low = cut(items, first, compare);
  const end = cut(items, last, compare);
  const found = items[end];
  return [low, Math.max(low, found !== undefined && compare(found, last) === 0 ? end + 1 : end)];
}

function startOf(items: readonly RecordPosition[], view: View, size: number, compare: Compare): number {
  const at = cut(items, view.cursor, compare);
  return view.begins ? at : at - size;
}

/** Returns the index range that `indexRange` requests; it includes both ends. */
export function indexes(range: unknown, length: number): [low: number, high: number] {
  if (typeof range !== 'object' || range === null || !('min' in range) || typeof range.min !== 'number') {
    return [0, length];
  }
  const low = Math.min(range.min, length);
  const high = 'max' in range && typeof range.max === 'number' ? Math.min(range.max + 1, length) : length;
  return [low, Math.max(low, high)];
}

export function writeView({ first, last, cursor, begins }: View): string {
  return JSON.stringify([first, last, cursor].flatMap(({ at, id }) => [at, id]).concat(begins ? 1 : 0));
}

function readView(contents: string | undefined): View {
  if (contents === undefined) {
    throw new VigieError(
      'input.malformed',
      'pageToken: must be from a link of an answer to the same request (same caller, address and filters)',
    );
  }
  // The signature is valid, so the content has the form that writeView writes.
  const [a, b, c, d, e, f, begins] = JSON.parse(contents) as [number, string, number, string, number, string, number];
  return { first: { at: a, id: b }, last: { at: c, id: d }, cursor: { at: e, id: f }, begins: begins === 1 };
}

/** Query parameters that do not change which records the collection contains. */
const paging: ReadonlySet<string> = new Set(['pageToken', 'pageSize']);

function queryOf(call: Call): URLSearchParams {
  const question = call.self.indexOf('?');
  return new URLSearchParams(question === -1 ? '' : call.self.slice(question + 1));
}

/** Returns the scope in which a token is valid: caller, collection, filters and order. */
export function scopeOf(call: Call, order: string): string {
  const declared = new Set(call.operation.parameters.flatMap((p) => (p.in === 'query' ? [p.name] : [])));
  const filters = [...queryOf(call)].filter(([name]) => declared.has(name) && !paging.has(name));
  return JSON.stringify([call.caller.name, call.operation.id, Object.entries(call.path).sort(), filters.sort(), order]);
}

export function addressOf(call: Call, token: string | undefined): string {
  const query = queryOf(call);
  query.delete('pageToken');
  if (token !== undefined) query.set('pageToken', token);
  const text = query.toString();
  const path = call.self.split('?', 1)[0];
  return `${call.base}${path}${text === '' ? '' : `?${text}`}`;
}
