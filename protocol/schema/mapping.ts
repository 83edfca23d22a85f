/**
 * How a field of Status becomes a slot (protocol/slots.ts): annotations for fields that do not become exactly one
 * slot. They do not change the shape, the wire form and the validators.
 *
 * | annotation | on | meaning |
 * |---|---|---|
 * | `x-slot`: `whole` | a field | one slot that carries the whole value |
 * | `x-slot`: `none` | a field | no slot: the agent or the interface fills it |
 * | `x-flat` | a record or tuple | its name is not part of the paths below it, its `createdAt` belongs to the parent |
 * | `x-item` | an item of a tuple | its name in a path |
 * | `x-only` | a field | exists only in entries of identified arrays with this identity |
 * | `x-duration` | a string | an ISO 8601 duration, e.g. `PT14H30M` |
 */
import { type TSchema, text } from './fields.ts';

/** Makes one slot for the complete value, e.g. a position inside an alarm. */
export function whole<S extends TSchema>(schema: S): S {
  return { ...schema, 'x-slot': 'whole' };
}

/** A field of the interface that no signal of a car can provide. */
export function unmapped<S extends TSchema>(schema: S): S {
  return { ...schema, 'x-slot': 'none' };
}

/** Omits the name from paths: `lastPosition.properties.heading` is the slot `lastPosition.heading`. */
export function flat<S extends TSchema>(schema: S): S {
  return { ...schema, 'x-flat': true };
}

/** Names an item of a tuple. */
export function item<S extends TSchema>(name: string, schema: S): S {
  return { ...schema, 'x-item': name };
}

/** A field of only the entry with this identity: an engine of type Electric has no coolant. */
export function only<S extends TSchema>(identity: string, schema: S): S {
  return { ...schema, 'x-only': identity };
}

/** A duration in the format of the interface: ISO 8601-1:2019 §5.5.2, e.g. `PT14H30M`. */
export function duration(description: string) {
  return {
    ...text(description, {
      maxLength: 32,
      // At least one component, and after a T at least one of time.
      pattern: '^P(?=[0-9T])([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9.]+S)?)?)$',
    }),
    'x-duration': true,
  };
}
