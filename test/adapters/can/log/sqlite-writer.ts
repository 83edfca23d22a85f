/** Writes SQLite databases in the format of python-can, with the SQLite module of Node. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ERROR, EXTENDED, FD, REMOTE } from '../../../../agent/ports.ts';
import type { Frame } from './frames.ts';

/** The table that python-can creates. */
export const table =
  'CREATE TABLE messages (ts REAL, arbitration_id INTEGER, extended INTEGER, remote INTEGER, error INTEGER, dlc INTEGER, data BLOB)';

/** The bytes of a database made by these statements, with `frames` added to its table `messages`. */
export function database(statements: readonly string[], frames: readonly Frame[] = []): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-sqlite-'));
  const path = join(folder, 'log.db');
  try {
    const made = new DatabaseSync(path);
    for (const statement of statements) made.exec(statement);
    if (frames.length > 0) {
      made.exec('BEGIN');
      const insert = made.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)');
      for (const { at, id, length, data } of frames) {
        const flags = [EXTENDED, REMOTE, ERROR].map((mask) => ((id & mask) !== 0 ? 1 : 0));
        const bytes = (id & REMOTE) !== 0 ? '' : data;
        insert.run(at / 1000, id & 0x1fff_ffff, ...flags, length, Buffer.from(bytes, 'hex'));
      }
      made.exec('COMMIT');
    }
    made.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function sqlite(frames: readonly Frame[]): Buffer {
  return database([table], frames);
}

/** The frames as the format can represent them: without a bus, and with FD only for more than 8 bytes. */
export function asStored(frames: readonly Frame[]): Frame[] {
  return frames.map((frame) => ({ ...frame, bus: 'can0', flags: frame.length > 8 ? FD : 0 }));
}
