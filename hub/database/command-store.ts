/** Audit trail of commands: caller, command, car, time and outcome. */

import { VigieError } from '../../protocol/errors.ts';
import type { HelloKey } from '../../protocol/schema/hello.ts';
import { finalStatuses } from '../../protocol/schema/remote.ts';
import type { CommitChanges } from '../core/commit.ts';
import type { CallbackCommand, CallbackOrder, CommandStore, KeptCommand, NewCommand } from '../core/ports.ts';
import { appendToAudit } from './audit.ts';
import { SqlReader, unknownVehicle } from './queries.ts';
import type { SqlStatement } from './registry.ts';
import type { SqliteDatabase } from './sqlite.ts';

export class SqliteCommandStore implements CommandStore {
  readonly #database: SqliteDatabase;

  readonly #reader: SqlReader;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#reader = new SqlReader(database.select);
  }

  async add(
    command: NewCommand,
    seal: (counter: number) => Uint8Array,
  ): Promise<{ kept: KeptCommand; isNew: boolean }> {
    const { id, vin, type, body, caller, requested, expires, key, through } = command;
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
      if (through !== undefined) this.#database.run(...throughStatement(id, through));
      this.#database.perform(appendToAudit('', id));
      return true;
    });
    return { kept: (await this.command(vin, id)) as KeptCommand, isNew };
  }

  pending(vin: string, now: number): Promise<readonly KeptCommand[]> {
    return this.#reader.pending(vin, now);
  }

  command(vin: string, id: string): Promise<KeptCommand | undefined> {
    return this.#reader.command(vin, id);
  }

  commands(vin: string, before?: string): Promise<readonly KeptCommand[]> {
    return this.#reader.commands(vin, before);
  }

  answeredKey(vin: string): Promise<string | undefined> {
    return this.#reader.answeredKey(vin);
  }

  trustedKeys(vin: string): Promise<readonly HelloKey[] | undefined> {
    return this.#reader.trustedKeys(vin);
  }

  throughCallback(vin: string, callbackId: string, id?: string): Promise<readonly CallbackCommand[]> {
    return this.#reader.throughCallback(vin, callbackId, id);
  }
}

/** Returns a statement that stores the callback of a command. */
export function throughStatement(id: string, { owner, callbackId, remote, contents }: CallbackOrder): SqlStatement {
  return [
    'INSERT INTO callback_commands (command, kind, owner, callback, remote, contents) VALUES (?, ?, ?, ?, ?, ?)',
    id,
    owner.kind,
    owner.id,
    callbackId,
    JSON.stringify(remote),
    JSON.stringify(contents),
  ];
}

/** Stores the states of commands that cars reported. Ignores unknown commands. */
export function keepReports(database: SqliteDatabase, reports: CommitChanges['reports']): void {
  for (const { vehicle, message } of reports) {
    const { boot, seq, at, body } = message;
    const { remoteActionId: id, status, failureCause = null, detail = null } = body;
    if (database.one('SELECT 1 FROM commands WHERE id = ? AND vehicle = ?', id, vehicle) === undefined) continue;
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
}
