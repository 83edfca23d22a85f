/** Bytes of segment files, made by hand. */
import { RecordBatch } from '../../../adapters/store/batch.ts';
import { headerLength, seedOf, writeHeader } from '../../../adapters/store/segment.ts';

/** What a segment of version 1 begins with. */
/** The header of segment 1, when none was before. */
export const header: Uint8Array = writeHeader(1, { number: 0, used: 0 }, false);

/** Segment 1 with one group of records. */
export function segmentWith(add: (batch: RecordBatch) => void): Uint8Array {
  const batch = new RecordBatch();
  batch.clear(seedOf(1));
  add(batch);
  batch.addMark(headerLength, batch.sum, 0);
  return Uint8Array.of(...header, ...batch.bytes);
}
