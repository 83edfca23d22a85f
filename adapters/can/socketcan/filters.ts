/** The kernel's identifier filters, computed from the wanted identifiers of a bus. */
import { EXTENDED, REMOTE } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { CAN_RAW_FILTER_MAX } from './constants.ts';

/**
 * A filter. A frame passes if its identifier equals `id` in all bits of `mask` (linux/can.h, `struct can_filter`). Both
 * are unsigned, with EXTENDED and REMOTE bits as in a frame's identifier.
 */
export interface IdentifierFilter {
  readonly id: number;
  readonly mask: number;
}

const STANDARD_BITS = 0x7ff;
const EXTENDED_BITS = 0x1fff_ffff;

/** A filter during merging. `id` and `mask` contain only identifier bits; `id` is 0 where the mask is 0. */
interface Entry {
  readonly id: number;
  readonly mask: number;
  readonly extended: boolean;
}

/**
 * Returns filters that accept all of `wanted` and as little else as their number allows. No remote frames pass.
 *
 * If there are few identifiers, each gets its own filter, which the kernel finds with one look-up. Beyond `limit`,
 * neighbours are merged into one filter that ignores the bits in which they differ. The pair that additionally accepts
 * the smallest share of the identifiers of its kind is merged first. The kinds are never merged.
 *
 * @param wanted identifiers with EXTENDED bit, or filters (J1939: a parameter group of any source). A filter's mask
 * covers the identifier; the EXTENDED bit of the filter's `id` selects the kind.
 * @param limit at least 2, at most the kernel's 512
 * @throws VigieError `input.malformed` for an invalid identifier
 */
export function filtersFor(
  wanted: Iterable<number | IdentifierFilter>,
  limit: number = CAN_RAW_FILTER_MAX,
): IdentifierFilter[] {
  const entries = [...wanted].map(entryOf).sort(byValue);
  const most = Math.min(CAN_RAW_FILTER_MAX, Math.max(2, Math.trunc(limit)));
  const kept = withoutCovered(entries);
  // A merged filter may cover other filters.
  return (kept.length > most ? withoutCovered(mergeCheapest(kept, most)) : kept).map(filterOf);
}

/** Returns true if a frame with this identifier (with EXTENDED and REMOTE bits) passes one of the filters. */
export function passes(filters: readonly IdentifierFilter[], id: number): boolean {
  return filters.some((filter) => ((id ^ filter.id) & filter.mask) === 0);
}

function entryOf(wanted: number | IdentifierFilter): Entry {
  const { id, mask } = typeof wanted === 'number' ? { id: wanted, mask: EXTENDED_BITS } : wanted;
  const extended = (id & EXTENDED) !== 0;
  const bits = extended ? EXTENDED_BITS : STANDARD_BITS;
  const value = extended ? id - EXTENDED : id;
  if (!Number.isInteger(value) || value < 0 || value > bits) {
    throw new VigieError('input.malformed', `there is no CAN identifier ${describe(id)}`);
  }
  return { id: value & mask & bits, mask: mask & bits, extended };
}

function describe(id: number): string {
  return Number.isInteger(id) && id >= 0 ? `0x${id.toString(16)}` : String(id);
}

function filterOf({ id, mask, extended }: Entry): IdentifierFilter {
  return { id: (extended ? id | EXTENDED : id) >>> 0, mask: (mask | EXTENDED | REMOTE) >>> 0 };
}

function byValue(a: Entry, b: Entry): number {
  return Number(a.extended) - Number(b.extended) || a.id - b.id || a.mask - b.mask;
}

/** Removes the entries that another entry already covers. */
function withoutCovered(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  const different = entries.filter(({ id, mask, extended }) => {
    const key = `${extended} ${id} ${mask}`;
    return seen.size < seen.add(key).size;
  });
  // Only an entry that ignores some bits can cover another one.
  const open = different.filter((entry) => entry.mask !== (entry.extended ? EXTENDED_BITS : STANDARD_BITS));
  if (open.length === 0) return different;
  return different.filter((entry) => !open.some((other) => other !== entry && covers(other, entry)));
}

function covers(wide: Entry, narrow: Entry): boolean {
  return (
    wide.extended === narrow.extended &&
    (wide.mask & narrow.mask) === wide.mask &&
    ((wide.id ^ narrow.id) & wide.mask) === 0
  );
}

/** Merges neighbours, the cheapest pair first, until `most` remain. `entries` are sorted. */
function mergeCheapest(entries: readonly Entry[], most: number): Entry[] {
  const left = [...entries];
  const prices = left.map((entry, i) => priceOf(entry, left[i + 1]));
  while (left.length > most) {
    let i = 0;
    for (let j = 1; j < prices.length; j++) if ((prices[j] as number) < (prices[i] as number)) i = j;
    left.splice(i, 2, merge(left[i] as Entry, left[i + 1] as Entry));
    prices.splice(i, 1);
    prices[i] = priceOf(left[i] as Entry, left[i + 1]);
    if (i > 0) prices[i - 1] = priceOf(left[i - 1] as Entry, left[i]);
  }
  return left;
}

function merge(a: Entry, b: Entry): Entry {
  const mask = a.mask & b.mask & ~(a.id ^ b.id);
  return { id: a.id & mask, mask, extended: a.extended };
}

/** Returns the share of all identifiers of the kind that only the merged filter accepts. */
function priceOf(a: Entry, b: Entry | undefined): number {
  if (b === undefined || a.extended !== b.extended) return Number.POSITIVE_INFINITY;
  return shareOf(merge(a, b)) - shareOf(a) - shareOf(b);
}

function shareOf({ mask }: Entry): number {
  let ones = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) ones++;
  return 2 ** -ones;
}
