/** Size of the database, and free space on its disk. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DiskReader } from '../core/trends.ts';
import type { Select, SqlRow } from './rows.ts';

const numberIn = (rows: readonly SqlRow[]): number => Number(Object.values(rows[0] ?? {})[0] ?? 0);

/** An SQLite file. Its write-ahead log is not counted: it is emptied again. */
export function sqliteDisk(select: Select, file: string): DiskReader {
  return {
    usage: async () => {
      const pages = numberIn(await select('PRAGMA page_count')) - numberIn(await select('PRAGMA freelist_count'));
      const { bsize, bavail, blocks } = await statfs(dirname(file));
      const pageSize = numberIn(await select('PRAGMA page_size'));
      return { bytes: pages * pageSize, free: bavail * bsize, total: blocks * bsize };
    },
  };
}

/** A PostgreSQL database. SQL cannot read the free space of its disk. */
export function postgresDisk(select: Select): DiskReader {
  return { usage: async () => ({ bytes: numberIn(await select('SELECT pg_database_size(current_database())')) }) };
}
