/** The keys of a group of hubs in the SQL that SQLite and PostgreSQL share. */
import type { GroupKeyStore, KeyPurpose, SealedKey, SecretProof } from '../core/group-keys.ts';
import type { RegistryDatabase, SqlStatement } from './registry.ts';
import type { SqlRow } from './rows.ts';

/** Locks the only row, so that the next statements see the keys from all earlier commits. */
const LOCK: SqlStatement = ['UPDATE group_secret SET salt = salt'];
const ADD = `INSERT INTO group_keys (id, purpose, kinds, ends, sealed, signs_from)
  SELECT ?, ?, ?, CAST(? AS BIGINT), ?,
    CASE WHEN EXISTS (SELECT 1 FROM group_keys WHERE purpose = ? AND signs_from IS NOT NULL) THEN NULL ELSE 0 END`;

export class SqlGroupKeys implements GroupKeyStore {
  readonly #database: Pick<RegistryDatabase, 'select' | 'write' | 'scrub'>;

  constructor(database: Pick<RegistryDatabase, 'select' | 'write' | 'scrub'>) {
    this.#database = database;
  }

  async proof(): Promise<SecretProof | undefined> {
    const [row] = await this.#database.select('SELECT salt, proof FROM group_secret');
    return row && { salt: row['salt'] as Uint8Array, proof: row['proof'] as Uint8Array };
  }

  async addProof({ salt, proof }: SecretProof): Promise<void> {
    const sql = 'INSERT INTO group_secret (id, salt, proof) VALUES (1, ?, ?) ON CONFLICT DO NOTHING';
    await this.#database.write([[sql, salt, proof]]);
  }

  async keys(): Promise<readonly SealedKey[]> {
    const sql = 'SELECT id, purpose, kinds, signs_from, ends, sealed FROM group_keys ORDER BY id';
    return (await this.#database.select(sql)).map(keyIn);
  }

  async add(key: SealedKey, { onlyFirst = false }: { readonly onlyFirst?: boolean } = {}): Promise<void> {
    const { id, purpose, kinds, ends = null, sealed } = key;
    const values = [id, purpose, JSON.stringify(kinds), ends, sealed, purpose] as const;
    const first: SqlStatement = [
      `${ADD} WHERE NOT EXISTS (SELECT 1 FROM group_keys WHERE purpose = ?)`,
      ...values,
      purpose,
    ];
    const unknown: SqlStatement = [`${ADD} WHERE NOT EXISTS (SELECT 1 FROM group_keys WHERE id = ?)`, ...values, id];
    await this.#database.write([LOCK, onlyFirst ? first : unknown]);
  }

  async renew(key: SealedKey, at: number, othersEnd: number | undefined): Promise<void> {
    const { id, purpose, kinds, signsFrom = at, sealed } = key;
    const end: SqlStatement[] =
      othersEnd === undefined
        ? []
        : [
            [
              'UPDATE group_keys SET ends = ? WHERE purpose = ? AND (ends IS NULL OR ends > ?)',
              othersEnd,
              purpose,
              othersEnd,
            ],
          ];
    await this.#database.scrub('group_keys', [
      LOCK,
      ['DELETE FROM group_keys WHERE ends <= ?', at],
      ...end,
      [
        'INSERT INTO group_keys (id, purpose, kinds, signs_from, sealed) VALUES (?, ?, ?, ?, ?)',
        id,
        purpose,
        JSON.stringify(kinds),
        signsFrom,
        sealed,
      ],
    ]);
  }

  async end(id: string, at: number): Promise<boolean> {
    const sql = 'UPDATE group_keys SET ends = ? WHERE id = ? AND (ends IS NULL OR ends > ?) RETURNING id';
    const [, ended = []] = await this.#database.write([LOCK, [sql, at, id, at]]);
    return ended.length > 0;
  }
}

function keyIn({ id, purpose, kinds, signs_from: signsFrom, ends, sealed }: SqlRow): SealedKey {
  return {
    id: id as string,
    purpose: purpose as KeyPurpose,
    kinds: JSON.parse(kinds as string) as string[],
    ...(signsFrom === null ? {} : { signsFrom: signsFrom as number }),
    ...(ends === null ? {} : { ends: ends as number }),
    sealed: sealed as Uint8Array,
  };
}
