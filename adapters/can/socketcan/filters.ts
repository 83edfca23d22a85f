/** The kernel's identifier filters, computed from what is wanted of a bus. */
import { EXTENDED, REMOTE } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { CAN_RAW_FILTER_MAX } from './constants.ts';

/**
 * Lets a frame pass whose identifier agrees with `id` in all bits of `mask` (linux/can.h, `struct can_filter`). Both
 * unsigned, with EXTENDED and REMOTE bits as in a frame's identifier.
 */
export interface IdentifierFilter {
  readonly id: number;
  readonly mask: number;
}

const STANDARD_BITS = 0x7ff;
const EXTENDED_BITS = 0x1fff_ffff;

/** A filter among the merging ones: `id` and `mask` within the identifier's bits, `id` 0 where the mask is. */
interface Entry {
  readonly id: number;
  readonly mask: number;
  readonly extended: boolean;
}

/**
 * Filters that let all of `wanted` pass and as little else as their number allows. No remote frames pass.
 *
 * Where identifiers are few, each gets a filter of its own, which the kernel finds by one look-up. Beyond `limit`,
 * neighbours are merged into one filter that leaves open the bits in which they differ, those first that let the
 * smallest share of the identifiers of their kind pass in addition. Standard and extended are never merged.
 *
 * @param wanted identifiers with EXTENDED bit, or filters of those (J1939: a parameter group of any source). The mask of
 * a filter covers the identifier; which kind is meant says the EXTENDED bit of its `id`.
 * @param limit at least 2, at most the kernel's 512
 * @throws VigieError `input.malformed` for an identifier that there cannot be
 */
export function filtersFor(
  wanted: Iterable<number | IdentifierFilter>,
  limit: number = CAN_RAW_FILTER_MAX,
): IdentifierFilter[] {
  const entries = [...wanted].map(entryOf).sort(byValue);
  const most = Math.min(CAN_RAW_FILTER_MAX, Math.max(2, Math.trunc(limit)));
  const kept = withoutCovered(entries);
  // A merged filter may cover further ones.
  return (kept.length > most ? withoutCovered(mergeCheapest(kept, most)) : kept).map(filterOf);
}

/** True when a frame with this identifier (EXTENDED and REMOTE bits included) passes one of the filters. */
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

/** Leaves out what another entry lets pass already. */
function withoutCovered(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  const different = entries.filter(({ id, mask, extended }) => {
    const key = `${extended} ${id} ${mask}`;
    return seen.size < seen.add(key).size;
  });
  // Only an entry that leaves bits open can cover another one.
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

/** Merges neighbours, the cheapest pair first, until `most` are left. `entries` are sorted. */
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

/** Share of all identifiers of the kind that a merged filter lets pass and the two did not. */
function priceOf(a: Entry, b: Entry | undefined): number {
  if (b === undefined || a.extended !== b.extended) return Number.POSITIVE_INFINITY;
  return shareOf(merge(a, b)) - shareOf(a) - shareOf(b);
}

function shareOf({ mask }: Entry): number {
  let ones = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) ones++;
  return 2 ** -ones;
}
