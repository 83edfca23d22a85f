/** Walks an interface along the links of its answers, like a client that knows only the entry point. */
import type { Operation, Side } from '../../protocol/interface/operation.ts';
import { bases } from '../../protocol/interface/operation.ts';
import { operationsOf } from '../../protocol/interface/operations.ts';
import type { Answered, InterfaceBench } from './interface.ts';
import type { Ids } from './interface-bodies.ts';

export interface Visit {
  readonly address: string;
  readonly operation: Operation;
  readonly answer: Answered;
}

/** The operation that reads an address, and the ids in the address. */
export function idsAt(side: Side, address: string): { operation: Operation; ids: Ids } | undefined {
  const given = new URL(address).pathname.slice(bases[side].length).split('/');
  // Literal path parts take precedence over parameters: `/status` of a fleet is not a vehicle.
  const found = operationsOf(side).flatMap((operation) => {
    const wanted = operation.path.split('/');
    if (operation.method !== 'GET' || wanted.length !== given.length) return [];
    const ids: Ids = {};
    const fits = wanted.every((part, index) => {
      const text = decodeURIComponent(given[index] ?? '');
      if (!part.startsWith('{')) return part === text;
      ids[part.slice(1, -1)] = text;
      return text !== '';
    });
    return fits ? [{ operation, ids }] : [];
  });
  return found.toSorted((a, b) => Object.keys(a.ids).length - Object.keys(b.ids).length)[0];
}

/**
 * Follows every link from an address, at most `most` addresses per operation. Templates are filled with the given ids.
 */
export async function crawl(
  bench: InterfaceBench,
  side: Side,
  start: string,
  ids: Ids,
  most: number,
): Promise<Visit[]> {
  const visits: Visit[] = [];
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  const open = [`${bench.url}${bases[side]}${start}`];
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    if (seen.has(address)) continue;
    seen.add(address);
    const known = idsAt(side, address);
    if (known === undefined) throw new Error(`a link leads to ${address}, which no operation reads`);
    const { operation } = known;
    const count = counts.get(operation.id) ?? 0;
    if (count >= most) continue;
    counts.set(operation.id, count + 1);
    const answer = await bench.ask('GET', address);
    visits.push({ address, operation, answer });
    open.push(...linksIn(answer.json, ids));
  }
  return visits;
}

function linksIn(value: unknown, ids: Ids): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { href, templated } = value as { href?: unknown; templated?: unknown };
  if (typeof href !== 'string') return Object.values(value).flatMap((member) => linksIn(member, ids));
  return [templated === true ? href.replace(/\{(\w+)\}/g, (name, id: string) => ids[id] ?? name) : href];
}
