/** Chain of digests over the audit trail: any later change of a command is found, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NewCommand } from '../../hub/core/ports.ts';
import { verifyAudit } from '../../hub/database/audit.ts';
import type { RegistryDatabase } from '../../hub/database/registry.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';

export interface AuditedHub {
  readonly hub: HubDatabase;
  /** A second hub on the same database. */
  readonly other: HubDatabase;
  /** Direct access, as somebody has who may write to the database. */
  readonly raw: RegistryDatabase;
  /** Opens the database once more. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

const order = (id: string, vin: string = ONE): NewCommand => ({
  ...{ id, vin, type: 'Doors', body: { state: 'Locked' }, caller: 'anna', key: 'aa' },
  ...{ requested: NOON, expires: NOON + 120_000 },
});
const seal = (counter: number): Uint8Array => Uint8Array.of(counter % 256);

export function hubAuditContract(name: string, open: () => Promise<AuditedHub>): void {
  describe(`the audit trail on ${name}`, () => {
    let made: AuditedHub;
    const verify = (known?: string) => verifyAudit(made.raw.select, known);
    const change = (sql: string) => made.raw.write([[sql]]);
    beforeEach(async () => {
      made = await open();
      await made.hub.store.save([received('trip', trip('a')), received('trip', trip('b'), { vin: OTHER })], []);
      for (const [id, vin] of [
        ['a1', ONE],
        ['a2', OTHER],
        ['a3', ONE],
        ['a4', OTHER],
      ] as const) {
        await made.hub.audit.add(order(id, vin), seal);
      }
    });
    afterEach(() => made.close());

    test('commands of two hubs at once form one intact chain, and a repeated command adds no entry', async () => {
      const ids = Array.from({ length: 12 }, (_, index) => `b${index}`);
      await Promise.all(
        ids.map((id, index) => (index % 2 ? made.hub : made.other).audit.add(order(id, index % 3 ? ONE : OTHER), seal)),
      );
      await made.other.audit.add(order('b1', ONE), seal);
      const report = await verify();
      expect(report).toMatchObject({ entries: 16, erased: 0, seq: 16 });
      expect(report.broken).toBeUndefined();
    });

    test.each([
      [
        'an altered command',
        "UPDATE commands SET caller = 'eve' WHERE id = 'a2'",
        'entry 2 (command a2): the command was altered',
      ],
      ['a deleted command', "DELETE FROM commands WHERE id = 'a3'", 'entry 3 (command a3): the command was deleted'],
      ['a deleted entry', 'DELETE FROM audit WHERE seq = 2', 'entry 2 was deleted'],
      ['a deleted first entry', 'DELETE FROM audit WHERE seq = 1', 'entry 1 was deleted'],
      ['an altered digest', "UPDATE audit SET content = 'f' WHERE seq = 3", 'entry 3 (command a3) does not follow'],
      [
        'an altered entry',
        "UPDATE audit SET command = 'a9' WHERE seq = 4",
        'entry 4 (command a9): the command was deleted',
      ],
      ['a deleted last entry', 'DELETE FROM audit WHERE seq = 4', 'the command a4 has no entry'],
      [
        'an inserted command',
        `INSERT INTO commands (id, vehicle, type, body, caller, requested, expires, key, counter, signed)
         SELECT 'x1', vehicle, type, body, caller, requested, expires, key, counter, signed FROM commands WHERE id = 'a1'`,
        'the command x1 has no entry',
      ],
    ])('%s is found, and the first broken entry is named', async (_what, sql, broken) => {
      await change(sql);
      expect((await verify()).broken).toContain(broken);
    });

    test('a trail whose end was cut off lacks the digest of an earlier check', async () => {
      const { digest } = await verify();
      await made.raw.write([['DELETE FROM audit WHERE seq = 4'], ["DELETE FROM commands WHERE id = 'a4'"]]);
      expect((await verify()).broken).toBeUndefined();
      expect((await verify(digest)).broken).toContain('the known digest is not in the chain');
    });

    test('a forgotten car leaves digests without its salts, and the chain verifies', async () => {
      await made.hub.registry.forget(ONE, NOON);
      const report = await verify();
      expect(report).toMatchObject({ entries: 4, erased: 2, seq: 4 });
      expect(report.broken).toBeUndefined();
      const rows = await made.raw.select('SELECT seq FROM audit WHERE command IS NULL AND salt IS NULL ORDER BY seq');
      expect(rows.map(({ seq }) => seq)).toEqual([1, 3]);
      await made.hub.audit.add(order('a5', OTHER), seal);
      expect((await verify()).broken).toBeUndefined();
    });

    test('a chain whose oldest entries were removed starts at a known digest only', async () => {
      const [row] = await made.raw.select('SELECT digest FROM audit WHERE seq = 2');
      const start = row?.['digest'] as string;
      await made.raw.write([
        ['DELETE FROM audit WHERE seq = 1'],
        ['UPDATE audit SET command = NULL, salt = NULL WHERE seq = 2'],
        ["DELETE FROM commands WHERE id IN ('a1', 'a2')"],
      ]);
      expect((await verify()).broken).toBe('entry 1 was deleted');
      const report = await verify(start);
      expect(report).toMatchObject({ entries: 2, seq: 4 });
      expect(report.broken).toBeUndefined();
    });

    test('commands of a database without a chain get entries at the next start, oldest first', async () => {
      await change('DROP TABLE audit');
      await made.reopen();
      const report = await verify();
      expect(report).toMatchObject({ entries: 4, erased: 0 });
      expect(report.broken).toBeUndefined();
    });
  });
}
