/**
 * Pages of collections. A walk from page to page keeps its place while records arrive and go: a page token names the
 * first and the last record of the collection as the walk began, and where the page begins, by time and id instead of
 * by index. Tokens are signed, and good for one caller and one collection with one set of filters only.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { VigieError } from '../../protocol/errors.ts';
import type { Call } from './call.ts';

/** Where a record stands in its collection: by time, then by id. A StoredRecord is one. */
export interface RecordPosition {
  /** UTC ms. */
  readonly at: number;
  readonly id: string;
}

/** One page, as CollectionResult has it (interface 3.19.2 and 4.17.2). */
export interface Page<T> {
  readonly items: readonly T[];
  /** Records of the collection: those within `indexRange` that were there when the walk began and still are. */
  readonly total: number;
  /** At least 1: an empty collection has one empty page. */
  readonly totalPage: number;
  /** From 1. */
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

/** Entries of a page when the operation declares no default of `pageSize` (interface 3.19.2: 60). */
const PAGE_SIZE = 60;
/** Bytes of a signature; a token grants nothing, so half of SHA-256 will do. */
const SIGNATURE = 16;
/** A token contains two or three ids and times. A longer text is not a token of ours. */
const LONGEST_TOKEN = 4096;

/** Signs page tokens. The key has to outlive restarts, or walks under way end with a refusal. */
export class PageTokens {
  readonly #key: Uint8Array;

  /** `key`: secret, at least 32 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** A token for `contents` that is good within `scope` only. */
  sign(contents: string, scope: string): string {
    return `${Buffer.from(contents).toString('base64url')}.${this.#signature(contents, scope).toString('base64url')}`;
  }

  /** Signed content, or undefined if the token does not belong to this key and scope. */
  read(token: string, scope: string): string | undefined {
    const [first = '', second = '', ...rest] = token.split('.');
    if (rest.length > 0 || token.length > LONGEST_TOKEN) return undefined;
    const contents = Buffer.from(first, 'base64url').toString();
    const given = Buffer.from(second, 'base64url');
    const expected = this.#signature(contents, scope);
    return given.length === expected.length && timingSafeEqual(given, expected) ? contents : undefined;
  }

  #signature(contents: string, scope: string): Buffer {
    const hash = createHmac('sha256', this.#key).update(`${scope.length}:${scope}${contents}`).digest();
    return hash.subarray(0, SIGNATURE);
  }
}

/** A page by its bounds. The records at `first`, `last` and `cursor` may be gone by the time of the request. */
interface View {
  readonly first: RecordPosition;
  readonly last: RecordPosition;
  readonly cursor: RecordPosition;
  /** The page begins at the cursor, or ends before it. */
  readonly begins: boolean;
}

/**
 * The page that `call` asks for with `pageSize`, `pageToken` and `indexRange`.
 *
 * `items` is the whole collection after the filters of the query, sorted by time and then by id; `order` says which
 * way. Throws `input.malformed` for a token that is not of this caller, collection and filters, and for an
 * `indexRange` whose end is before its beginning.
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

/** Entries of a page. */
export function sizeOf({ query }: Call): number {
  return typeof query['pageSize'] === 'number' ? query['pageSize'] : PAGE_SIZE;
}

/** Content of the token of a call. @throws VigieError `input.malformed` for a token of another call */
export function viewOf({ query }: Call, tokens: PageTokens, scope: string): View | undefined {
  const token = query['pageToken'];
  return typeof token === 'string' ? readView(tokens.read(token, scope)) : undefined;
}

function inTime(a: RecordPosition, b: RecordPosition): number {
  if (a.at !== b.at) return a.at - b.at;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

type Compare = (a: RecordPosition, b: RecordPosition) => number;

/** Index of the first item that does not stand before `place`. */
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

/** The part of the list that the walk is about. */
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

/** The part of the list that `indexRange` names; both of its ends belong to it. */
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
  // It is signed, so it is what writeView wrote.
  const [a, b, c, d, e, f, begins] = JSON.parse(contents) as [number, string, number, string, number, string, number];
  return { first: { at: a, id: b }, last: { at: c, id: d }, cursor: { at: e, id: f }, begins: begins === 1 };
}

/** Parameters that do not choose which collection it is. */
const paging: ReadonlySet<string> = new Set(['pageToken', 'pageSize']);

function queryOf(call: Call): URLSearchParams {
  const question = call.self.indexOf('?');
  return new URLSearchParams(question === -1 ? '' : call.self.slice(question + 1));
}

/** Caller, collection, filters and order: what a token is good for. */
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
