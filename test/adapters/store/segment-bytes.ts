/** Segment files written by hand. */
import { RecordBatch } from '../../../adapters/store/batch.ts';
import { headerLength, seedOf, writeHeader } from '../../../adapters/store/segment.ts';

/** The header of segment 1 of format version 1, without a predecessor. */
export const header: Uint8Array = writeHeader(1, { number: 0, used: 0 }, false);

/** Segment 1 with one group of records. */
export function segmentWith(add: (batch: RecordBatch) => void): Uint8Array {
  const batch = new RecordBatch();
  batch.clear(seedOf(1));
  add(batch);
  batch.addMark(headerLength, batch.sum, 0);
  return Uint8Array.of(...header, ...batch.bytes);
}
