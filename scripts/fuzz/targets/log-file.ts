/** Files of no known format, and gzip: recognition by content, unpacking, reading. */
import { gzipSync } from 'node:zlib';
import { openLog } from '../../../adapters/can/log/index.ts';
import type { FuzzTarget } from '../target.ts';
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
  seeds: anyLog,
  words: ['\u001f\u008b', '\ufeff', 'LOGG', ';$FILEVERSION=', '***BUSMASTER', 'base hex'],
  run: read,
};

/** Compressed after the change in half of the inputs, so that both the unpacking and what it gives are tried. */
export const logGzip: FuzzTarget = {
  name: 'log-gzip',
  seeds: () => [...anyLog(), ...anyLog().map((bytes) => gzipSync(bytes)), gzipSync(candump().repeat(20))],
  mend: (input) => (input[0] === 0x1f ? input : gzipSync(input)),
  run: read,
};
