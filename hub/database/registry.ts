/** The registry in the SQL that SQLite and PostgreSQL share. */

import { DAY } from '../../protocol/calendar.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import { VigieError } from '../../protocol/errors.ts';
import { hexOf } from '../../protocol/signals/hash.ts';
import { catalogTopic } from '../../protocol/topics.ts';
import type {
  Enrolment,
  Erasure,
  IssuedCertificate,
  IssuedToken,
  KnownOwner,
  Owner,
  OwnerKind,
  RegisteredCar,
  Registry,
} from '../core/registry.ts';
import { forgottenDigest } from './forgotten.ts';
import type { Select, SqlRow, SqlValue } from './queries.ts';
import { kindNumber } from './rows.ts';

/** A statement, with a value for each `?`. */
export type SqlStatement = readonly [sql: string, ...values: SqlValue[]];

/** Operations of a database that the registry needs. */
export interface RegistryDatabase {
  readonly select: Select;
  /** Executes all statements in one commit. Returns the rows of each. Rejects with `store.failed`. */
  write(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** As {@link write}, but without checks for rows that refer to deleted ones: `records` has no index for these. */
  erase(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** Removes all deleted data from the files. Rejects with `store.failed`. */
  compact(): Promise<void>;
  /** As {@link write}, for one small table. Removes from its files all data that the statements replace. */
  scrub(table: string, statements: readonly SqlStatement[]): Promise<void>;
}

/** Number of cars in one read. */
const CARS = 1_000;
/** Largest number of rows deleted in one commit, because hubs wait for the commit. */
const BATCH = 10_000;

/** Time in ms for which expired tokens remain listed. By then they have expired according to the clock of every hub. */
const TOKENS_LISTED = 30 * DAY;

/** Returns a row if the registry is in use. */
export const IN_USE = "SELECT 1 FROM owners WHERE kind IN ('fleet', 'user') LIMIT 1";
const CHANGED: SqlStatement = ['UPDATE registry_version SET version = version + 1'];
const VEHICLE = '(SELECT id FROM vehicles WHERE vin = ?)';

export class SqlRegistry implements Registry {
  readonly #database: RegistryDatabase;

  constructor(database: RegistryDatabase) {
    this.#database = database;
  }

  async inUse(): Promise<boolean> {
    return (await this.#database.select(IN_USE)).length > 0;
  }

  async add(vin: string, owners: readonly Owner[], at: number): Promise<void> {
    await this.#database.write([
      ['INSERT INTO cars (vin, added) VALUES (?, ?) ON CONFLICT (vin) DO UPDATE SET removed = NULL', vin, at],
      ...owners.flatMap(({ kind, id }): SqlStatement[] => [
        ['INSERT INTO owners (kind, id, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', kind, id, at],
        ['INSERT INTO owned_cars (kind, owner, vin) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', kind, id, vin],
      ]),
      ['DELETE FROM forgotten_cars WHERE digest = ?', forgottenDigest(vin)],
      monitorsDue(vin, at),
      CHANGED,
    ]);
  }

  async leave(vin: string, owners: readonly Owner[], at: number): Promise<void> {
    const [known = []] = await this.#database.write([
      ['SELECT vin FROM cars WHERE vin = ?', vin],
      ...owners.map(
        ({ kind, id }): SqlStatement => [
          'DELETE FROM owned_cars WHERE kind = ? AND owner = ? AND vin = ?',
          kind,
          id,
          vin,
        ],
      ),
      monitorsDue(vin, at),
      CHANGED,
    ]);
    if (known.length === 0) throw unregistered(vin);
    // These owners may no longer see data of the car: remove its events that wait for them.
    for (const owner of owners) await this.#forgetDeliveries(vin, owner);
  }

  async setPassword(vin: string, digest?: string): Promise<void> {
    await this.#database.write([['UPDATE cars SET password = ? WHERE vin = ?', digest ?? null, vin], CHANGED]);
  }

  async password(vin: string): Promise<string | undefined> {
    const [row] = await this.#database.select('SELECT password FROM cars WHERE vin = ?', vin);
    return (row?.['password'] as string | null | undefined) ?? undefined;
  }

  async setToken(vin: string, digest: string, expires: number): Promise<void> {
    const sql = 'UPDATE cars SET token = ?, token_expires = ?, token_key = NULL WHERE vin = ?';
    await this.#database.write([[sql, digest, expires, vin]]);
  }

  async takeToken({ vin, token, key, at }: Enrolment): Promise<boolean> {
    const sql = `UPDATE cars SET token_key = ? WHERE vin = ? AND removed IS NULL AND token = ? AND token_expires > ?
      AND (token_key IS NULL OR token_key = ?) RETURNING vin`;
    const [taken = []] = await this.#database.write([[sql, key, vin, token, at, key]]);
    return taken.length > 0;
  }

  async certify({ serial, vin, issued, expires }: IssuedCertificate, kept = ''): Promise<void> {
    await this.#database.write([
      ['UPDATE certificates SET revoked = ? WHERE vin = ? AND revoked IS NULL AND serial <> ?', issued, vin, kept],
      ['INSERT INTO certificates (serial, vin, issued, expires) VALUES (?, ?, ?, ?)', serial, vin, issued, expires],
      CHANGED,
    ]);
  }

  async certificate(serial: string): Promise<IssuedCertificate | undefined> {
    const sql = 'SELECT serial, vin, issued, expires, revoked FROM certificates WHERE serial = ? AND vin IS NOT NULL';
    const [row] = await this.#database.select(sql, serial);
    return row && ({ ...revocationIn(row), vin: row['vin'] as string } satisfies IssuedCertificate);
  }

  async revoked(now: number): Promise<readonly Revocation[]> {
    const sql = 'SELECT serial, issued, expires, revoked FROM certificates WHERE revoked IS NOT NULL AND expires > ?';
    const revoked = (await this.#database.select(sql, now)).map(revocationIn);
    return revoked.sort((a, b) => (a.serial < b.serial ? -1 : 1));
  }

  async addToken({ id, name, fleets, scopes, issued, expires }: IssuedToken): Promise<void> {
    await this.#database.write([
      ['DELETE FROM tokens WHERE expires < ?', issued - TOKENS_LISTED],
      [
        'INSERT INTO tokens (id, name, fleets, scopes, issued, expires) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        name,
        fleets === undefined ? null : JSON.stringify(fleets),
        JSON.stringify(scopes),
        issued,
        expires,
      ],
      CHANGED,
    ]);
  }

  async tokens(): Promise<readonly IssuedToken[]> {
    return (await this.#database.select('SELECT * FROM tokens ORDER BY issued, id')).map(tokenIn);
  }

  async withdrawToken(id: string, at: number): Promise<boolean> {
    const sql = 'UPDATE tokens SET withdrawn = ? WHERE id = ? AND withdrawn IS NULL RETURNING id';
    const [withdrawn = []] = await this.#database.write([[sql, at, id], CHANGED]);
    return withdrawn.length > 0;
  }

  async issuedTokens(): Promise<ReadonlySet<string>> {
    const rows = await this.#database.select('SELECT id FROM tokens WHERE withdrawn IS NULL');
    return new Set(rows.map(({ id }) => id as string));
  }

  async remove(vin: string, at: number): Promise<void> {
    const [updated = []] = await this.#database.write([
      [
        'UPDATE cars SET removed = coalesce(removed, ?), password = NULL, token = NULL WHERE vin = ? RETURNING vin',
        at,
        vin,
      ],
      ['UPDATE certificates SET revoked = ? WHERE vin = ? AND revoked IS NULL', at, vin],
      CHANGED,
    ]);
    if (updated.length === 0) throw unregistered(vin);
  }

  async forget(vin: string, at: number): Promise<boolean> {
    const topics = JSON.stringify(await this.#catalogTopics(vin));
    // After the first commit the car may not send. Its data is deleted in parts, because hubs wait for each commit.
    const wasForgotten = await this.isForgotten(vin);
    const [cars = []] = await this.#database.write([
      ['UPDATE cars SET removed = coalesce(removed, ?) WHERE vin = ? RETURNING vin', at, vin],
      [
        `INSERT INTO forgotten_cars (digest, at, vin, topics) VALUES (?, ?, ?, ?)
         ON CONFLICT (digest) DO UPDATE SET vin = excluded.vin, topics = excluded.topics`,
        forgottenDigest(vin),
        at,
        vin,
        topics,
      ],
      CHANGED,
    ]);
    let erased = cars.length > 0;
    // A hub may have begun a commit before the first one, and may finish it after the car was erased.
    do {
      if (await this.#erase(vin, at)) erased = true;
      await this.#database.compact();
    } while (await this.#isStored(vin));
    if (!erased && !wasForgotten) {
      await this.#database.write([['DELETE FROM forgotten_cars WHERE digest = ?', forgottenDigest(vin)]]);
    }
    return erased;
  }

  async #isStored(vin: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM vehicles WHERE vin = ? UNION ALL SELECT 1 FROM unregistered_cars WHERE vin = ?';
    return (await this.#database.select(sql, vin, vin)).length > 0;
  }

  /** Returns the retained topics of catalogs, which have different names for each car. */
  async #catalogTopics(vin: string): Promise<readonly string[]> {
    const sql = `SELECT payload FROM messages WHERE vehicle = ${VEHICLE} AND class = ? AND kind = ?`;
    const rows = await this.#database.select(sql, vin, classOf('catalog'), kindNumber('catalog'));
    const topics = rows.flatMap(({ payload }) => {
      const message = decodeMessage(payload as Uint8Array);
      return message.kind === 'catalog' ? [catalogTopic(vin, hexOf(message.body.catalog), message.body.part)] : [];
    });
    return [...new Set(topics)];
  }

  /** @returns true if there was something to erase */
  async #erase(vin: string, at: number): Promise<boolean> {
    const inParts = async (table: string, key: string): Promise<void> => {
      const sql = `DELETE FROM ${table} WHERE vehicle = ${VEHICLE} AND (${key}) IN
        (SELECT ${key} FROM ${table} WHERE vehicle = ${VEHICLE} LIMIT ${BATCH}) RETURNING vehicle`;
      for (;;) {
        // Locks the car, as hubs do before they store its records.
        const lock: SqlStatement = ['UPDATE vehicles SET changed = changed WHERE vin = ?', vin];
        const [, deleted = []] = await this.#database.erase([lock, [sql, vin, vin]]);
        if (deleted.length === 0) return;
      }
    };
    await this.#forgetDeliveries(vin);
    await inParts('records', 'collection, id');
    await inParts('messages', 'class, seq, boot');
    await inParts('readings', 'path');
    const ofVehicle = (table: string): SqlStatement => [`DELETE FROM ${table} WHERE vehicle = ${VEHICLE}`, vin];
    const erased = await this.#database.erase([
      // This comes first, in the order in which hubs take in messages of a car, so that they cannot deadlock.
      ['DELETE FROM unregistered_cars WHERE vin = ? RETURNING vin', vin],
      ['DELETE FROM unregistered_messages WHERE vin = ? RETURNING vin', vin],
      ['DELETE FROM owned_cars WHERE vin = ?', vin],
      ['UPDATE certificates SET revoked = coalesce(revoked, ?), vin = NULL WHERE vin = ?', at, vin],
      ['DELETE FROM cars WHERE vin = ?', vin],
      ['DELETE FROM monitors WHERE vin = ?', vin],
      [
        `DELETE FROM receivers WHERE waiting = 0 AND monitor IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM monitors WHERE id = receivers.monitor)`,
      ],
      ['DELETE FROM rollout_cars WHERE vin = ?', vin],
      // The digests stay, so that the chain of the audit trail (`audit.ts`) still verifies.
      [
        `UPDATE audit SET command = NULL, salt = NULL
         WHERE command IN (SELECT id FROM commands WHERE vehicle = ${VEHICLE})`,
        vin,
      ],
      ...['command_states', 'callback_commands'].map(
        (table): SqlStatement => [
          `DELETE FROM ${table} WHERE command IN (SELECT id FROM commands WHERE vehicle = ${VEHICLE})`,
          vin,
        ],
      ),
      ...[
        'car_monitors',
        'reported_monitors',
        'configurations',
        'trusted_keys',
        'commands',
        'counters',
        'records',
        'corrections',
        'numbers',
        'lives',
        'status',
        'messages',
        'readings',
      ].map(ofVehicle),
      ["DELETE FROM refused WHERE topic LIKE '%' || ? || '%' RETURNING id", vin],
      CHANGED,
      ['DELETE FROM vehicles WHERE vin = ? RETURNING id', vin],
    ]);
    return erased.some((rows) => rows.length > 0);
  }

  async isForgotten(vin: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM forgotten_cars WHERE digest = ?';
    return (await this.#database.select(sql, forgottenDigest(vin))).length > 0;
  }

  async erasures(): Promise<readonly Erasure[]> {
    const rows = await this.#database.select(
      'SELECT vin, topics FROM forgotten_cars WHERE vin IS NOT NULL ORDER BY vin',
    );
    return rows.map(({ vin, topics }) => ({ vin: vin as string, topics: JSON.parse(topics as string) as string[] }));
  }

  async cleared(vin: string): Promise<void> {
    const sql = "UPDATE forgotten_cars SET vin = NULL, topics = '[]' WHERE digest = ?";
    await this.#database.scrub('forgotten_cars', [[sql, forgottenDigest(vin)]]);
  }

  async clearAgain(vin: string): Promise<void> {
    await this.#database.write([['UPDATE forgotten_cars SET vin = ? WHERE digest = ?', vin, forgottenDigest(vin)]]);
  }

  /** Removes the car's waiting events, for one owner or for all. One commit per receiver, because hubs wait for it. */
  async #forgetDeliveries(vin: string, owner?: Owner): Promise<void> {
    const sql = `SELECT DISTINCT receiver FROM deliveries WHERE vehicle = ${VEHICLE}`;
    const whose = owner === undefined ? '' : ' AND kind = ? AND owner = ?';
    for (const { receiver } of await this.#database.select(sql, vin)) {
      const own = [receiver as string, ...(owner === undefined ? [] : [owner.kind, owner.id])];
      await this.#database.write([
        // Locks the row, so that the next statements see all commits until then.
        [`UPDATE receivers SET waiting = waiting WHERE key = ?${whose}`, ...own],
        [
          `DELETE FROM deliveries WHERE vehicle = ${VEHICLE} AND receiver IN (SELECT key FROM receivers WHERE key = ?${whose})`,
          vin,
          ...own,
        ],
        [
          `UPDATE receivers SET waiting = (SELECT count(*) FROM deliveries WHERE receiver = receivers.key) WHERE key = ?${whose}`,
          ...own,
        ],
      ]);
    }
  }

  async end(at: number): Promise<void> {
    const monitored = await this.#database.select(
      `SELECT DISTINCT monitors.kind AS kind, owner FROM monitors
       JOIN owners ON owners.kind = monitors.kind AND owners.id = monitors.owner ORDER BY 1, 2`,
    );
    if (monitored.length > 0) {
      const names = monitored.map(({ kind, owner }) => `${kind} ${owner}`).join(', ');
      throw new VigieError(
        'usage.wrong',
        `monitors of ${names} would then be for all cars: delete them at the interface first`,
      );
    }
    await this.#database.write([
      ["DELETE FROM owned_cars WHERE kind IN ('fleet', 'user')"],
      ['UPDATE certificates SET revoked = coalesce(revoked, ?), vin = NULL', at],
      ['UPDATE tokens SET withdrawn = coalesce(withdrawn, ?)', at],
      ['DELETE FROM cars WHERE vin NOT IN (SELECT vin FROM owned_cars)'],
      ["DELETE FROM owners WHERE kind IN ('fleet', 'user')"],
      CHANGED,
    ]);
  }

  async cars(): Promise<readonly RegisteredCar[]> {
    const cars: RegisteredCar[] = [];
    for (let after = ''; ; ) {
      const sql = `SELECT vin, added, removed FROM cars WHERE vin > ? ORDER BY vin LIMIT ${CARS}`;
      const rows = await this.#database.select(sql, after);
      const last = (rows.at(-1)?.['vin'] ?? after) as string;
      const owned = await this.#database.select(
        'SELECT kind, owner, vin FROM owned_cars WHERE vin > ? AND vin <= ? ORDER BY vin, kind, owner',
        after,
        last,
      );
      const byVin = new Map<SqlValue, SqlRow[]>();
      for (const row of owned) byVin.set(row['vin'] as string, [...(byVin.get(row['vin'] as string) ?? []), row]);
      cars.push(...rows.map((row) => carIn(row, byVin.get(row['vin'] as string) ?? [])));
      if (rows.length < CARS) return cars;
      after = last;
    }
  }

  async car(vin: string): Promise<RegisteredCar | undefined> {
    const [row] = await this.#database.select('SELECT vin, added, removed FROM cars WHERE vin = ?', vin);
    if (row === undefined) return undefined;
    const owned = 'SELECT kind, owner, vin FROM owned_cars WHERE vin = ? ORDER BY kind, owner';
    return carIn(row, await this.#database.select(owned, vin));
  }

  async owners(kind: OwnerKind): Promise<readonly KnownOwner[]> {
    const rows = await this.#database.select('SELECT id, created FROM owners WHERE kind = ? ORDER BY id', kind);
    return rows.map(({ id, created }) => ({ kind, id: id as string, created: created as number }));
  }

  async owns({ kind, id }: Owner, vin: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM owned_cars WHERE kind = ? AND owner = ? AND vin = ?';
    return (await this.#database.select(sql, kind, id, vin)).length > 0;
  }

  async version(): Promise<number> {
    const [row] = await this.#database.select('SELECT version FROM registry_version');
    return row?.['version'] as number;
  }
}

/** Marks a car as due for comparison of its monitors, which depend on its owners. */
function monitorsDue(vin: string, at: number): SqlStatement {
  return [`UPDATE car_monitors SET due = ?, attempts = 0 WHERE vehicle = ${VEHICLE}`, at, vin];
}

function tokenIn({ id, name, fleets, scopes, issued, expires, withdrawn }: SqlRow): IssuedToken {
  return {
    id: id as string,
    name: name as string,
    ...(fleets === null ? {} : { fleets: JSON.parse(fleets as string) as string[] }),
    scopes: JSON.parse(scopes as string) as string[],
    issued: issued as number,
    expires: expires as number,
    ...(withdrawn === null ? {} : { withdrawn: withdrawn as number }),
  };
}

type Revocation = Omit<IssuedCertificate, 'vin'>;

function revocationIn({ serial, issued, expires, revoked }: SqlRow): Revocation {
  return {
    serial: serial as string,
    issued: issued as number,
    expires: expires as number,
    ...(revoked === null ? {} : { revoked: revoked as number }),
  };
}

/** Returns the error for a car that is not in the registry. */
function unregistered(vin: string): VigieError {
  return new VigieError('request.unknown', `the car "${vin}" is not registered: vigie hub list shows those that are`);
}

function carIn({ vin, added, removed }: SqlRow, owned: readonly SqlRow[]): RegisteredCar {
  const of = (kind: OwnerKind): readonly string[] =>
    owned.filter((row) => row['kind'] === kind).map(({ owner }) => owner as string);
  return {
    vin: vin as string,
    added: added as number,
    ...(removed === null ? {} : { removed: removed as number }),
    fleets: of('fleet'),
    users: of('user'),
  };
}
