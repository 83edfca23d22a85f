/**
 * Short numbers for slots: the place in a list that protocol version 1 fixes, from 1. Slots that Status got later
 * travel by their id.
 */
import ids from '../generated/slot-numbers.json' with { type: 'json' };
import type { NumberReader, NumberWriter } from './numbers.ts';

/** Ids of the slots that have a number; the first has 1. The list never changes. */
export const numberedSlots: readonly number[] = ids.map((id) => Number.parseInt(id, 16));

const numberOf: ReadonlyMap<number, number> = new Map(numberedSlots.map((id, place) => [id, place + 1]));

/** How the series of a block say what they are of. */
export interface SeriesNumbers {
  /** Where a series stands in the order in which series travel. */
  rankOf(id: number): number;
  /** Writes the identities of the series, in the order of their ranks. */
  write(ranks: readonly number[], writer: NumberWriter): void;
  /** Ids of `size` series. */
  read(size: number, reader: NumberReader): number[];
}

/** Where a slot stands in the order in which series travel: by number, behind them those without by id. */
function rankOf(slot: number): number {
  return numberOf.get(slot) ?? numberedSlots.length + slot;
}

/**
 * Writes what tells the slots of series in the order of their ranks: the difference of each number to the one before,
 * which is at least 1; for a slot without number 0 and its id.
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

/** Ids of `size` slots. */
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

/** Series with numeric ids from 1: the difference of each to the previous one, at least 1. */
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
