/** The audit trail: who asked which car for what, when, and what came of it. */
import { finalStatuses } from '../../hub/commands.ts';
import type { CarMessage } from '../../hub/message.ts';
import type { CommandState, CommandStore, KeptCommand, NewCommand } from '../../hub/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { SqliteDatabase, SqliteRow } from './sqlite.ts';

/** Commands of one page, the newest first. */
const PAGE = 100;
const COLUMNS = `SELECT commands.*, vin FROM commands JOIN vehicles ON vehicles.id = vehicle`;

export class SqliteCommandStore implements CommandStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async add(
    command: NewCommand,
    seal: (counter: number) => Uint8Array,
  ): Promise<{ kept: KeptCommand; isNew: boolean }> {
    const { id, vin, type, body, caller, requested, expires, key } = command;
    const isNew = this.#database.transaction(() => {
      const vehicle = this.#database.one('SELECT id FROM vehicles WHERE vin = ?', vin)?.['id'];
      if (vehicle === undefined) throw unknownVehicle(vin);
      const known = this.#database.one('SELECT vehicle FROM commands WHERE id = ?', id);
      if (known !== undefined && known['vehicle'] !== vehicle) {
        throw new VigieError('input.malformed', 'is the id of a command to another car', { where: 'id' });
      }
      if (known !== undefined) return false;
      const { last: counter } = this.#database.one(
        `INSERT INTO counters VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET last = max(last + 1, excluded.last) RETURNING last`,
        key,
        vehicle,
        requested,
      ) as { last: number };
      this.#database.run(
        `INSERT INTO commands (id, vehicle, type, body, caller, requested, expires, key, counter, signed)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        vehicle,
        type,
        JSON.stringify(body),
        caller,
        requested,
        expires,
        key,
        counter,
        seal(counter),
      );
      return true;
    });
    return { kept: (await this.command(vin, id)) as KeptCommand, isNew };
  }

  async pending(vin: string, now: number): Promise<readonly KeptCommand[]> {
    return this.#database
      .all(`${COLUMNS} WHERE vin = ? AND expires > ? AND NOT final ORDER BY expires, counter, commands.id`, vin, now)
      .map((row) => this.#read(row));
  }

  async command(vin: string, id: string): Promise<KeptCommand | undefined> {
    const row = this.#database.one(`${COLUMNS} WHERE commands.id = ? AND vin = ?`, id, vin);
    return row === undefined ? undefined : this.#read(row);
  }

  async commands(vin: string, before?: string): Promise<readonly KeptCommand[]> {
    const bound = before === undefined ? undefined : await this.command(vin, before);
    if (before !== undefined && bound === undefined) {
      throw new VigieError('input.malformed', 'must be the id of a command to this car', { where: 'before' });
    }
    return this.#database
      .all(
        `${COLUMNS} WHERE vin = ? AND (requested, commands.id) < (?, ?)
         ORDER BY requested DESC, commands.id DESC LIMIT ${PAGE}`,
        vin,
        bound?.requested ?? Number.MAX_SAFE_INTEGER,
        bound?.id ?? '',
      )
      .map((row) => this.#read(row));
  }

  #read(row: SqliteRow): KeptCommand {
    const id = row['id'] as string;
    const states = this.#database.all(
      'SELECT status, cause, detail, at FROM command_states WHERE command = ? ORDER BY boot, seq',
      id,
    );
    return {
      id,
      vin: row['vin'] as string,
      type: row['type'] as KeptCommand['type'],
      body: JSON.parse(row['body'] as string) as object,
      caller: row['caller'] as string,
      requested: row['requested'] as number,
      expires: row['expires'] as number,
      key: row['key'] as string,
      counter: row['counter'] as number,
      signed: row['signed'] as Uint8Array,
      states: states.map(({ status, cause, detail, at }) => ({
        status: status as CommandState['status'],
        ...(cause === null ? {} : { failureCause: cause as NonNullable<CommandState['failureCause']> }),
        ...(detail === null ? {} : { detail: detail as string }),
        at: at as number,
      })),
    };
  }
}

/** Takes a state that a car has told of one of its commands; of a command that the hub did not give it keeps nothing. */
export function keepReport(
  database: SqliteDatabase,
  vehicle: number,
  { message }: CarMessage,
  report: RemoteReport,
): void {
  const { remoteActionId: id, status, failureCause = null, detail = null } = report;
  if (database.one('SELECT 1 FROM commands WHERE id = ? AND vehicle = ?', id, vehicle) === undefined) return;
  const { boot, seq, at } = message;
  database.run(
    'INSERT INTO command_states VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    id,
    boot,
    seq,
    status,
    failureCause,
    detail,
    Math.round(at),
  );
  if (finalStatuses.has(status)) database.run('UPDATE commands SET final = 1 WHERE id = ?', id);
}

function unknownVehicle(vin: string): VigieError {
  return new VigieError(
    'request.unknown',
    `there is no vehicle "${vin}" here: the hub knows a car from its first message on`,
  );
}
