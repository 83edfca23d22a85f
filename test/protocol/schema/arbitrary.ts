/** Random Status: values for slots and times for objects. */
import fc from 'fast-check';
import { type Slot, type SlotValue, slots, statusObjects } from '../../../protocol/slots.ts';

const at: fc.Arbitrary<number> = fc.integer({ min: 0, max: 4_000_000_000_000 });

const position = fc.record(
  {
    type: fc.constant('Feature'),
    geometry: fc.record({
      type: fc.constant('Point'),
      coordinates: fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 })),
    }),
    properties: fc.record({ createdAt: at, heading: fc.integer({ min: 0, max: 360 }) }),
  },
  { noNullPrototype: true },
);

const programs = fc.array(
  fc.record(
    {
      start: fc.constantFrom('PT14H30M', 'PT0H', 'PT23H59M'),
      enabled: fc.boolean(),
      slot: fc.integer({ min: 1, max: 4 }),
      occurence: fc.record({ day: fc.subarray(['Mon', 'Sun'] as const) }, { noNullPrototype: true }),
    },
    { noNullPrototype: true, requiredKeys: ['start'] },
  ),
  { maxLength: 4 },
);

/** A value that is a multiple of the slot's resolution and within its limits. */
export function slotValue(slot: Slot): fc.Arbitrary<SlotValue> {
  const { minimum = -1e6, maximum = 1e6, resolution = 1, values = [] } = slot;
  switch (slot.kind) {
    case 'quantity': {
      const inverse = Math.round(1 / resolution);
      return fc
        .integer({ min: Math.ceil(minimum * inverse), max: Math.floor(maximum * inverse) })
        .map((steps) => steps / inverse);
    }
    case 'instant':
      return at;
    case 'flag':
      return fc.boolean();
    case 'enumeration':
      return fc.constantFrom(...values);
    case 'set':
      return fc.subarray([...values]);
    case 'text':
      return slot.duration ? fc.constantFrom('PT45M', 'PT14H30M') : fc.string({ maxLength: 64 });
    case 'value':
      return slot.path.endsWith('.programs') ? programs : position;
  }
}

/** Values by slot and createdAt by object; about a third of them are unknown. */
export const knowledge: fc.Arbitrary<{ values: (SlotValue | undefined)[]; createdAt: number[] }> = fc.record({
  values: fc.tuple(...slots.map((slot) => fc.option(slotValue(slot), { nil: undefined, freq: 3 }))),
  createdAt: fc.tuple(...statusObjects.map(() => fc.option(at, { nil: Number.NaN, freq: 3 }))),
});
