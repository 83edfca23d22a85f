import { deflateRawSync } from 'node:zlib';
import type { Deflate } from '../protocol/columns/deflate.ts';

/** Small window, little memory, and room for what a batch takes: columns need no more, and all of it is quickly set up. */
const COLUMNS = { level: 6, memLevel: 5, windowBits: 12, chunkSize: 2048 } as const;
/** The window holds the dictionary, the longest search saves a byte a message. */
const MESSAGES = { ...COLUMNS, level: 9, windowBits: 13 } as const;

/** Three to five times as fast as the portable one. */
export const deflate: Deflate = (bytes, dictionary) =>
  deflateRawSync(bytes, dictionary === undefined ? COLUMNS : { ...MESSAGES, dictionary });
