/**
 * Integer representation of a slot's value:
 *
 * | kind | integer |
 * |---|---|
 * | quantity | round(value / resolution), also for the components of a position |
 * | flag | 0 or 1 |
 * | enumeration | position of the name in the slot's values |
 * | set | bit n is set when the n-th name of the slot's values is in it |
 * | instant | UTC milliseconds |
 *
 * Slots of kind text and value have no integers.
 */
import { Steps } from '../cbor/steps.ts';
import { type Slot, type SlotValue, slots } from '../slots.ts';
import { REACH } from './numbers.ts';

/** Conversions between a slot's value and its integer. Both return undefined if there is none. */
export interface Coding {
  count(value: SlotValue): number | undefined;
  value(count: number): SlotValue | undefined;
}

/** A class, so that its methods are compiled once for all slots: nearly all readings are quantities. */
class QuantityCoding implements Coding {
  readonly #steps: Steps;

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  count(value: SlotValue): number | undefined {
    const integer = typeof value === 'number' ? this.#steps.count(value) : Number.NaN;
    return Math.abs(integer) <= REACH ? integer : undefined;
  }

  value(count: number): SlotValue {
    return this.#steps.value(count);
  }
}

const codings: readonly (Coding | undefined)[] = slots.map(codingOf);

/** Returns the coding of a slot, or undefined if its values have no integers. */
export function integersOf(slot: Slot): Coding | undefined {
  return codings[slot.index];
}

function codingOf(slot: Slot): Coding | undefined {
  const values = slot.values ?? [];
  switch (slot.kind) {
    case 'quantity':
      return quantityCoding(slot);
    case 'instant':
      return {
        count: (value) => (typeof value === 'number' ? bounded(value) : undefined),
        value: (integer) => integer,
      };
    case 'flag':
      return {
        count: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
        value: (integer) => (integer === 0 || integer === 1 ? integer === 1 : undefined),
      };
    case 'enumeration':
      return {
        count: (value) => (values.includes(value as string) ? values.indexOf(value as string) : undefined),
        value: (position) => values[position],
      };
    case 'set':
      return {
        count: (value) => (Array.isArray(value) ? bitsOf(value, values) : undefined),
        value: (bits) => values.filter((_, position) => Math.floor(bits / 2 ** position) % 2 === 1),
      };
    case 'text':
    case 'value':
      return undefined;
  }
}

function quantityCoding(slot: Slot): Coding | undefined {
  const { resolution = 0, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = slot;
  return resolution === 0 ? undefined : new QuantityCoding(new Steps({ resolution, minimum, maximum }));
}

function bounded(integer: number): number | undefined {
  return Number.isInteger(integer) && Math.abs(integer) <= REACH ? integer + 0 : undefined;
}

function bitsOf(names: readonly unknown[], values: readonly string[]): number | undefined {
  let bits = 0;
  for (const name of new Set(names)) {
    const position = values.indexOf(name as string);
    if (position < 0) return undefined;
    bits += 2 ** position;
  }
  return bits;
}
