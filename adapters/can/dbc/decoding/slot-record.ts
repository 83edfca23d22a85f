/**
 * What lies where in the record of a slot (slots.ts). This file imports nothing, so that the bundler puts the numbers
 * themselves into the loops that use them: constants of a file that does are variables to the compiler.
 */

/** In the place of a record: nothing of the identifier is wanted; the identifier was not looked up yet. */
export const NO_SLOT = -1;
export const UNSEEN = -2;

/** Bytes of the payloads that may wait without a further look: as many as the last one had; {@link NO_LENGTH}: none. */
export const LENGTH = 0;
/**
 * The place (readings.ts) of the next frame that waits; as the first of a group when none does, and the group is to be
 * begun. {@link BRANCHES}: frames wait in other records, by their multiplexor; it says as well that none waits here.
 */
export const NEXT = 1;
/** Number of the list of signals that the last frame carried; {@link FEWER} when it may be none of those kept. */
export const LIST = 2;
/** Length of the last payload, -1 for none. */
export const LAST = 3;
/** The record in which frames began to wait before, or {@link UNLINKED}. */
export const LINK = 4;
/** Bytes with which every row of the plan is there, or {@link NEVER_ENOUGH}. */
export const ENOUGH = 5;
/** What the plan says: its first row, how many there are, 1 when some are of Motorola order. */
export const ROW = 6;
export const ROWS = 7;
export const BIG_ROWS = 8;
/** Of the multiplexor: 0 or 1 for the word it lies in, shift and mask, where {@link Slots.branches} of it begin. */
export const SELECTOR_WORD = 9;
export const SELECTOR_SHIFT = 10;
export const SELECTOR_MASK = 11;
export const SELECTED = 12;
/**
 * A run for each: the first eight bytes of payloads as two words in Intel order, the last one that does not wait and
 * then those that do (MOST_WAITING of readings.ts), and the latter in Motorola order.
 */
export const RUN = 65;
export const LOW = 14;
export const HIGH = 79;
export const BIG_LOW = 144;
export const BIG_HIGH = 208;
/** Length of a record; cache lines in an odd number, so that records do not crowd the same ones. */
export const RECORD = 272;

export const NO_LENGTH = -1;
/** Beyond any payload: which rows are there depends on others. */
export const NEVER_ENOUGH = 65;
export const BRANCHES = -64;
export const FEWER = -1;
/** The slot is in no list. */
export const UNLINKED = -2;
