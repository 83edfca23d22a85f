/** Writes zip archives for tests, according to PKWARE's APPNOTE. */
import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';

export interface Packed {
  readonly name: string;
  readonly data: Uint8Array;
  /** Default: deflate. */
  readonly method?: 'stored' | 'deflate' | 'zstd' | 'bzip2';
  readonly encrypted?: boolean;
  /** If true, sizes and offset always use 64-bit fields. */
  readonly zip64?: boolean;
  /** Unpacked size that the archive claims, if it differs from the true one. */
  readonly claimed?: number;
  /** A wrong checksum. */
  readonly crc?: number;
}

const methods = { stored: 0, deflate: 8, bzip2: 12, zstd: 93 };
const ALL = 0xffff_ffff;

export function zip(entries: readonly Packed[], comment = ''): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { name, data, method = 'deflate', zip64 = false, encrypted = false } = entry;
    const packed = method === 'deflate' ? deflateRawSync(data) : method === 'zstd' ? zstdCompressSync(data) : data;
    const size = entry.claimed ?? data.length;
    // Flags, method, time, date, checksum, packed size, unpacked size.
    const head = Buffer.alloc(20);
    head.writeUInt16LE((encrypted ? 1 : 0) | 0x800, 0);
    head.writeUInt16LE(methods[method], 2);
    head.writeUInt32LE(entry.crc ?? crc32(data), 8);
    head.writeUInt32LE(zip64 ? ALL : packed.length, 12);
    head.writeUInt32LE(zip64 ? ALL : size, 16);
    const local = Buffer.concat([Buffer.from('PK\x03\x04\x2d\0', 'latin1'), head, u16(name.length), u16(0)]);
    const large = Buffer.alloc(28);
    large.writeUInt16LE(1, 0);
    large.writeUInt16LE(24, 2);
    [size, packed.length, offset].forEach((value, i) => {
      large.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
    });
    const extra = zip64 ? large : Buffer.alloc(0);
    const place = Buffer.alloc(10);
    place.writeUInt32LE(zip64 ? ALL : offset, 6);
    directory.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02\x2d\0\x2d\0', 'latin1'),
        head,
        u16(name.length),
        u16(extra.length),
        u16(0),
        u16(0),
        place,
        Buffer.from(name),
        extra,
      ]),
    );
    parts.push(local, Buffer.from(name), Buffer.from(packed));
    offset += local.length + name.length + packed.length;
  }
  const list = Buffer.concat(directory);
  return Buffer.concat([
    ...parts,
    list,
    ...end(entries, list.length, offset),
    u16(comment.length),
    Buffer.from(comment),
  ]);
}

function end(entries: readonly Packed[], size: number, offset: number): Buffer[] {
  const plain = Buffer.alloc(20);
  plain.write('PK\x05\x06', 'latin1');
  plain.writeUInt16LE(entries.length, 8);
  plain.writeUInt16LE(entries.length, 10);
  plain.writeUInt32LE(size, 12);
  plain.writeUInt32LE(offset, 16);
  if (!entries.some(({ zip64 }) => zip64)) return [plain];
  const large = Buffer.alloc(56);
  large.write('PK\x06\x06', 'latin1');
  large.writeBigUInt64LE(44n, 4);
  large.writeBigUInt64LE(BigInt(entries.length), 24);
  large.writeBigUInt64LE(BigInt(entries.length), 32);
  large.writeBigUInt64LE(BigInt(size), 40);
  large.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  plain.fill(0xff, 8, 20);
  return [large, locator, plain];
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}
