/**
 * Format of a journal record: a CBOR array that starts with its type. Readers skip unknown types and unknown
 * additional items.
 *
 * | record | meaning |
 * |---|---|
 * | `[0, bytes]` | nothing: fills a page |
 * | `[1, class, number, kind, at, retain, payload, correlation?]` | a message waits in the outbox |
 * | `[2, series, number, count?]` | `count` (default 1) entries from `number` on are removed for ever |
 * | `[3, [series, next, ranges], …]` | checkpoint: `next` is the next free number, and of the numbers below it only those in `ranges` exist, written as gap, count, gap, count, … from 0 |
 * | `[4, bytes]` | mark: ends a group of records (groups.ts) |
 * | `[5, collection, number, at, id, record]` | a record of the car; the record is a byte string of CBOR |
 * | `[6, "", number, key, value]` | state of the core; the value is a byte string of CBOR |
 * | `[7, day, bytes]` | bytes written to the medium on `day`, which is in days since 1970 |
 *
 * The ranges of a checkpoint also include the numbers of messages that were abandoned and not yet reported to a
 * receiver: a number of a class is owed if it is in a range but has no entry. It leaves the range once it is reported.
 *
 * Types 1, 5 and 6 are entries. Each entry belongs to a series: the class of a message, the name of a collection, or
 * the empty string for state. Each number is assigned only once per series. So a removed entry never returns, reading a
 * record twice does no harm, and the newest checkpoint replaces all older removals. Therefore a segment may be removed
 * as soon as it has no live entry.
 */
export const paddingRecord = 0;
export const messageRecord = 1;
export const removalRecord = 2;
export const checkpointRecord = 3;
export const markRecord = 4;
export const collectionRecord = 5;
export const stateRecord = 6;
export const wearRecord = 7;

/** Class of the outbox, or name of a collection; the series of states has the empty name. */
export type SeriesName = number | string;

export const stateSeries = '';
