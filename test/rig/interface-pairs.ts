/**
 * Asks two servers of the interface for the same, wherever links of their answers lead, and reports how their answers
 * differ. Links are followed in pairs: those at the same place of both answers.
 */
import type { Operation, Side } from '../../protocol/interface/operation.ts';
import { bases } from '../../protocol/interface/operation.ts';
import { idsAt } from './interface-links.ts';

export interface Difference {
  readonly operation: string;
  /** Query of the request, or empty. */
  readonly query: string;
  /** Members that lead to the value, e.g. `_embedded.trips.0.distance`, `status` or `header etag`. */
  readonly place: string;
  readonly one: unknown;
  readonly other: unknown;
}

export interface PairsOptions {
  /** URLs of both servers. */
  readonly servers: readonly [one: string, other: string];
  readonly side: Side;
  readonly start: string;
  /** Ids for templates of links, by name: those of both servers. */
  readonly ids: Readonly<Record<string, readonly [string, string]>>;
  /** Queries in addition to those of links, by the id of the operation. */
  readonly queries: (operation: Operation) => readonly string[];
  /** Addresses of one operation at most. */
  readonly most: number;
}

/** What is left of UUIDs after those of known things: the id of the request, in refusals. */
const uuids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

type Pair = readonly [one: string, other: string];
type Json = unknown;

/** Headers with the same value; of the others only the presence counts. */
const equalHeaders = ['content-type', 'cache-control', 'deprecation', 'link', 'retry-after'];
const presentHeaders = ['etag', 'x-request-id', 'x-ratelimit-limit-1', 'x-ratelimit-remaining-2'];

export class InterfacePairs {
  readonly differences: Difference[] = [];
  /** Statuses of both servers, by operation. */
  readonly statuses = new Map<string, Set<string>>();
  readonly #options: PairsOptions;
  readonly #open: Pair[] = [];
  readonly #seen = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(options: PairsOptions) {
    this.#options = options;
  }

  async walk(): Promise<this> {
    const { servers, side, start } = this.#options;
    this.#open.push([`${servers[0]}${bases[side]}${start}`, `${servers[1]}${bases[side]}${start}`]);
    for (let pair = this.#open.shift(); pair !== undefined; pair = this.#open.shift()) await this.#visit(pair);
    return this;
  }

  async #visit(pair: Pair): Promise<void> {
    const { side, most, queries } = this.#options;
    if (this.#seen.has(pair[0])) return;
    this.#seen.add(pair[0]);
    const operation = idsAt(side, pair[0])?.operation;
    if (operation === undefined) throw new Error(`a link leads to ${pair[0]}, which no operation reads`);
    const count = this.#counts.get(operation.id) ?? 0;
    if (count >= most) return;
    this.#counts.set(operation.id, count + 1);
    const isPlain = !pair[0].includes('?');
    for (const query of ['', ...(isPlain && count === 0 ? queries(operation) : [])]) {
      await this.#compare(operation, pair, query);
    }
  }

  async #compare(operation: Operation, [one, other]: Pair, query: string): Promise<void> {
    const [first, second] = await Promise.all([fetch(`${one}${query}`), fetch(`${other}${query}`)]);
    const statuses = this.statuses.get(operation.id) ?? new Set<string>();
    this.statuses.set(operation.id, statuses.add(`${first.status} ${second.status}`));
    const written = query === '' ? new URL(one).search.replace(/pageToken=[^&]*/, 'pageToken') : query;
    const found = (place: string, a: unknown, b: unknown): void => {
      this.differences.push({ operation: operation.id, query: written, place, one: a, other: b });
    };
    if (first.status !== second.status) found('status', first.status, second.status);
    for (const name of equalHeaders) {
      const [a, b] = [first.headers.get(name), second.headers.get(name)];
      if (a !== b) found(`header ${name}`, a, b);
    }
    for (const name of presentHeaders) {
      const [a, b] = [first.headers.has(name), second.headers.has(name)];
      if (a !== b) found(`header ${name}`, a, b);
    }
    const bodies = [parsed(await first.text()), parsed(await second.text())] as const;
    differencesOf(this.#plain(bodies[0], 0), this.#plain(bodies[1], 1), '', found);
    this.#open.push(...this.#links(bodies[0], bodies[1]));
  }

  /** The answer without the address of its server, names of pages, and ids that each server made itself. */
  #plain(value: Json, server: 0 | 1): Json {
    if (Array.isArray(value)) return value.map((one) => this.#plain(one, server));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#plain(one, server)]));
    }
    if (typeof value !== 'string') return value;
    const { servers, ids } = this.#options;
    let text = value.replaceAll(servers[server], '').replace(/pageToken=[^&]*/, 'pageToken');
    for (const [name, pair] of Object.entries(ids)) text = text.replaceAll(pair[server], `{${name}}`);
    return text.replace(uuids, 'uuid');
  }

  /** Links at the same place of both answers. */
  #links(one: Json, other: Json): Pair[] {
    if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return [];
    const [a, b] = [one as Record<string, Json>, other as Record<string, Json>];
    if (typeof a['href'] === 'string' && typeof b['href'] === 'string') {
      return [[this.#filled(a['href'], 0), this.#filled(b['href'], 1)]];
    }
    return Object.keys(a).flatMap((name) => this.#links(a[name], b[name]));
  }

  #filled(href: string, server: 0 | 1): string {
    return href.replace(/\{(\w+)\}/g, (written, name: string) => this.#options.ids[name]?.[server] ?? written);
  }
}

function parsed(text: string): Json {
  return text === '' ? undefined : JSON.parse(text);
}

function differencesOf(
  one: Json,
  other: Json,
  place: string,
  found: (place: string, one: unknown, other: unknown) => void,
): void {
  const isTree = (value: Json): value is Record<string, Json> => typeof value === 'object' && value !== null;
  if (!isTree(one) || !isTree(other) || Array.isArray(one) !== Array.isArray(other)) {
    if (!Object.is(one, other)) found(place, one, other);
    return;
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    differencesOf(one[name], other[name], place === '' ? name : `${place}.${name}`, found);
  }
}
