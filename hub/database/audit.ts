/**
 * Chain of digests over the audit trail. The digest of an entry follows from that of the previous one and from a salted
 * digest of the command, so that a command that somebody alters, deletes or inserts later breaks the chain. Forgetting a
 * car erases its commands and the salts of their entries: the digests stay, and say nothing about what was erased.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hexOf } from '../../protocol/signals/hash.ts';
import type { AuditReport } from '../core/audit.ts';
import { auditTable, type SqlTypes } from './format.ts';
import type { Select, SqlRow, SqlValue } from './rows.ts';
import type { SqlSteps } from './steps.ts';

/** Key of pg_advisory_xact_lock, "audi": two hubs that append at the same time take turns. */
const LOCK = 'SELECT pg_advisory_xact_lock(1635083369)';
/** Lock statement of the database; empty for SQLite, in which one commit runs at a time. */
export type AuditLock = '' | typeof LOCK;
export const AUDIT_LOCK: AuditLock = LOCK;

/** Number of entries in one read. */
const PAGE = 1_000;
/** Digest before the first entry. */
const START = '0'.repeat(64);

/** Columns of a command that an entry covers, in this order. */
const CONTENT = ['id', 'vin', 'type', 'body', 'caller', 'requested', 'expires', 'key', 'counter', 'signed'] as const;
const COMMANDS = `SELECT commands.*, vin FROM commands JOIN vehicles ON vehicles.id = commands.vehicle`;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Digest of the covered columns of a command. `salt` keeps it from confirming a guess after the command was erased. */
function contentDigest(row: SqlRow, salt: SqlValue): string {
  const values = CONTENT.map((name) => {
    const value = row[name];
    return value instanceof Uint8Array ? hexOf(value) : value;
  });
  return sha256(JSON.stringify([salt, ...values]));
}

const chained = (seq: number, previous: string, content: SqlValue): string => sha256(`${seq} ${previous} ${content}`);

/** Appends commands without an entry: the one with this id, or all, oldest first. Run it in the commit of the command. */
export function* appendToAudit(lock: AuditLock, id?: string): SqlSteps<void> {
  if (lock !== '') yield [lock];
  const rows = yield id === undefined
    ? [
        `${COMMANDS} WHERE commands.id NOT IN (SELECT command FROM audit WHERE command IS NOT NULL) ORDER BY requested, commands.id`,
      ]
    : [`${COMMANDS} WHERE commands.id = ?`, id];
  const [last] = yield ['SELECT seq, digest FROM audit WHERE seq > 0 ORDER BY seq DESC LIMIT 1'];
  let [seq, digest] = [(last?.['seq'] as number | undefined) ?? 0, (last?.['digest'] as string | undefined) ?? START];
  for (const row of rows) {
    const salt = randomBytes(16).toString('hex');
    const content = contentDigest(row, salt);
    digest = chained(++seq, digest, content);
    yield [
      'INSERT INTO audit (seq, command, salt, content, digest) VALUES (?, ?, ?, ?, ?)',
      ...[seq, row['id'] as string, salt, content, digest],
    ];
  }
}

/** Makes the table, with entries for the commands so far, in a database that has none. `exists`: query for the table. */
export function* ensureAudit(lock: AuditLock, types: SqlTypes, exists: string): SqlSteps<void> {
  if (lock !== '') yield [lock];
  if ((yield [exists]).length > 0) return;
  yield [auditTable(types)];
  yield* appendToAudit(lock);
}

/**
 * Checks the chain and the commands. Rejects with `store.failed` if the database does not answer.
 * @param known digest of an earlier check: the chain must contain it, so that an end that was cut off is found. Entries
 * up to the one with this digest may have been removed, except that one.
 */
export async function verifyAudit(select: Select, known?: string): Promise<AuditReport> {
  const [first] = await select('SELECT seq, digest FROM audit WHERE seq > 0 ORDER BY seq LIMIT 1');
  const isCut = first !== undefined && first['seq'] !== 1 && first['digest'] === known;
  let [seq, digest] = isCut ? [first['seq'] as number, known as string] : [0, START];
  let isKnown = known === undefined || isCut;
  let [entries, erased] = [0, 0];
  const report = (broken?: string): AuditReport => {
    return { entries, erased, seq, digest, ...(broken !== undefined && { broken }) };
  };
  for (;;) {
    const rows = await select(
      `SELECT seq, command, salt, content, digest, commands.*, vin FROM audit
       LEFT JOIN commands ON commands.id = audit.command LEFT JOIN vehicles ON vehicles.id = commands.vehicle
       WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`,
      seq,
    );
    for (const row of rows) {
      const fault = faultIn(row, seq, digest);
      if (fault !== undefined) return report(fault);
      entries++;
      if (row['command'] === null) erased++;
      [seq, digest] = [row['seq'] as number, row['digest'] as string];
      isKnown ||= digest === known;
    }
    if (rows.length < PAGE) break;
  }
  const [extra] = await select(
    'SELECT id FROM commands WHERE NOT EXISTS (SELECT 1 FROM audit WHERE audit.command = commands.id) LIMIT 1',
  );
  if (!isKnown)
    return report(`the known digest is not in the chain: entries were deleted at its end, or all were written again`);
  return report(extra && `the command ${extra['id']} has no entry: it was inserted, or its entry was deleted`);
}

/** @param seq position of the previous entry, and `previous` its digest */
function faultIn(row: SqlRow, seq: number, previous: string): string | undefined {
  const { seq: found, command, salt, content, digest } = row;
  if (found !== seq + 1) return `entry ${seq + 1} was deleted`;
  const name = `entry ${found}${command === null ? '' : ` (command ${command})`}`;
  if (digest !== chained(seq + 1, previous, content as string)) {
    return `${name} does not follow from the entry before: one of the two was altered`;
  }
  if (command === null && salt === null) return undefined;
  if (row['id'] === null) return `${name}: the command was deleted`;
  return contentDigest(row, salt as string) === content ? undefined : `${name}: the command was altered`;
}
