/** Leaves of the codec: one function per kind of value. Each checks the rules of its schema in both directions. */
import type { Annotated } from './annotations.ts';
import type { ItemWriter } from './item-writer.ts';
import { Steps } from './steps.ts';
import { numberOf, type Wire } from './wire.ts';

export interface CodecOptions {
  /**
   * Treatment of an enumeration value that a later version may have appended. `drop`: an optional
   * field is omitted, a list loses the entry, a record with an unknown required field is itself unknown; at the
   * root that is an error. `refuse`: always an error, for messages that must not be understood partially.
   */
  readonly unknownValues: 'drop' | 'refuse';
}

/** Decoded form of an unknown enumeration value. */
export const UNKNOWN = Symbol('unknown');

/** Encoder and decoder of one schema node: values to bytes, and the trees of wire.ts to values. */
export interface Node {
  encode(value: unknown, wire: Wire, out: ItemWriter): void;
  decode(tree: unknown, wire: Wire): unknown;
}

/** The annotations of one kind of node. */
export type ScalarKind<K extends Annotated['kind']> = Extract<Annotated, { kind: K }>;

export function quantity(schema: ScalarKind<'quantity'>): Node {
  const { minimum, maximum } = schema;
  const steps = new Steps(schema);
  return {
    encode(value, wire, out) {
      const count = steps.count(checkNumber(value, minimum, maximum, wire));
      if (!Number.isSafeInteger(count)) throw wire.fault(`must be within 2^53 steps of ${schema.resolution}`);
      out.integer(count);
    },
    decode(tree, wire) {
      const count = numberOf(tree);
      if (count === undefined || !Number.isSafeInteger(count)) throw wire.fault('must be an integer within 2^53');
      if (count < steps.lowest || count > steps.highest) {
        throw wire.fault(`must be ${steps.lowest} to ${steps.highest} steps of ${schema.resolution}, is ${count}`);
      }
      // A float may be negative zero, a count cannot.
      return steps.value(count + 0);
    },
  };
}

export function float({ minimum, maximum }: ScalarKind<'quantity'>): Node {
  return {
    encode: (value, wire, out) => out.float(checkNumber(value, minimum, maximum, wire)),
    decode: (tree, wire) => checkNumber(numberOf(tree), minimum, maximum, wire),
  };
}

function checkNumber(value: unknown, minimum: number, maximum: number, wire: Wire): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wire.fault('must be a finite number');
  if (value < minimum) throw wire.fault(`must be at least ${minimum}, is ${value}`);
  if (value > maximum) throw wire.fault(`must be at most ${maximum}, is ${value}`);
  return value;
}

export function enumeration(values: readonly string[], options: CodecOptions): Node {
  const positions = new Map(values.map((name, position) => [name, position]));
  return {
    encode(value, wire, out) {
      const position = typeof value === 'string' ? positions.get(value) : undefined;
      if (position === undefined) throw wire.fault(`must be one of ${values.join(', ')}`);
      out.integer(position);
    },
    decode(tree, wire) {
      const position = numberOf(tree);
      if (position === undefined || !Number.isInteger(position) || position < 0) {
        throw wire.fault('must be the position of a name, an integer of at least 0');
      }
      const name = values[position];
      if (name !== undefined) return name;
      if (options.unknownValues === 'drop') return UNKNOWN;
      throw wire.fault(`must be a position below ${values.length}, is ${position}`);
    },
  };
}

/** A Date is at most 8.64 × 10^15 ms from 1970 (ECMA-262 §21.4.1.1). The rest allows for corrections of the clock. */
const FARTHEST = 8e15;
const TOO_FAR = 'must be within 8 × 10^15 ms of 1970';

export const instant: Node = {
  encode(value, wire, out) {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw wire.fault('must be UTC milliseconds');
    if (Math.abs(value) > FARTHEST) throw wire.fault(TOO_FAR);
    const before = Math.round(wire.base) - Math.round(value);
    if (!Number.isSafeInteger(before)) throw wire.fault('must be within 2^53 ms of the message');
    out.integer(before);
  },
  decode(tree, wire) {
    const value = Math.round(wire.base) - (numberOf(tree) ?? Number.NaN);
    if (!Number.isSafeInteger(value)) throw wire.fault("must be integer milliseconds before the message's at");
    if (Math.abs(value) > FARTHEST) throw wire.fault(TOO_FAR);
    return value;
  },
};

export const flag: Node = { encode: (value, wire, out) => out.flag(checkFlag(value, wire)), decode: checkFlag };

function checkFlag(value: unknown, wire: Wire): boolean {
  if (typeof value !== 'boolean') throw wire.fault('must be true or false');
  return value;
}

/**
 * Matches text that would not be decoded unchanged: lone surrogates have no UTF-8 form, and decoders drop a byte order
 * mark. Only unpaired surrogates are in the category.
 */
const unfaithful = /\p{Surrogate}|^\ufeff/u;
/** Strings with only lower code units contain neither surrogates nor the byte order mark. */
const FIRST_SURROGATE = 0xd800;

function isFaithful(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (value.charCodeAt(i) >= FIRST_SURROGATE) return !unfaithful.test(value);
  return true;
}

export function text({ maxLength, pattern }: ScalarKind<'text'>): Node {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const check = (value: unknown, wire: Wire): string => {
    if (typeof value !== 'string') throw wire.fault('must be a text');
    // JSON Schema counts characters (RFC 8259); the UTF-16 length is never less than their number.
    if (value.length > maxLength && [...value].length > maxLength) {
      throw wire.fault(`must have at most ${maxLength} characters`);
    }
    if (expression !== undefined && !expression.test(value)) throw wire.fault(`must match ${pattern}`);
    if (!isFaithful(value)) throw wire.fault('must be a text without lone surrogates and byte order mark');
    return value;
  };
  return { encode: (value, wire, out) => out.text(check(value, wire)), decode: check };
}

export function byteString({ maxLength }: ScalarKind<'bytes'>): Node {
  const check = (value: unknown, wire: Wire): Uint8Array => {
    if (!(value instanceof Uint8Array)) throw wire.fault('must be bytes');
    if (value.length > maxLength) throw wire.fault(`must have at most ${maxLength} bytes, has ${value.length}`);
    return value;
  };
  return {
    encode: (value, wire, out) => out.bytes(check(value, wire)),
    // A copy: the decoded value must not change with the received buffer, nor keep it in memory.
    decode: (tree, wire) => new Uint8Array(check(tree, wire)),
  };
}

export function constant(fixed: string): Node {
  return {
    encode(value, wire) {
      if (value !== fixed) throw wire.fault(`must be ${fixed}`);
    },
    decode: () => fixed,
  };
}
