/** Tests files of unknown format, compressed or not: detection from the contents, decompression, and reading. */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { openLog } from '../../../adapters/can/log/index.ts';
import { zip } from '../../../test/adapters/can/log/zip-writer.ts';
import type { FuzzTarget } from '../target.ts';
import { anyFileLog } from './file-logs.ts';
import { anyLog, candump } from './logs.ts';
import { scratchFile } from './scratch-file.ts';

async function read(input: Uint8Array): Promise<boolean> {
  const log = await openLog(scratchFile(input, 'log'));
  try {
    let count = 0;
    for await (const batch of log.batches()) count += batch.count;
    return count > 0;
  } finally {
    await log.close();
  }
}

export const logFile: FuzzTarget = {
  name: 'log-file',
  seeds: () => [...anyLog(), ...anyFileLog()],
  words: ['\u001f\u008b', '\ufeff', 'LOGG', ';$FILEVERSION=', '***BUSMASTER', 'base hex'],
  run: read,
};

/** Half of the inputs are compressed after mutation, to test the decompressor and also the reader of its output. */
export const logGzip: FuzzTarget = {
  name: 'log-gzip',
  seeds: () => [...anyLog(), ...anyLog().map((bytes) => gzipSync(bytes)), gzipSync(candump().repeat(20))],
  mend: (input) => (input[0] === 0x1f ? input : gzipSync(input)),
  run: read,
};

export const logZstd: FuzzTarget = {
  name: 'log-zstd',
  seeds: () => [
    ...anyLog(),
    ...anyLog().map((bytes) => zstdCompressSync(bytes)),
    zstdCompressSync(candump().repeat(20)),
  ],
  mend: (input) => (input[0] === 0x28 ? input : zstdCompressSync(input)),
  run: read,
};

export const logZip: FuzzTarget = {
  name: 'log-zip',
  seeds: () => {
    const entries = [...anyLog(), ...anyFileLog()].map((data, i) => ({ name: `${i}.log`, data }));
    const [first] = entries;
    if (first === undefined) return [];
    return [
      zip(entries),
      zip([{ ...first, zip64: true }]),
      zip(
        [
          { ...first, method: 'stored' },
          { ...first, method: 'zstd' },
        ],
        'comment',
      ),
    ];
  },
  words: [
    'PK\u0001\u0002',
    'PK\u0003\u0004',
    'PK\u0005\u0006',
    'PK\u0006\u0006',
    '\u00ff\u00ff\u00ff\u00ff',
    '\u0001\0\u0018\0',
  ],
  run: read,
};
