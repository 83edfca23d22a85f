import fc from 'fast-check';
import type { BitField, Database, ValueType } from '../../../../adapters/can/dbc/database.ts';
import { parseDbc } from '../../../../adapters/can/dbc/index.ts';
import { text } from './frames.ts';

export interface Layout extends BitField {
  readonly type: ValueType;
}

/**
 * Reads a field bit by bit, as the format defines it: an Intel signal continues at the next higher bit number; a
 * Motorola signal continues downwards within a byte, then at bit 7 of the next byte.
 */
export function naiveRaw(data: Uint8Array, field: Layout): bigint {
  const bit = (number: number) => BigInt((data[Math.floor(number / 8)]! >> (number % 8)) & 1);
  let raw = 0n;
  let at = field.start;
  for (let i = 0; i < field.length; i++) {
    if (field.byteOrder === 'little') {
      raw += bit(at) << BigInt(i);
      at++;
    } else {
      raw = raw * 2n + bit(at);
      at = at % 8 === 0 ? at + 15 : at - 1;
    }
  }
  return field.type === 'signed' ? BigInt.asIntN(field.length, raw) : raw;
}

/** Integer layouts of both byte orders that lie within `bytes`. */
export function layout(bytes: number): fc.Arbitrary<Layout> {
  return fc
    .record({
      length: fc.integer({ min: 1, max: Math.min(64, bytes * 8) }),
      at: fc.nat(),
      byteOrder: fc.constantFrom('little' as const, 'big' as const),
      type: fc.constantFrom('unsigned' as const, 'signed' as const),
    })
    .map(({ length, at, byteOrder, type }) => {
      const first = at % (bytes * 8 - length + 1);
      const start = byteOrder === 'little' ? first : Math.floor(first / 8) * 8 + 7 - (first % 8);
      return { start, length, byteOrder, type };
    });
}

/** An `SG_` statement with the given factor and offset. */
export function signalText(
  name: string,
  { start, length, byteOrder, type }: Layout,
  scale = '(1,0)',
  mux = '',
): string {
  const order = byteOrder === 'little' ? 1 : 0;
  return ` SG_ ${name} ${mux}: ${start}|${length}@${order}${type === 'signed' ? '-' : '+'} ${scale} [0|0] "" A`;
}

export function database(statements: string): Database {
  return parseDbc(text(statements), 'test.dbc').database;
}
