/** Log file formats that need random access to the file. */
import { type FileFormat, fileFormats } from '../../../adapters/can/log/formats.ts';
import { openLog } from '../../../adapters/can/log/index.ts';
import { type Mdf4, mdf4 } from '../../../test/adapters/can/log/mdf4-writer.ts';
import { database, sqlite, table } from '../../../test/adapters/can/log/sqlite-writer.ts';
import { Contradiction, type FuzzTarget } from '../target.ts';
import { frames } from './logs.ts';
import { scratchFile } from './scratch-file.ts';

const plain: Mdf4 = { sorted: true, bytes: 'fixed', time: 'float', ide: 'bit', packing: 'plain' };

const seeds: Readonly<Record<FileFormat, () => Uint8Array[]>> = {
  mdf4: () => [
    mdf4(frames, plain),
    mdf4(frames, { ...plain, bytes: 'sd', packing: 'deflate', blockSize: 100, time: 'nanoseconds', ide: 'channel' }),
    mdf4(frames, { ...plain, bytes: 'mlsd', packing: 'transposed', invalidBytes: 1 }),
    mdf4(frames, { ...plain, sorted: false, bytes: 'records', blockSize: 60 }),
    mdf4(frames, { ...plain, sorted: false, bytes: 'records', bytesFirst: true, unfinished: 0x75, blockSize: 90 }),
  ],
  sqlite: () => [sqlite(frames), database([table, "INSERT INTO messages VALUES (1, 2, 0, 0, 0, 1, x'00')"])],
};

const words: Readonly<Record<FileFormat, readonly string[]>> = {
  mdf4: [
    '##HD',
    '##DG',
    '##CG',
    '##CN',
    '##CC',
    '##TX',
    '##DT',
    '##SD',
    '##DL',
    '##HL',
    '##DZ',
    '##LD',
    'UnFinMF ',
    '\0\0\0\0',
  ],
  sqlite: [
    'SQLite format 3\0',
    'CREATE TABLE messages',
    'ts',
    'arbitration_id',
    '\u0000\u0000\u0000\u0001',
    '\u00ff\u00ff\u00ff\u00ff',
  ],
};

function target(format: FileFormat): FuzzTarget {
  return {
    name: `log-${format}`,
    seeds: seeds[format],
    words: words[format],
    async run(input) {
      const log = await openLog(scratchFile(input, format), { format });
      try {
        for await (const { count, at, length } of log.batches()) {
          for (let i = 0; i < count; i++) {
            if (!Number.isFinite(at[i])) throw new Contradiction(`frame ${i} has the time ${at[i]}`);
            if ((length[i] as number) > 64) throw new Contradiction(`frame ${i} has ${length[i]} bytes`);
          }
        }
        return log.frames > 0;
      } finally {
        await log.close();
      }
    },
  };
}

export const fileLogTargets: readonly FuzzTarget[] = fileFormats.map(target);

/** Returns one file of each format. */
export function anyFileLog(): Uint8Array[] {
  return fileFormats.flatMap((format) => seeds[format]().slice(0, 1));
}
