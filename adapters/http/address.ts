/** Address of a request: the API side, and the raw path and query. */
import { VigieError } from '../../protocol/errors.ts';
import { bases, type Side } from '../../protocol/interface/operation.ts';

export interface RequestTarget {
  /** Raw path, still encoded, with its leading slash. */
  readonly path: string;
  /** Raw query, without question mark. */
  readonly query: string;
}

/** Splits `address`, a URL, into path and query. */
export function targetOf(address: string): RequestTarget {
  const start = address.indexOf('/', address.indexOf('//') + 2);
  const rest = start < 0 ? '/' : (address.slice(start).split('#', 1)[0] as string);
  const question = rest.indexOf('?');
  return question < 0 ? { path: rest, query: '' } : { path: rest.slice(0, question), query: rest.slice(question + 1) };
}

/** Returns the host and port of a URL. */
export function authorityOf(address: string): string {
  const start = address.indexOf('//') + 2;
  const end = address.indexOf('/', start);
  return address.slice(start, end < 0 ? undefined : end);
}

/** Returns the side, which determines the format of error responses even if the path does not exist. */
export function sideOf(path: string): Side {
  if (path.startsWith(`${bases.user}/`) || path === bases.user) return 'user';
  return /^\/user(\/|$)/.test(path) ? 'user' : 'fleet';
}

/**
 * Returns the path parameters of a request: the segments of `path` where `pattern` has names in braces.
 * @throws VigieError `input.malformed` for a wrong percent-encoding
 */
export function readSegments(pattern: string, path: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  const segments = path.split('/');
  for (const [index, part] of pattern.split('/').entries()) {
    if (part.startsWith('{')) values[part.slice(1, -1)] = decoded(segments[index] ?? '', 'path');
  }
  return values;
}

/** @throws VigieError `input.malformed` for a wrong percent-encoding */
export function readPairs(query: string): [name: string, value: string][] {
  if (query === '') return [];
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.replaceAll('+', ' ').split('=');
      return [decoded(name, 'query'), decoded(value.join('='), 'query')];
    });
}

/**
 * Returns the query parameters of one of Vigie's own paths by name. (The published interface ignores unknown
 * parameters.)
 * @throws VigieError `input.malformed` for a parameter that is not in `known`
 */
export function ownParameters(query: string, known: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map(readPairs(query));
  for (const name of given.keys()) {
    if (name === 'client_id' || known.includes(name)) continue;
    const fix = known.length === 0 ? 'remove it' : `use ${known.join(', ')}`;
    throw new VigieError('input.malformed', `there is no such parameter: ${fix}`, { where: name });
  }
  return given;
}

/** Returns the query without `client_id`. */
export function withoutCredentials(query: string): string {
  if (!/client|%/.test(query)) return query;
  return query
    .split('&')
    .filter((pair) => decoded(pair.split('=', 1)[0] ?? '', 'query') !== 'client_id')
    .join('&');
}

function decoded(text: string, where: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new VigieError('input.malformed', `${where}: has a percent-encoding that is not UTF-8 (RFC 3986 §2.1)`, {
      cause,
    });
  }
}
