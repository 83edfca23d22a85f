/** The list of files in a zip archive (PKWARE APPNOTE 6.3.10), also in zip64 format. */
import { VigieError } from '../../../protocol/errors.ts';
import type { LogFile } from './input.ts';

export interface ZipEntry {
  readonly name: string;
  /** Packing method: 0 none, 8 deflate, 93 zstd (APPNOTE 4.4.5). */
  readonly method: number;
  readonly encrypted: boolean;
  /** Checksum; undefined if the archive has none. */
  readonly crc: number | undefined;
  /** Packed and unpacked size in bytes. */
  readonly packed: number;
  readonly size: number;
  /** Position of the local header of the entry. */
  readonly offset: number;
  /** Start of the entry's bytes, if the archive's list contains it. */
  readonly begin?: number;
}

const END = 0x0605_4b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const LOCATOR = 0x0706_4b50;
const LOCATOR_SIZE = 20;
const END_64 = 0x0606_4b50;
const END_64_SIZE = 56;
const ENTRY = 0x0201_4b50;
const ENTRY_SIZE = 46;
const LOCAL = 0x0403_4b50;
const LOCAL_SIZE = 30;
/** Extra field for values that do not fit into 32 bits (APPNOTE 4.5.3). */
const EXTRA_64 = 1;
const TOO_LARGE = 0xffff_ffff;
const LARGEST_DIRECTORY = 16 * 1024 * 1024;

/** @throws VigieError `input.malformed` if the archive is truncated or damaged */
export async function readDirectory(file: LogFile, where: string): Promise<ZipEntry[]> {
  const damaged = (what: string): VigieError =>
    new VigieError('input.malformed', `the zip archive is damaged: ${what}`, { where });
  const tail = await part(file, Math.max(0, file.size - END_SIZE - LONGEST_COMMENT), END_SIZE + LONGEST_COMMENT);
  let at = tail.byteLength - END_SIZE;
  while (at >= 0 && tail.getUint32(at, true) !== END) at--;
  if (at < 0) throw damaged('its list of files is missing (was it copied or downloaded to its end?)');
  let size = tail.getUint32(at + 12, true);
  let offset = tail.getUint32(at + 16, true);
  let disks = tail.getUint16(at + 4, true);
  if (at >= LOCATOR_SIZE && tail.getUint32(at - LOCATOR_SIZE, true) === LOCATOR) {
    const end = await part(file, number64(tail, at - LOCATOR_SIZE + 8), END_64_SIZE);
    if (end.byteLength < END_64_SIZE || end.getUint32(0, true) !== END_64) throw damaged('its zip64 record is missing');
    size = number64(end, 40);
    offset = number64(end, 48);
    disks = end.getUint32(16, true);
  }
  if (disks !== 0) throw new VigieError('input.malformed', 'the zip archive is in several parts: join them', { where });
  if (size > LARGEST_DIRECTORY) throw damaged(`its list of files claims ${size} bytes`);
  const directory = await part(file, offset, size);
  if (directory.byteLength < size) throw damaged('its list of files is cut');
  const entries: ZipEntry[] = [];
  for (let pos = 0; pos + ENTRY_SIZE <= size; ) {
    const next = pos + ENTRY_SIZE + sum(directory, pos + 28, pos + 30, pos + 32);
    if (directory.getUint32(pos, true) !== ENTRY || next > size) throw damaged('its list of files is broken');
    entries.push(entryAt(directory, pos));
    pos = next;
  }
  return entries;
}

/** Returns the position of the bytes of an entry. */
export async function startOf(entry: ZipEntry, file: LogFile): Promise<number> {
  if (entry.begin !== undefined) return entry.begin;
  const local = await part(file, entry.offset, LOCAL_SIZE);
  if (local.byteLength < LOCAL_SIZE || local.getUint32(0, true) !== LOCAL) return Number.NaN;
  return entry.offset + LOCAL_SIZE + sum(local, 26, 28);
}

function entryAt(view: DataView, at: number): ZipEntry {
  const flags = view.getUint16(at + 8, true);
  const nameLength = view.getUint16(at + 28, true);
  const name = new Uint8Array(view.buffer, view.byteOffset + at + ENTRY_SIZE, nameLength);
  const sizes = [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)];
  // The extra field contains only the fields that are too large, in this order.
  let extra = extra64(view, at + ENTRY_SIZE + nameLength, view.getUint16(at + 30, true));
  const [size = 0, packed = 0, offset = 0] = sizes.map((value) => {
    if (value !== TOO_LARGE || extra === undefined || extra.byteLength < 8) return value;
    const large = number64(extra, 0);
    extra = new DataView(extra.buffer, extra.byteOffset + 8, extra.byteLength - 8);
    return large;
  });
  return {
    // Bit 11 means UTF-8. Otherwise the code page is unknown, but its ASCII part is the same.
    name: new TextDecoder((flags & 0x800) !== 0 ? 'utf-8' : 'latin1').decode(name),
    method: view.getUint16(at + 10, true),
    encrypted: (flags & 1) !== 0,
    crc: view.getUint32(at + 16, true),
    packed,
    size,
    offset,
  };
}

function extra64(view: DataView, from: number, length: number): DataView | undefined {
  for (let at = from; at + 4 <= from + length; ) {
    const size = view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === EXTRA_64 && at + 4 + size <= from + length) {
      return new DataView(view.buffer, view.byteOffset + at + 4, size);
    }
    at += 4 + size;
  }
  return undefined;
}

function sum(view: DataView, ...at: readonly number[]): number {
  return at.reduce((total, one) => total + view.getUint16(one, true), 0);
}

function number64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 4_294_967_296 + view.getUint32(at, true);
}

async function part(file: LogFile, position: number, length: number): Promise<DataView> {
  const bytes = new Uint8Array(Math.max(0, Math.min(length, file.size - position)));
  return new DataView(bytes.buffer, 0, await file.read(bytes, position));
}
