/** Compressed and archived logs: gzip, zstd, zip, tar. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { UnpackedInput } from '../../../../adapters/can/log/unpacked.ts';
import { fileOf, type Read, readLog, readText } from './frames.ts';
import { blf } from './writers.ts';
import { type Packed, zip } from './zip-writer.ts';

const foreign = join(dirname(fileURLToPath(import.meta.url)), 'foreign');
const MEGABYTE = 1024 * 1024;
const line = '(1.000000) can0 123#0011223344556677\n';
const text = Buffer.from(line.repeat(20_000));

/** A log of distinct lines, so that it does not compress too well. */
const lines = Array.from(
  { length: 300 },
  (_, i) => `(${i}.${String((i * 7919) % 1e6).padStart(6, '0')}) can0 123#${i % 10}0\n`,
);
const small = Buffer.from(lines.join(''));

const packings = [
  ['gzip', (bytes: Uint8Array) => gzipSync(bytes)],
  ['zstd', (bytes: Uint8Array) => zstdCompressSync(bytes)],
] as const;

describe.each(packings)('%s', (name, pack) => {
  test('a packed log yields the same frames as the plain one', async () => {
    const plain = await readText(small);
    expect(await readText(pack(small))).toMatchObject({ format: 'candump', frames: plain.frames, faults: 0 });
  });

  test('several packed parts in one file are read in sequence', async () => {
    const packed = pack(text);
    const read = await readText(Buffer.concat([packed, packed, pack(small)]));
    expect(read).toMatchObject({ faults: 0 });
    expect(read.frames).toHaveLength(40_300);
  });

  test('a file cut anywhere yields the frames before the cut and a diagnostic', async () => {
    const packed = pack(small);
    const { frames } = await readText(small);
    for (let cut = 5; cut < packed.length; cut += 1 + (cut >> 6)) {
      const read = await readText(packed.subarray(0, cut)).catch((error: Error) => error.message);
      if (typeof read === 'string') expect(read).toContain('the compressed data are broken (unexpected end of file)');
      else {
        const sure = read.frames.slice(0, Math.max(0, read.frames.length - 1));
        expect(sure).toEqual(frames.slice(0, sure.length));
        expect(read.messages.at(-1)).toBe('0: the compressed data are broken: unexpected end of file');
      }
    }
  });

  test('a file damaged in the middle yields the frames before the damage', async () => {
    const half = pack(text);
    const packed = Buffer.concat([half, half]);
    packed.fill(0xff, half.length + 20, half.length + 60);
    const read = await readText(packed);
    // On an error, zlib withholds its pending output, at most 16 KiB.
    expect(read.frames.length).toBeGreaterThanOrEqual(20_000 - 16_384 / line.length);
    expect(read.messages.at(-1)).toMatch(/^0: the compressed data are broken: /);
  });

  test('reading stops early in a file that unpacks to far more than its size', async () => {
    // No real recording compresses to a thousandth of its size.
    const part = pack(Buffer.alloc(16 * MEGABYTE, line));
    const packed = {
      size: 4 * part.length,
      position: 0,
      close: async () => undefined,
      read: repeated(part, 4),
    };
    const input = new UnpackedInput(name, packed, undefined, 24 * MEGABYTE);
    const into = new Uint8Array(MEGABYTE);
    let total = 0;
    for (let count = await input.read(into); count > 0; count = await input.read(into)) total += count;
    await input.close();
    expect(input.broken).toBe('they unpack to more than 250 times their size');
    expect(total).toBeGreaterThan(24 * MEGABYTE);
    expect(total).toBeLessThan(32 * MEGABYTE);
  });
});

