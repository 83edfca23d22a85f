/** What a recording may be packed in, by its content. */
import { type ByteInput, FileInput, type LogFile } from './input.ts';

/** Bytes by which packed data are recognised. */
export const magicSize = 4;
/** A recording may be packed and lie in an archive that is packed too. */
export const mostPackings = 3;

export function packingOf(head: Uint8Array): 'gzip' | 'zstd' | 'zip' | undefined {
  const [a, b, c, d] = head;
  if (a === 0x1f && b === 0x8b) return 'gzip';
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
  // A local file header, or the end of an archive without any entry.
  if (a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6))) return 'zip';
  return undefined;
}

/**
 * What an input comes from, when that is a plain file; else a copy of it, and the input is closed.
 * @param begun bytes already read
 * @param where what people know it by
 */
export async function fileOf(input: ByteInput, begun: Uint8Array, where: string, byName: boolean): Promise<LogFile> {
  const file = input instanceof FileInput ? input.file : undefined;
  if (file !== undefined) return file;
  const { spool } = await import('./spool.ts');
  const copy = await spool(input, begun, { where, byName });
  await input.close();
  return copy;
}
