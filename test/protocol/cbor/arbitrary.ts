/** Random values of any schema from fields.ts, for property tests. */
import fc from 'fast-check';
import { type Annotated, annotated } from '../../../protocol/cbor/annotations.ts';
import { Steps } from '../../../protocol/cbor/steps.ts';
import type { Static, TSchema } from '../../../protocol/schema/fields.ts';

/** Reference time of the values, UTC ms. */
export const BASE = 1_750_000_000_000;

/**
 * Random values of `schema`. Quantities are multiples of their resolution, so that a round trip is exact. Texts match
 * the pattern, if there is one.
 */
export function valuesOf<S extends TSchema>(schema: S): fc.Arbitrary<Static<S>> {
  return arbitraryOf(annotated(schema)) as fc.Arbitrary<Static<S>>;
}

function arbitraryOf(schema: Annotated): fc.Arbitrary<unknown> {
  switch (schema.kind) {
    case 'record': {
      const members = Object.fromEntries(schema.members.map(({ name, schema }) => [name, arbitraryOf(schema)]));
      const required = schema.members.filter((m) => m.required || m.schema.kind === 'constant').map((m) => m.name);
      return fc.record(members, { requiredKeys: required, noNullPrototype: true });
    }
    case 'list': {
      const bounds = { minLength: schema.minItems, maxLength: Math.min(schema.maxItems, schema.minItems + 4) };
      return fc.array(arbitraryOf(schema.items), bounds);
    }
    case 'tuple':
      return fc
        .tuple(
          fc.tuple(...schema.items.map(arbitraryOf)),
          fc.integer({ min: schema.required, max: schema.items.length }),
        )
        .map(([entries, length]) => entries.slice(0, length));
    case 'quantity':
      return quantity(schema);
    case 'enumeration':
      return fc.constantFrom(...schema.values);
    case 'instant':
      return fc.integer({ min: BASE - 1e12, max: BASE + 1e12 });
    case 'flag':
      return fc.boolean();
    case 'text':
      return schema.pattern === undefined
        ? fc
            .string({ maxLength: Math.min(schema.maxLength, 40), unit: 'binary' })
            .filter((text) => !text.startsWith('\ufeff'))
        : matching(schema.pattern).filter((text) => text.length <= schema.maxLength);
    case 'bytes':
      return fc.uint8Array({ maxLength: Math.min(schema.maxLength, 300) });
    case 'constant':
      return fc.constant(schema.value);
  }
}

function matching(pattern: string): fc.Arbitrary<string> {
  // fast-check does not support lookaheads. The only patterns with one are ISO 8601 durations.
  if (!pattern.includes('(?=')) return fc.stringMatching(new RegExp(pattern, 'u'));
  const part = fc.integer({ min: 0, max: 59 });
  return fc.tuple(part, part).map(([hours, minutes]) => `PT${hours % 24}H${minutes}M`);
}

function quantity(schema: Extract<Annotated, { kind: 'quantity' }>): fc.Arbitrary<number> {
  if (schema.resolution === 0) {
    const min = schema.minimum === -Infinity ? -Number.MAX_VALUE : schema.minimum;
    const max = schema.maximum === Infinity ? Number.MAX_VALUE : schema.maximum;
    const double = fc.double({ min, max, noNaN: true });
    return fc.oneof(double, fc.integer({ min: Math.max(Math.ceil(min), -1e6), max: Math.min(Math.floor(max), 1e6) }));
  }
  const steps = new Steps(schema);
  const reach = 2 ** 40;
  const min = Math.max(steps.lowest, -reach);
  const max = Math.min(steps.highest, reach);
  return fc.integer({ min: Math.ceil(min), max: Math.floor(max) }).map((count) => steps.value(count));
}
