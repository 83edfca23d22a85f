/** Frames of captures: written by the car, read by receivers. */
import type { Deflate } from '../columns/deflate.ts';
import { NO_DICTIONARY } from '../columns/deflate.ts';
import { inflate } from '../columns/inflate.ts';
import { type Capture, captureBounds } from '../schema/capture.ts';
import { type CapturedFrames, columnsOfFrames, framesOfColumns } from './columns.ts';

/** Fields of a part that contain its frames. */
type PackedFrames = Pick<Capture, 'frames' | 'start' | 'size' | 'columns'>;

/**
 * Packs frames into the fields of a part; at most `captureBounds.frames` frames.
 * @param instead start of the part if there is no frame, UTC ms
 */
export function packFrames(frames: CapturedFrames, instead: number, deflate: Deflate): PackedFrames {
  let start = frames.count === 0 ? instead : Number.POSITIVE_INFINITY;
  for (let index = 0; index < frames.count; index++) start = Math.min(start, Math.floor(frames.at[index]!));
  const columns = columnsOfFrames(frames, start);
  return { frames: frames.count, start, size: columns.length, columns: deflate(columns) };
}

/**
 * Returns the frames of a part.
 * @throws VigieError `message.malformed` for invalid columns
 */
export function unpackFrames({ start, size, columns }: Pick<Capture, 'start' | 'size' | 'columns'>): CapturedFrames {
  return framesOfColumns(inflate(columns, size, NO_DICTIONARY), start, captureBounds.frames);
}
