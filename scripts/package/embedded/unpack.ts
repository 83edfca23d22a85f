import { brotliDecompressSync } from 'node:zlib';
import { bytesOf } from 'vigie:carried';

/** Returns a file that the `Carrier` in program.ts has packed. */
export function unpack(packed: string): Buffer {
  return brotliDecompressSync(bytesOf(packed));
}
