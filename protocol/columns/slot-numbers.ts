/**
 * Short numbers of slots: the position, from 1, in a list that protocol version 1 fixes. Slots added to Status later
 * are sent by their id.
 */
import ids from '../generated/slot-numbers.json' with { type: 'json' };
import type { NumberReader, NumberWriter } from './numbers.ts';

/** Ids of the numbered slots; the first has number 1. The list never changes. */
export const numberedSlots: readonly number[] = ids.map((id) => Number.parseInt(id, 16));

const numberOf: ReadonlyMap<number, number> = new Map(numberedSlots.map((id, place) => [id, place + 1]));

/** Identification of the series of a block. */
export interface SeriesNumbers {
  /** Returns the rank of a series, which determines its position among the series. */
  rankOf(id: number): number;
  /** Writes the identities of the series, in the order of their ranks. */
  write(ranks: readonly number[], writer: NumberWriter): void;
  /** Returns the ids of `size` series. */
  read(size: number, reader: NumberReader): number[];
}

/** Returns the rank of a slot: its number, or for a slot without number a rank after all numbers, by id. */
function rankOf(slot: number): number {
  return numberOf.get(slot) ?? numberedSlots.length + slot;
}

/**
 * Writes the slots of series in the order of their ranks: the difference of each number to the previous one, at least
 * 1; for a slot without number, 0 and its id.
 */
function writeSlots(ranks: readonly number[], writer: NumberWriter): void {
  let previous = 0;
  for (const rank of ranks) {
    if (rank > numberedSlots.length) {
      writer.unsigned(0);
      writer.unsigned(rank - numberedSlots.length);
    } else {
      writer.unsigned(rank - previous);
      previous = rank;
    }
  }
}

/** Returns the ids of `size` slots. */
function readSlots(size: number, reader: NumberReader): number[] {
  const slots: number[] = [];
  let number = 0;
  while (slots.length < size) {
    const difference = reader.unsigned();
    number += difference;
    const slot = difference === 0 ? reader.unsigned() : numberedSlots[number - 1];
    if (slot === undefined) throw reader.fault(`name slot number ${number} of ${numberedSlots.length}`);
    slots.push(slot);
  }
  return slots;
}

/** Series of slots. */
export const slotNumbers: SeriesNumbers = { rankOf, write: writeSlots, read: readSlots };

/** Series with numeric ids from 1, written as the difference of each id to the previous one, at least 1. */
export const plainNumbers: SeriesNumbers = {
  rankOf: (id) => id,
  write(ranks, writer) {
    let previous = 0;
    for (const rank of ranks) {
      writer.unsigned(rank - previous);
      previous = rank;
    }
  },
  read(size, reader) {
    const ids: number[] = [];
    let number = 0;
    while (ids.length < size) {
      const difference = reader.unsigned();
      number += difference;
      if (difference === 0 || number > Number.MAX_SAFE_INTEGER) throw reader.fault(`name the series ${number} twice`);
      ids.push(number);
    }
    return ids;
  },
};
