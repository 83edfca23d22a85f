/**
 * The list of files in a tar archive (POSIX.1-2001 pax, with the long names of GNU tar): headers of 512 bytes, each
 * followed by its file, padded to whole blocks.
 *
 *     0  name (100)   124  size, octal (12)   148  checksum (8)   156  kind   257  'ustar'   345  first part of the name (155)
 */
import { VigieError } from '../../../protocol/errors.ts';
import type { LogFile } from './input.ts';
import { isTar, TAR_HEADER_BYTES } from './packing.ts';
import type { ZipEntry } from './zip-directory.ts';

const BLOCK = TAR_HEADER_BYTES;
const KIND = 156;
/** Types of headers: a plain file (0 and NUL), a long name of GNU tar, and the attributes of the next file. */
const FILES: ReadonlySet<string> = new Set(['0', '\0', '7']);
const LONG_NAME = 'L';
const ATTRIBUTES = 'x';
/** Largest name or attributes in bytes. A larger size means damage. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_HEADERS = 100_000;

/** @throws VigieError `input.malformed` if a header is invalid */
export async function readTar(file: LogFile, where: string): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = [];
  const header = new Uint8Array(BLOCK);
  let long: string | undefined;
  let attributes: ReadonlyMap<string, string> = new Map();
  for (let at = 0, headers = 0; at + BLOCK <= file.size; headers++) {
    await file.read(header, at);
    if (header.every((byte) => byte === 0)) break;
    if (!isTar(header) || headers > MAX_HEADERS) {
      const what = `the tar archive is damaged: there is no file header at byte ${at}`;
      throw new VigieError('input.malformed', what, { where });
    }
    const kind = String.fromCharCode(header[KIND] as number);
    const size = Number(attributes.get('size') ?? sizeOf(header));
    const offset = at + BLOCK;
    at = offset + Math.ceil(size / BLOCK) * BLOCK;
    if (kind === LONG_NAME || kind === ATTRIBUTES) {
      const bytes = new Uint8Array(Math.min(size, MAX_TEXT_BYTES));
      const found = new TextDecoder().decode(bytes.subarray(0, await file.read(bytes, offset)));
      if (kind === LONG_NAME) long = found.replace(/\0.*$/s, '');
      else attributes = attributesIn(found);
      continue;
    }
    const prefix = text(header, 345, 155);
    const name = attributes.get('path') ?? long ?? `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100)}`;
    if (FILES.has(kind))
      entries.push({ name, method: 0, encrypted: false, crc: undefined, packed: size, size, offset, begin: offset });
    long = undefined;
    attributes = new Map();
  }
  return entries;
}

/** Parses lines of `LENGTH NAME=VALUE`. */
function attributesIn(lines: string): ReadonlyMap<string, string> {
  return new Map([...lines.matchAll(/^\d+ ([^=\n]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

/** Returns the size, in octal digits, or for files of more than 8 GiB in GNU tar a binary number. */
function sizeOf(header: Uint8Array): number {
  if (((header[124] as number) & 0x80) === 0) return Number.parseInt(text(header, 124, 12).trim(), 8) || 0;
  return header.subarray(125, 136).reduce((sum, byte) => sum * 256 + byte, 0);
}

/** Returns the text up to the first NUL. */
function text(bytes: Uint8Array, from: number, size: number): string {
  const part = bytes.subarray(from, from + size);
  const end = part.indexOf(0);
  return new TextDecoder().decode(end < 0 ? part : part.subarray(0, end));
}
