/**
 * Layout of an operation, and of the registers it reads (extraction.ts). This file imports nothing, for the reason that
 * slot-record.ts gives.
 */

/** Size of the register file: 64 bytes are 16 words, and two more so that the step past the last word reads memory. */
export const LITTLE = 0;
export const BIG = 18;
export const REGISTERS = 36;

/** Numbers of one signal in a table of operations. */
export const OP_SIZE = 8;
/** How the signal is read, see below; the other numbers are what that asks for. */
export const OP_KIND = 0;
/** The word that holds the most significant bits, and for pairs the one that holds the rest. */
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
/** Wider than a 32-bit integer holds, see Halves in extraction.ts: OP_LEFT bits into OP_WORD, OP_RIGHT bits wide. */
export const WIDE = 4;
/** IEEE 754 of 16, 32, 64 bits. */
export const HALF = 5;
export const FLOAT = 6;
export const DOUBLE = 7;
