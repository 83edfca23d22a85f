/** Versions of Node without a module that a format needs. A separate file, because it loads the readers again. */
import { zstdCompressSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { fileOf } from './frames.ts';

test('if Node lacks zstd, the error is one line', async () => {
  vi.resetModules();
  vi.doMock('node:zlib', async (original) => ({ ...(await original<object>()), createZstdDecompress: undefined }));
  try {
    const older = await import('../../../../adapters/can/log/index.ts');
    await expect(older.openLog(fileOf(zstdCompressSync('(1.0) can0 123#11\n')))).rejects.toThrow(
      /zstd, which Node \S+ cannot unpack: use Node 22\.15 or newer, or unpack it \(zstd -d\)$/,
    );
  } finally {
    vi.doUnmock('node:zlib');
    vi.resetModules();
  }
});

test('if Node lacks SQLite, the error is one line', async () => {
  vi.resetModules();
  vi.doMock('node:sqlite', () => {
    throw new Error('No such built-in module: node:sqlite');
  });
  try {
    const older = await import('../../../../adapters/can/log/index.ts');
    await expect(older.openLog(fileOf('SQLite format 3\0'))).rejects.toThrow(
      /: it is an SQLite database, which Node \S+ cannot read: use Node 22\.13 or newer$/,
    );
  } finally {
    vi.doUnmock('node:sqlite');
    vi.resetModules();
  }
});
