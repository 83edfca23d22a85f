import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Call } from '../../../adapters/http/call.ts';
import { type Page, PageTokens, page, type RecordPosition } from '../../../adapters/http/paging.ts';
import { operationById } from '../../../protocol/interface/operations.ts';
import { readQuery } from '../../../protocol/interface/parameters.ts';

const tokens = new PageTokens(new Uint8Array(32).fill(7));
const NOW = Date.UTC(2026, 0, 1);

function callOf(address: string, { id = 'fleet.trips.list', caller = 'fleet', vid = 'v1' } = {}): Call {
  const operation = operationById.get(id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  const { pathname, search, searchParams } = new URL(address, 'http://car');
  return {
    operation,
    path: { fid: 'f1', vid },
    query: readQuery(operation, searchParams, NOW),
    headers: {},
    body: undefined,
    caller: { name: caller },
    base: 'http://car/connectedcar/v3',
    self: `${pathname.replace('/connectedcar/v3', '')}${search}`,
    now: NOW,
  };
}

const start = '/connectedcar/v3/fleets/f1/vehicles/v1/trips';

function inOrder(records: readonly RecordPosition[], order: 'ascending' | 'descending'): RecordPosition[] {
  const sorted = records.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return order === 'ascending' ? sorted : sorted.reverse();
}

const arbitraryRecords = fc
  .uniqueArray(fc.record({ at: fc.integer({ min: 0, max: 50 }), id: fc.string() }), {
    selector: ({ at, id }) => `${at} ${id}`,
    maxLength: 40,
  })
  .map((records) => records.map(({ at, id }) => ({ at: at + NOW, id })));
const arbitraryOrder = fc.constantFrom('ascending' as const, 'descending' as const);
const idsOf = (items: readonly RecordPosition[]): string[] => items.map(({ at, id }) => `${at} ${id}`);

describe('paging through a collection', () => {
  test('visits every record once, whatever arrives meanwhile', () => {
    fc.assert(
      fc.property(
        arbitraryRecords,
        fc.array(fc.array(fc.string(), { maxLength: 4 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        arbitraryOrder,
        (records, arrivals, size, order) => {
          let present: RecordPosition[] = records;
          let address: string | undefined = `${start}?pageSize=${size}`;
          const visited: RecordPosition[] = [];
          for (let step = 0; address !== undefined; step++) {
            const result: Page<RecordPosition> = page(inOrder(present, order), callOf(address), tokens, order);
            expect(result.total).toBe(records.length);
            expect(result.totalPage).toBe(Math.max(1, Math.ceil(records.length / size)));
            expect(result.currentPage).toBe(step + 1);
            visited.push(...result.items);
            // New ids start with a letter after all others, and their times are later.
            const arrived = (arrivals[step] ?? []).map((id, n) => ({ at: NOW + 1_000 + step, id: `${n}~${id}` }));
            present = [...present, ...arrived];
            address = result.links.next;
          }
          expect(idsOf(visited)).toEqual(idsOf(inOrder(records, order)));
        },
      ),
    );
  });

  test('works backwards, and jumps to the last page', () => {
    fc.assert(
      fc.property(arbitraryRecords, fc.integer({ min: 1, max: 9 }), arbitraryOrder, (records, size, order) => {
        const items = inOrder(records, order);
        const get = (address: string) => page(items, callOf(address), tokens, order);
        const pages: Page<RecordPosition>[] = [get(`${start}?pageSize=${size}`)];
        for (let next = pages[0]?.links.next; next !== undefined; next = pages.at(-1)?.links.next)
          pages.push(get(next));
        const first = pages[0];
        const last = pages.at(-1);
        if (first === undefined || last === undefined) throw new Error('a walk has pages');
        expect(first.links.prev).toBeUndefined();
        expect(idsOf(get(first.links.last).items)).toEqual(idsOf(last.items));
        expect(get(first.links.last).currentPage).toBe(first.totalPage);
        for (let index = pages.length - 1; index > 0; index--) {
          const prev = pages[index]?.links.prev;
          if (prev === undefined) throw new Error('a later page has one before it');
          expect(idsOf(get(prev).items)).toEqual(idsOf(pages[index - 1]?.items ?? []));
          expect(get(prev).currentPage).toBe(index);
        }
        expect(idsOf(get(last.links.first).items)).toEqual(idsOf(first.items));
      }),
    );
  });

  test('continues when records are removed, and never shows one twice', () => {
    fc.assert(
      fc.property(
        arbitraryRecords,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 9 }),
        (records, size, n) => {
          let present = inOrder(records, 'ascending');
          const gone = new Set<string>();
          let address: string | undefined = `${start}?pageSize=${size}`;
          const visited: string[] = [];
          while (address !== undefined) {
            const result: Page<RecordPosition> = page(present, callOf(address), tokens);
            visited.push(...idsOf(result.items));
            // Retention removes the oldest records.
            for (const key of idsOf(present.slice(0, n))) gone.add(key);
            present = present.slice(n);
            address = result.links.next;
          }
          expect(new Set(visited).size).toBe(visited.length);
          const missed = idsOf(records).filter((key) => !visited.includes(key));
          expect(missed.every((key) => gone.has(key))).toBe(true);
        },
      ),
    );
  });
});

const some = inOrder(
  Array.from({ length: 25 }, (_, n) => ({ at: NOW + n, id: `r${n}` })),
  'ascending',
);

test('indexRange counts from 0, includes both ends, and limits the pages', () => {
  const shown = (range: string, size = 60) =>
    page(some, callOf(`${start}?indexRange=${range}&pageSize=${size}`), tokens);
  expect(idsOf(shown('0-9').items)).toEqual(idsOf(some.slice(0, 10)));
  expect(idsOf(shown('5-').items)).toEqual(idsOf(some.slice(5)));
  expect(shown('30-').items).toEqual([]);
  const first = shown('5-14', 4);
  expect([first.total, first.totalPage, first.currentPage]).toEqual([10, 3, 1]);
  const last = page(some, callOf(first.links.last), tokens);
  expect(idsOf(last.items)).toEqual(idsOf(some.slice(13, 15)));
  expect(last.links.next).toBeUndefined();
});

test('an empty collection is one empty page', () => {
  const { items, total, totalPage, currentPage, links } = page([], callOf(start), tokens);
  expect({ items, total, totalPage, currentPage }).toEqual({ items: [], total: 0, totalPage: 1, currentPage: 1 });
  expect(links).toEqual({ self: links.self, first: links.self, last: links.self });
});

test('links repeat the filters', () => {
  const { links } = page(some, callOf(`${start}?pageSize=5&states=Nominal&timestamps=2026-01-01T00:00:00Z/`), tokens);
  const next = new URL(links.next ?? '');
  expect(next.searchParams.get('states')).toBe('Nominal');
  expect(next.searchParams.get('timestamps')).toBe('2026-01-01T00:00:00Z/');
  expect(next.searchParams.get('pageSize')).toBe('5');
});

describe('a page token is refused', () => {
  const { links } = page(some, callOf(`${start}?pageSize=5&states=Nominal`), tokens);
  const next = links.next ?? '';
  const refused = (call: Call, with_ = tokens) => {
    expect(() => page(some, call, with_)).toThrowError(expect.objectContaining({ code: 'input.malformed' }));
  };

  test('of another caller', () => refused(callOf(next, { caller: 'other' })));
  test('of another vehicle', () => refused(callOf(next, { vid: 'v2' })));
  test('of another collection', () => refused(callOf(next, { id: 'fleet.alerts.list' })));
  test('with other filters', () => refused(callOf(next.replace('Nominal', 'Unfinished'))));
  test('in another order', () => {
    expect(() => page([...some].reverse(), callOf(next), tokens, 'descending')).toThrowError(/pageToken/);
  });
  test('of another key', () => refused(callOf(next), new PageTokens(new Uint8Array(32).fill(8))));
  test('with any change', () => {
    const token = new URL(next).searchParams.get('pageToken') ?? '';
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_'), (at, letter) => {
        const changed = `${token.slice(0, at)}${letter}${token.slice(at + 1)}`;
        // The last characters of both halves contain unused bits.
        const same = (text: string) =>
          text
            .split('.')
            .map((half) => Buffer.from(half, 'base64url').toString('hex'))
            .join();
        fc.pre(same(changed) !== same(token));
        refused(callOf(next.replace(token, changed)));
      }),
    );
  });
  test('made of arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300 }), (text) => {
        refused(callOf(`${start}?pageToken=${encodeURIComponent(text)}`));
      }),
    );
  });
});