test('formats that need random access are unpacked to a temporary copy, which is deleted afterwards', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-copies-'));
  vi.stubEnv('TMPDIR', folder);
  try {
    const { frames } = await readLog(join(foreign, 'drive.log'));
    for (const name of ['drive.mf4', 'drive.db']) {
      const file = readFileSync(join(foreign, name));
      for (const content of [gzipSync(file), zstdCompressSync(file), zip([{ name, data: file }])]) {
        const read = await readText(content);
        expect(read.faults).toBe(0);
        expect(read.frames.slice(0, frames.length).map(({ data }) => data)).toEqual(frames.map(({ data }) => data));
        expect(readdirSync(folder)).toEqual([]);
      }
      // A copy that was cut is read as far as it goes, and both losses are reported.
      const packed = gzipSync(Buffer.concat([file, Buffer.alloc(100_000)]));
      const log = await openLog(fileOf(packed.subarray(0, packed.length - 20)));
      expect(log.faults.first[0]?.message).toBe('the compressed data are broken: unexpected end of file');
      await log.close();
      expect(readdirSync(folder)).toEqual([]);
    }
    const damaged = gzipSync(Buffer.from('SQLite format 3\0 and nothing of it'));
    await expect(openLog(fileOf(damaged))).rejects.toThrow(
      /the SQLite database cannot be read: file is not a database/,
    );
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('without room for the copy, the error says what to do', async () => {
  vi.stubEnv('TMPDIR', '/nowhere');
  try {
    const packed = gzipSync(readFileSync(join(foreign, 'drive.mf4')));
    await expect(openLog(fileOf(packed))).rejects.toThrow(
      /it is not a plain file and cannot be copied to one in \/nowhere: .* \(unpack it to a file, or set TMPDIR\)$/,
    );
  } finally {
    vi.unstubAllEnvs();
  }
});

test('a log that was packed twice is read', async () => {
  expect((await readText(gzipSync(zstdCompressSync(small)))).frames).toHaveLength(300);
});

describe('zip', () => {
  const drive: Packed = { name: 'drive.log', data: small };

  test.each([
    ['deflated', drive],
    ['stored', { ...drive, method: 'stored' }],
    ['zstd', { ...drive, method: 'zstd' }],
    ['with sizes of 64 bits', { ...drive, zip64: true }],
  ] as const)('a %s entry yields the frames of its file', async (_, entry) => {
    const plain = await readText(small);
    for (const comment of ['', 'a comment that ends the archive']) {
      const read = await readText(zip([entry], comment));
      expect(read).toMatchObject({ format: 'candump', frames: plain.frames, faults: 0 });
    }
  });

  test('several recordings of several formats are read in the order of their names', async () => {
    const frame = { at: 1_436_509_052_000, id: 0x7ff, bus: 'can1', flags: 0, length: 1, data: 'aa' };
    const entries = [
      { name: 'day10.blf', data: blf([frame], 100, true) },
      { name: 'day2.log', data: Buffer.from('(2.0) can0 002#02\n') },
      { name: 'day3.log.gz', data: gzipSync('(3.0) can0 003#03\n') },
      { name: 'car.dbc', data: Buffer.from('VERSION ""\n') },
      { name: 'empty/', data: Buffer.alloc(0) },
    ];
    const log = await openLog(fileOf(zip(entries)));
    const ids: number[] = [];
    for await (const batch of log.batches()) ids.push(...batch.id.subarray(0, batch.count));
    expect(ids).toEqual([2, 3, 0x7ff]);
    expect(log).toMatchObject({ format: 'candump', frames: 3, buses: ['can0', 'can1'], faults: { count: 0 } });
    expect(log.passedOver).toEqual(new Map([['other files in the archive', 1]]));
    expect(log.position).toBe(log.size);
    await log.close();
  });

  test('diagnostics name the entry', async () => {
    const log = await openLog(
      fileOf(zip([drive, { name: 'later.log', data: Buffer.from('(1.0) can0 1#1\n(1.0) can0 123#1\n') }])),
    );
    for await (const _ of log.batches());
    expect(log.faults.first[0]).toMatchObject({ file: expect.stringMatching(/\/later\.log$/), line: 1 });
    await log.close();
  });

  test.each([
    [
      'encrypted',
      [{ ...drive, encrypted: true }],
      /drive\.log in the archive is encrypted: unpack it with its password/,
    ],
    ['of other files', [{ name: 'a.txt', data: Buffer.from('hello\n') }], /no log of a known format: it has a\.txt$/],
    ['empty', [], /no log of a known format: it is empty$/],
    [
      'that claims terabytes',
      [{ ...drive, claimed: 2e12, zip64: true }],
      /says that it unpacks from \d+ to 2000000000000 bytes/,
    ],
  ] as const)('an archive %s causes a clear error', async (_, entries, message) => {
    await expect(openLog(fileOf(zip(entries)))).rejects.toThrow(message);
  });

  test('an entry with an unknown method is reported, and the others are read', async () => {
    const read = await readText(zip([{ ...drive, name: 'a.log', method: 'bzip2' }, drive]));
    expect(read.frames).toHaveLength(300);
    expect(read.messages).toEqual(['0: it is packed by method 12, which is not read: pack it with deflate']);
  });

  test.each([
    ['a wrong checksum', { ...drive, crc: 1 }, 'the checksum is another one'],
    [
      'fewer bytes than the archive says',
      { ...drive, claimed: small.length + 1 },
      `there are ${small.length} of ${small.length + 1} bytes`,
    ],
    [
      'more bytes than the archive says',
      { ...drive, claimed: small.length - 1 },
      `there are more than the ${small.length - 1} bytes that the archive says`,
    ],
  ] as const)('%s is reported', async (_, entry, reason) => {
    const read = await readText(zip([entry]));
    expect(read.frames.length).toBeGreaterThan(290);
    expect(read.messages.at(-1)).toBe(`0: the compressed data are broken: ${reason}`);
  });

  test('an archive cut anywhere causes a clear error', async () => {
    const archive = zip([drive, { ...drive, name: 'b.log', zip64: true }]);
    for (let cut = 4; cut < archive.length; cut += 1 + (cut >> 5)) {
      await expect(openLog(fileOf(archive.subarray(0, cut)))).rejects.toMatchObject({ code: 'input.malformed' });
    }
  });

  test('an archive from a pipe yields the same frames', async () => {
    const archive = fileOf(zip([drive]));
    const pipe = `${archive}-pipe`;
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', `cat '${archive}' > '${pipe}'`]);
    const read = await readLog(pipe);
    expect(read).toMatchObject({ format: 'candump', frames: (await readText(small)).frames, faults: 0 });
    expect(writer.exitCode ?? 0).toBe(0);
  });
});

describe('tar', () => {
  // The system's tar writes the archives: plain, with a long name, and in the GNU and POSIX formats.
  const long = `${'folder/'.repeat(20)}day3.log`;
  const frames = ['2', '3', '7ff'];

  test.each([
    ['gnu', 'cf', 'drive.tar'],
    ['posix', 'cf', 'drive.tar'],
    ['ustar', 'czf', 'drive.tar.gz'],
  ])(
    'an archive of the format %s yields the frames of its files in the order of their names (%s, %s)',
    async (kind, how, name) => {
      const folder = mkdtempSync(join(tmpdir(), 'vigie-tar-'));
      try {
        const inside = kind === 'ustar' ? 'folder/day3.log' : long;
        mkdirSync(dirname(join(folder, inside)), { recursive: true });
        writeFileSync(join(folder, 'x'), '(7.0) can1 7FF#AA\n'.repeat(100));
        writeFileSync(join(folder, 'day2.log'), '(2.0) can0 002#02\n');
        writeFileSync(join(folder, inside), '(3.0) can0 003#03\n');
        writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
        execFileSync('tar', [`--format=${kind}`, `-${how}`, name, 'x', 'folder', 'day2.log', 'car.dbc'], {
          cwd: folder,
        });
        const read = await readLog(join(folder, name));
        expect([...new Set(read.frames.map(({ id }) => id.toString(16)))]).toEqual(frames);
        expect(read).toMatchObject({ format: 'candump', faults: 0 });
        const archive = readFileSync(join(folder, name));
        const cut = name.endsWith('gz') ? archive : archive.subarray(0, archive.length - archive.length / 4);
        expect((await readLog(fileOf(cut))).frames.length).toBeGreaterThan(0);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );

  test('an archive without a log lists its contents, and a damaged one names the place of the damage', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-tar-'));
    try {
      writeFileSync(join(folder, 'a.txt'), 'hello\n');
      execFileSync('tar', ['cf', 'a.tar', 'a.txt'], { cwd: folder });
      await expect(openLog(join(folder, 'a.tar'))).rejects.toThrow(/no log of a known format: it has a\.txt$/);
      const archive = readFileSync(join(folder, 'a.tar'));
      archive.fill('x', 1024, 1536);
      await expect(openLog(fileOf(archive))).rejects.toThrow(/the tar archive is damaged: .* at byte 1024$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('unsupported containers are refused with advice', () => {
  const bytes = (hex: string): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(600, 0x2e)]);

  test.each([
    ['7z', bytes('377abcaf271c'), /7z archive, which is not read: unpack it/],
    ['RAR', bytes('526172211a0700'), /RAR archive, which is not read: unpack it/],
    ['bzip2', bytes('425a6839'), /bzip2, which is not read: unpack it/],
    ['xz', bytes('fd377a585a00'), /xz, which is not read: unpack it/],
    ['xls', bytes('d0cf11e0a1b11ae1'), /workbook \(\.xls\).* as CSV$/],
    ['xlsx', zip([{ name: 'xl/workbook.xml', data: Buffer.from('<x/>') }]), /workbook \(\.xlsx\).* as CSV$/],
    ['ods', zip([{ name: 'content.xml', data: Buffer.from('<x/>') }]), /workbook \(\.ods\).* as CSV$/],
  ])('%s', async (_, content, message) => {
    await expect(openLog(fileOf(content))).rejects.toThrow(message);
  });

  test.each(['drive.brc', 'drive.vsb', 'drive.KMF', 'drive.btr', 'drive.cld'])('%s', async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-container-'));
    try {
      writeFileSync(join(folder, name), bytes('00010203'));
      await expect(openLog(join(folder, name))).rejects.toThrow(/which is not read: export it as ASC, BLF, TRC or CSV/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('files packed by other programs are read', () => {
  const read = (name: string): Promise<Read> => readLog(join(foreign, name));

  test('zstd with one frame and with two', async () => {
    const [drive, other] = [await read('drive.log'), await read('other.log')];
    expect((await read('drive.log.zst')).frames).toEqual(drive.frames);
    expect((await read('two-frames.zst')).frames).toEqual([...drive.frames, ...other.frames]);
  });

  test('Info-ZIP with several entries, streamed with zip64, and encrypted (refused)', async () => {
    const [drive, other] = [await read('drive.log'), await read('other.log')];
    expect(await read('drive.zip')).toMatchObject({ frames: [...drive.frames, ...other.frames], faults: 0 });
    expect(await read('streamed.zip')).toMatchObject({ frames: drive.frames, faults: 0 });
    await expect(read('encrypted.zip')).rejects.toThrow(/drive\.log in the archive is encrypted/);
    expect(readFileSync(join(foreign, 'streamed.zip')).readUInt16LE(4)).toBe(45);
  });
});

/** A source that returns `bytes` `times` times. */
function repeated(bytes: Uint8Array, times: number): (into: Uint8Array) => Promise<number> {
  let at = 0;
  return async (into) => {
    const from = at % bytes.length;
    const part = at === times * bytes.length ? new Uint8Array(0) : bytes.subarray(from, from + into.length);
    into.set(part);
    at += part.length;
    return part.length;
  };
}
