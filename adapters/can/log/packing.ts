/** Detects the packing of a recording by its content. */
import { type ByteInput, FileInput, type LogFile } from './input.ts';

/** Number of bytes needed to detect packed data. */
export const magicSize = 4;
/** Size in bytes of a header in a tar archive. A header is needed to detect one. */
export const TAR_HEADER_BYTES = 512;
/** Offset of the checksum in such a header (8 octal digits). It is computed as if it contained blanks. */
const TAR_CHECKSUM = 148;
/** Maximum number of nested packings: a packed recording may be in an archive that is packed too. */
export const mostPackings = 3;

export function packingOf(head: Uint8Array): 'gzip' | 'zstd' | 'zip' | undefined {
  const [a, b, c, d] = head;
  if (a === 0x1f && b === 0x8b) return 'gzip';
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
  // A local file header, or the end of an archive without entries.
  if (a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6))) return 'zip';
  return undefined;
}

/** Returns true if the bytes begin with the header of a file in a tar archive (POSIX.1-2001). */
export function isTar(begun: Uint8Array): boolean {
  if (begun.length < TAR_HEADER_BYTES || latin1(begun, 257, 262) !== 'ustar') return false;
  let sum = 8 * 32;
  for (let i = 0; i < TAR_HEADER_BYTES; i++) {
    if (i < TAR_CHECKSUM || i >= TAR_CHECKSUM + 8) sum += begun[i] as number;
  }
  return Number.parseInt(latin1(begun, TAR_CHECKSUM, TAR_CHECKSUM + 8).trim(), 8) === sum;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/**
 * Returns the input as a file with random access if it is a plain file. Otherwise copies it, and closes the input.
 * @param begun bytes already read
 * @param where name of the input for users
 */
export async function fileOf(input: ByteInput, begun: Uint8Array, where: string, byName: boolean): Promise<LogFile> {
  const file = input instanceof FileInput ? input.file : undefined;
  if (file !== undefined) return file;
  const { spool } = await import('./spool.ts');
  const copy = await spool(input, begun, { where, byName });
  await input.close();
  return copy;
}
