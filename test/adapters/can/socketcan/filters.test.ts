import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filtersFor, type IdentifierFilter, passes } from '../../../../adapters/can/socketcan/index.ts';
import { ERROR, EXTENDED, REMOTE } from '../../../../agent/ports.ts';

const standard = fc.integer({ min: 0, max: 0x7ff });
const extended = fc.integer({ min: 0, max: 0x1fff_ffff }).map((id) => id + EXTENDED);
const identifier = fc.oneof(standard, extended);
const masked = fc.record({ id: identifier, mask: fc.integer({ min: 0, max: 0x1fff_ffff }) });
const wanted = fc.array(fc.oneof({ weight: 5, arbitrary: identifier }, masked), { maxLength: 120 });

/** Meaning of a wanted entry, computed without the kernel's masks. */
function means(entry: number | IdentifierFilter, id: number): boolean {
  const { id: like, mask } = typeof entry === 'number' ? { id: entry, mask: 0x1fff_ffff } : entry;
  if (id >= EXTENDED !== like >= EXTENDED) return false;
  const bits = id >= EXTENDED ? 29 : 11;
  for (let bit = 0; bit < bits; bit++) {
    const asked = Math.floor(mask / 2 ** bit) % 2 === 1;
    if (asked && Math.floor(id / 2 ** bit) % 2 !== Math.floor(like / 2 ** bit) % 2) return false;
  }
  return true;
}

/** An identifier that matches the entry; its free bits come from `filling`. */
function example(entry: number | IdentifierFilter, filling: number): number {
  if (typeof entry === 'number') return entry;
  const bits = entry.id >= EXTENDED ? 0x1fff_ffff : 0x7ff;
  const value = ((entry.id & entry.mask) | (filling & ~entry.mask)) & bits;
  return entry.id >= EXTENDED ? value + EXTENDED : value;
}

describe('kernel filters', () => {
  it('pass every wanted identifier, however few filters are allowed', () => {
    fc.assert(
      fc.property(wanted, fc.integer({ min: 2, max: 200 }), fc.nat(0x1fff_ffff), (entries, limit, filling) => {
        const filters = filtersFor(entries, limit);
        expect(filters.length).toBeLessThanOrEqual(limit);
        for (const entry of entries) {
          const id = example(entry, filling);
          expect(passes(filters, id), `0x${id.toString(16)} is lost`).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('pass nothing else if there is a filter for each entry', () => {
    fc.assert(
      fc.property(wanted, identifier, (entries, id) => {
        expect(passes(filtersFor(entries), id)).toBe(entries.some((entry) => means(entry, id)));
      }),
    );
  });

  it('never confuse 11-bit and 29-bit identifiers, nor pass remote frames, however many are merged', () => {
    fc.assert(
      fc.property(fc.array(standard, { maxLength: 60 }), extended, standard, (ids, other, any) => {
        const filters = filtersFor(ids, 2);
        expect(passes(filters, other)).toBe(false);
        expect(passes(filtersFor([other]), any)).toBe(false);
        for (const id of ids) expect(passes(filters, id + REMOTE)).toBe(false);
      }),
    );
  });

  it('use masks for single identifiers that the kernel looks up directly', () => {
    // net/can/af_can.c, can_rcv_list_find: a mask of the EFF bit, the RTR bit and the whole identifier
    expect(filtersFor([0x123, EXTENDED + 0x18fef100, 0x123])).toEqual([
      { id: 0x123, mask: 0xc000_07ff },
      { id: 0x98fe_f100, mask: 0xdfff_ffff },
    ]);
  });

  it('omit identifiers that a mask covers', () => {
    expect(filtersFor([{ id: 0x120, mask: 0x7f0 }, 0x123, 0x12f, 0x130])).toEqual([
      { id: 0x120, mask: 0xc000_07f0 },
      { id: 0x130, mask: 0xc000_07ff },
    ]);
  });

  it('first merge filters that pass no additional identifier', () => {
    expect(filtersFor([0x100, 0x101, 0x2aa, 0x655], 3)).toEqual([
      { id: 0x100, mask: 0xc000_07fe },
      { id: 0x2aa, mask: 0xc000_07ff },
      { id: 0x655, mask: 0xc000_07ff },
    ]);
  });

  it('use at most the 512 filters that the kernel allows', () => {
    const every = Array.from({ length: 4000 }, (_, i) => EXTENDED + i * 6661);
    const filters = filtersFor(every, 100_000);
    expect(filters.length).toBeLessThanOrEqual(512);
    expect(every.every((id) => passes(filters, id))).toBe(true);
  });

  it.each([-1, 0x800, 1.5, Number.NaN, EXTENDED + 0x2000_0000, REMOTE + 1, ERROR + 1])(
    'refuse %d, which is not an identifier',
    (id) => {
      expect(() => filtersFor([id])).toThrowError(expect.objectContaining({ code: 'input.malformed' }));
    },
  );
});
