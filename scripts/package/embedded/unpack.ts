import { brotliDecompressSync } from 'node:zlib';
import { bytesOf } from 'vigie:carried';

/** Returns a file that `Carrier` of program.ts packed. */
export function unpack(packed: string): Buffer {
  return brotliDecompressSync(bytesOf(packed));
}
