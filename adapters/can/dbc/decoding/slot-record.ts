/**
 * Layout of the record of a slot (slots.ts). docs/decoder.md draws it, and defines the words.
 *
 * This file imports nothing, so that the bundler inlines its constants into the loops that use them: the compiler
 * treats constants of a file with imports as variables.
 */

/** Values in place of a record: no signal of the identifier is wanted, or the identifier has not been looked up yet. */
export const NO_SLOT = -1;
export const UNSEEN = -2;

/** Length of payloads that may wait without another check: that of the last one, or {@link NONE_WAITS}. */
export const SLOT_WAITING_LENGTH = 0;
/**
 * The place (readings.ts) of the next waiting frame. If no frame waits, its lower bits are 0, and the next frame begins
 * the group. {@link BRANCHING}: frames wait in the records of branches, and its lower bits are 0 as well.
 */
export const SLOT_NEXT_PLACE = 1;
/** Number of the signal list of the last frame; {@link FEWER_SIGNALS} if the frame may lack signals of the plan. */
export const SLOT_LIST = 2;
/** Length of the last payload, -1 for none. */
export const SLOT_LAST_LENGTH = 3;
/** The record in which frames began to wait before this one, or {@link UNLINKED}. */
export const SLOT_LINK = 4;
/** Length of payloads that contain every row of the plan, or {@link NO_FULL_LENGTH}. */
export const SLOT_FULL_LENGTH = 5;
/** From the plan: its first row, the number of rows, and 1 if some rows have Motorola order. */
export const SLOT_FIRST_ROW = 6;
export const SLOT_ROW_COUNT = 7;
export const SLOT_HAS_BIG = 8;
/** The multiplexor: its word (0 or 1), shift and mask, and the start of its values in {@link Slots.branches}. */
export const SLOT_SELECTOR_WORD = 9;
export const SLOT_SELECTOR_SHIFT = 10;
export const SLOT_SELECTOR_MASK = 11;
export const SLOT_BRANCHES = 12;
/**
 * Runs of words from the first eight bytes of payloads. Two in Intel order: first the last payload that does not wait,
 * and then the waiting ones (at most MAX_WAITING of readings.ts). Two in Motorola order: the waiting ones.
 */
export const RUN_SIZE = 65;
export const SLOT_LOW = 14;
export const SLOT_HIGH = 79;
export const SLOT_BIG_LOW = 144;
export const SLOT_BIG_HIGH = 208;
/** Length of a record. An odd number of cache lines spreads records over the cache sets. */
export const RECORD_SIZE = 272;

export const NONE_WAITS = -1;
/** Longer than any payload: whether a row is present depends on other rows. */
export const NO_FULL_LENGTH = 65;
export const BRANCHING = -64;
export const FEWER_SIGNALS = -1;
/** No frame waits in the record, so no other record links to it. */
export const UNLINKED = -2;
