/**
 * Layout of an operation, and of the registers it reads (extraction.ts). This file imports nothing, for the reason that
 * slot-record.ts gives.
 */

/**
 * First little-endian word, first big-endian word, and number of registers: 16 words of each order and two spare ones.
 */
export const LITTLE = 0;
export const BIG = 18;
export const REGISTERS = 36;

/** Number of values per signal in a table of operations. */
export const OP_SIZE = 8;
/** Kind of operation, see below. It determines which of the other numbers are used, and their meaning. */
export const OP_KIND = 0;
/** Word with the most significant bits (WIDE and floats: the first word), and for pairs the other word. */
export const OP_WORD = 1;
export const OP_OTHER_WORD = 2;
export const OP_LEFT = 3;
export const OP_RIGHT = 4;
export const OP_MASK = 5;
export const OP_DOWN = 6;

/** Unsigned, in one word: `(w >>> OP_RIGHT) & OP_MASK`. */
export const UNSIGNED = 0;
/** Signed, in one word: `(w << OP_LEFT) >> OP_RIGHT`. */
export const SIGNED = 1;
/** Unsigned, across two words: `((w << OP_LEFT) | (other >>> OP_DOWN)) & OP_MASK`. */
export const UNSIGNED_PAIR = 2;
/** Signed, across two words: `((w << OP_LEFT) | (other >>> OP_DOWN)) << OP_RIGHT >> OP_RIGHT`. */
export const SIGNED_PAIR = 3;
/** Too wide for a signed 32-bit integer: OP_RIGHT bits, from bit OP_LEFT of OP_WORD on (see Halves). */
export const WIDE = 4;
/** IEEE 754 of 16, 32, 64 bits. */
export const HALF = 5;
export const FLOAT = 6;
export const DOUBLE = 7;
