/** Audit trail of commands: caller, command, car, time and outcome. */

import { VigieError } from '../../../protocol/errors.ts';
import type { CommandStore, KeptCommand, NewCommand } from '../../core/ports.ts';
import { AUDIT_LOCK, appendToAudit } from '../audit.ts';
import { throughStatement } from '../command-store.ts';
import { SqlReader, unknownVehicle } from '../queries.ts';
import { numbered, type PostgresDatabase, perform } from './database.ts';

export class PostgresCommandStore extends SqlReader implements CommandStore {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    super(database.select);
    this.#database = database;
  }

  async add(
    command: NewCommand,
    seal: (counter: number) => Uint8Array,
  ): Promise<{ kept: KeptCommand; isNew: boolean }> {
    const { id, vin, type, body, caller, requested, expires, key, through } = command;
    const isNew = await this.#database.transaction(async (execute) => {
      // Lock the row, so that no other hub assigns a counter for this car at the same time.
      const [vehicle] = await execute('SELECT id FROM vehicles WHERE vin = $1 FOR NO KEY UPDATE', [vin]);
      if (vehicle === undefined) throw unknownVehicle(vin);
      const [known] = await execute('SELECT vehicle FROM commands WHERE id = $1', [id]);
      if (known !== undefined && known['vehicle'] !== vehicle['id']) {
        throw new VigieError('input.malformed', 'is the id of a command to another car', { where: 'id' });
      }
      if (known !== undefined) return false;
      const [given] = await execute(
        `INSERT INTO counters VALUES ($1, $2, $3) ON CONFLICT (key, vehicle)
         DO UPDATE SET last = greatest(counters.last + 1, excluded.last) RETURNING last`,
        [key, vehicle['id'], requested],
      );
      const counter = given?.['last'] as number;
      await execute(
        `INSERT INTO commands (id, vehicle, type, body, caller, requested, expires, key, counter, signed)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [id, vehicle['id'], type, JSON.stringify(body), caller, requested, expires, key, counter, seal(counter)],
      );
      if (through !== undefined) {
        const [sql, ...values] = throughStatement(id, through);
        await execute(numbered(sql), values);
      }
      await perform(execute, appendToAudit(AUDIT_LOCK, id));
      return true;
    });
    return { kept: (await this.command(vin, id)) as KeptCommand, isNew };
  }
}
