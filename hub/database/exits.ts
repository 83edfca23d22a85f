/** Progress of exits, and the messages that follow, in the SQL that SQLite and PostgreSQL share. */
import type { Telemetry } from '../../protocol/schema/telemetry.ts';
import type { ExitItem, ExitPortion, ExitProgress, ExitStore, HubExitReport } from '../core/exits.ts';
import type { RegistryDatabase } from './registry.ts';
import { clockNumber, kindNumber, recordIn, type Select, type SqlRow } from './rows.ts';

/** Number of ids that one read passes at most: on SQLite it also visits messages of other kinds. */
const WINDOW = 10_000;

/** Largest number of waiting messages that a report counts. */
const MAX_COUNTED = 10_000;
const TELEMETRY = `kind = ${kindNumber('telemetry')}`;
/** Condition for exits that send each message. Plain topics send only the present values. */
const NUMBERED = "exit <> 'topics'";
const UNCONFIRMED = `${TELEMETRY} AND ${NUMBERED} AND messages.id >= exits.next`;

/** Returns SQL that adds to each exit the number of messages that it has not confirmed. `lost` selects their ids. */
export const countLost = (lost: string): string =>
  `UPDATE exits SET lost = lost + (SELECT count(*) FROM (${lost}) AS lost WHERE lost.id >= exits.next)
   WHERE ${NUMBERED}`;

/** Runs reads of messages below `end`: no commit of any hub can store a message there any more. */
export type SettledReads = <T>(from: number, read: (select: Select, end: number) => Promise<T>) => Promise<T>;

/** Only one process writes to the file, and never reuses an id. */
export function sqliteExits(select: Select): SettledReads {
  return async (_from, read) => {
    const [{ last } = {}] = await select('SELECT coalesce(max(id), 0) AS last FROM messages');
    return read(select, (last as number) + 1);
  };
}

export class SqlExits implements ExitStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write'>;
  readonly #settled: SettledReads;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write'>, settled: SettledReads) {
    this.#database = database;
    this.#settled = settled;
  }

  async open(exit: string): Promise<ExitProgress> {
    const [, rows = []] = await this.#database.write([
      ['INSERT INTO exits (exit) VALUES (?) ON CONFLICT DO NOTHING', exit],
      ['SELECT next, lost, refused FROM exits WHERE exit = ?', exit],
    ]);
    return rows[0] as unknown as ExitProgress;
  }

  read(from: number, most: number): Promise<ExitPortion> {
    return this.#settled(from, async (select, end) => {
      const to = Math.min(from + WINDOW, end);
      if (to <= from) return { items: [], next: from, end };
      const rows = await select(
        `SELECT page.id, vin, page.at, clock, payload, behind FROM (
           SELECT id, vehicle, boot, at, clock, payload FROM messages
           WHERE ${TELEMETRY} AND id >= ? AND id < ? ORDER BY id LIMIT ?) AS page
         JOIN vehicles ON vehicles.id = page.vehicle
         LEFT JOIN corrections ON corrections.vehicle = page.vehicle AND corrections.boot = page.boot
         ORDER BY page.id`,
        from,
        to,
        most,
      );
      const last = rows.at(-1)?.['id'] as number | undefined;
      return { items: rows.map(itemIn), next: last === undefined || rows.length < most ? to : last + 1, end };
    });
  }

  async save(
    exit: string,
    before: number,
    { next, refused }: Omit<ExitProgress, 'lost'>,
    now: number,
  ): Promise<number | undefined> {
    const [saved = []] = await this.#database.write([
      [
        `UPDATE exits SET next = ?, refused = ?, error = NULL, succeeded_at = ?
         WHERE exit = ? AND next = ? RETURNING lost`,
        next,
        refused,
        now,
        exit,
        before,
      ],
    ]);
    return saved[0]?.['lost'] as number | undefined;
  }

  async failed(exit: string, error: string): Promise<number> {
    const [rows = []] = await this.#database.write([
      ['UPDATE exits SET error = ? WHERE exit = ? RETURNING lost', error, exit],
    ]);
    return (rows[0]?.['lost'] as number | undefined) ?? 0;
  }

  async reports(exits: readonly HubExitReport['kind'][]): Promise<readonly HubExitReport[]> {
    if (exits.length === 0) return [];
    const rows = await this.#database.select(
      `SELECT exit, lost, refused, error, succeeded_at,
         (SELECT count(*) FROM (SELECT 1 FROM messages WHERE ${UNCONFIRMED} LIMIT ${MAX_COUNTED}) AS page) AS waiting,
         (SELECT received FROM messages WHERE ${UNCONFIRMED} ORDER BY id LIMIT 1) AS since
       FROM exits ORDER BY exit`,
    );
    return rows.map(reportIn).filter(({ kind }) => exits.includes(kind));
  }
}

function reportIn(row: SqlRow): HubExitReport {
  const { exit, lost, refused, error, waiting, since, succeeded_at: succeededAt } = row;
  const kind = exit as HubExitReport['kind'];
  const numbers = { waiting: waiting as number, lost: lost as number, refused: refused as number };
  return {
    ...{ name: kind, kind, state: error === null ? 'running' : 'waiting', ...numbers },
    ...(since === null ? {} : { waitingSince: since as number }),
    ...(error === null ? {} : { error: error as string }),
    ...(succeededAt === null ? {} : { succeededAt: succeededAt as number }),
  };
}

function itemIn(row: SqlRow): ExitItem {
  const { id, vin, clock, behind } = row;
  const isUntimed = clock === clockNumber('none') && behind === null;
  return {
    id: id as number,
    vin: vin as string,
    read: () => (isUntimed ? undefined : (recordIn(row).record as Telemetry)),
  };
}
