/** Detection of the blocks of CANDO's files. Their layout is described in cando.ts. */
import type { Head } from './format.ts';

export const CANDO_BLOCK = 12;
/** Minimum number of blocks for detection. Fewer may look valid by chance. */
const FEWEST = 3;

/** Returns the number of frames in the head of a file, or 0 if one of its blocks is invalid. */
export function candoFrames({ text }: Head): number {
  const count = Math.floor(text.length / CANDO_BLOCK);
  if (count < FEWEST) return 0;
  let frames = 0;
  for (let block = 0; block < count; block++) {
    const kind = candoKind((i) => text.charCodeAt(block * CANDO_BLOCK + i));
    if (kind === 'other') return 0;
    if (kind === 'frame') frames++;
  }
  return frames;
}

export function candoKind(byte: (index: number) => number): 'frame' | 'start' | 'other' {
  if (byte(0) >> 2 > 59 || (((byte(0) & 3) << 8) | byte(1)) > 999) return 'other';
  if (byte(2) === 0xff && byte(3) === 0xff) return 'start';
  const length = byte(3) >> 4;
  if (length > 8 || (byte(3) & 8) !== 0) return 'other';
  for (let i = 4 + length; i < CANDO_BLOCK; i++) if (byte(i) !== 0xff) return 'other';
  return 'frame';
}
