/**
 * Short numbers for slots: the place in a list that protocol version 1 fixes, from 1. Slots that Status got later
 * travel by their id.
 */
import type { NumberReader, NumberWriter } from './numbers.ts';

/** Ids of the slots that have a number; the first has 1. The list never changes. */
export const numberedSlots: readonly number[] = [
  0x11, 0x12, 0x13, 0x2110, 0x2111, 0x2112, 0x221, 0x222, 0x223, 0x224, 0x302, 0x303111, 0x303112, 0x303121, 0x303122,
  0x303131, 0x304, 0x312, 0x314, 0x402, 0x403, 0x404111, 0x404112, 0x405, 0x412, 0x413, 0x414211, 0x414212, 0x414213,
  0x414215, 0x414216, 0x4142190, 0x4142211, 0x4142212, 0x4142221, 0x4142222, 0x414231, 0x415, 0x51, 0x611, 0x621, 0x711,
  0x7121, 0x7122, 0x7123, 0x7124, 0x7125, 0x901, 0x911, 0x921, 0x92202, 0x92212, 0x92222, 0x92232, 0x92242, 0x92252,
  0x92262, 0x93102, 0x93112, 0x932, 0x941003, 0x941013, 0x941103, 0x941113, 0x942003, 0x942013, 0x942103, 0x942113,
  0x951, 0x952, 0x961, 0x962, 0x963, 0x964, 0x965, 0x9661, 0x9662, 0x967, 0x9690, 0x9691, 0x9692, 0x9693, 0x9694,
  0x9695, 0x9696, 0x9697, 0xa01, 0xa111, 0xa112, 0xa113, 0xa21, 0xa31, 0xa411, 0xa421, 0xa422, 0xa51, 0xa53, 0xa54,
  0xa61,
];

const numberOf: ReadonlyMap<number, number> = new Map(numberedSlots.map((id, place) => [id, place + 1]));

/** How the series of a block say what they are of. */
export interface SeriesNumbers {
  /** Where a series stands in the order in which series travel. */
  rankOf(id: number): number;
  /** Writes what tells series apart, in the order of their ranks. */
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

/** Series whose ids are numbers from 1: the difference of each to the one before, at least 1. */
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
