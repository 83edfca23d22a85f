/**
 * What lies where in the tables of extraction.ts. This file imports nothing, so that the bundler puts the numbers
 * themselves into the loops that use them: constants of a file that does are variables to the compiler.
 */

/** Of the register file: 64 bytes are 16 words; two more so that the step past the last word reads something. */
export const LITTLE = 0;
export const BIG = 18;
export const REGISTERS = 36;

/** Numbers of one signal in a table of operations. */
export const STRIDE = 8;
/** How the signal is read, see below; the other numbers are what that asks for. */
export const KIND = 0;
/** The word that holds the most significant bits, and for pairs the one that holds the rest. */
export const WORD = 1;
export const OTHER = 2;
export const LEFT = 3;
export const RIGHT = 4;
export const MASK = 5;
export const DOWN = 6;

/** Unsigned, in one word: `(w >>> RIGHT) & MASK`. */
export const UNSIGNED = 0;
/** Signed, in one word: `(w << LEFT) >> RIGHT`. */
export const SIGNED = 1;
/** Unsigned, across two words: `((w << LEFT) | (other >>> DOWN)) & MASK`. */
export const UNSIGNED_PAIR = 2;
/** Signed, across two words: `((w << LEFT) | (other >>> DOWN)) << RIGHT >> RIGHT`. */
export const SIGNED_PAIR = 3;
/** Wider than a 32-bit integer holds, see Halves in extraction.ts: LEFT bits into WORD, RIGHT bits wide. */
export const WIDE = 4;
/** IEEE 754 of 16, 32, 64 bits. */
export const HALF = 5;
export const FLOAT = 6;
export const DOUBLE = 7;
