import { brotliDecompressSync } from 'node:zlib';

/** What `pack` of program.ts packed. */
export function unpack(packed: string): Buffer {
  return brotliDecompressSync(Buffer.from(packed, 'base64'));
}
