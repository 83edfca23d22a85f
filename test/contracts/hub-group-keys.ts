/** What the shared keys of hubs must do, whatever database they are in. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type GroupKeyStore, type KeyFacts, keysInUse, type SealedKey } from '../../hub/core/group-keys.ts';
import { GroupSecret, groupSecretFile } from '../../hub/start/group-secret.ts';

export interface GroupKeysUnderTest {
  readonly store: GroupKeyStore;
  /** As another hub has it. */
  readonly other: GroupKeyStore;
  close(): Promise<void>;
}

const NOON = 1_800_000_000_000;
const SECRET = randomBytes(32).toString('base64');

const facts = (id: string, more: Partial<KeyFacts> = {}): KeyFacts => ({ id, purpose: 'tokens', kinds: [], ...more });
const sealed = (id: string, more: Partial<KeyFacts> = {}): SealedKey => ({
  ...facts(id, more),
  sealed: Uint8Array.of(1, 2, 3),
});

export function groupKeysContract(name: string, create: () => Promise<GroupKeysUnderTest>): void {
  describe(`shared keys on ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-group-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    let hub: GroupKeysUnderTest;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());
    let files = 0;
    const secretIn = (text: string): string => {
      const file = join(folder, `secret${++files}`);
      writeFileSync(file, text);
      return file;
    };
    const open = (text: string, store = hub.store) => GroupSecret.open(store, { file: secretIn(text), makes: false });

    test('a new database accepts the secret of the hub that comes first, and no other', async () => {
      await open(SECRET);
      await open(`${SECRET}\n`, hub.other);
      await expect(open(randomBytes(32).toString('base64'), hub.other)).rejects.toMatchObject({
        code: 'configuration.wrong',
        message: expect.stringContaining('is not the secret of the keys in the database: copy the secret of a hub'),
      });
      expect(await hub.other.proof()).toEqual(await hub.store.proof());
    });

    test('of hubs that bring two secrets at the same time, exactly one starts', async () => {
      const outcomes = await Promise.allSettled([open(SECRET), open(randomBytes(32).toString('base64'), hub.other)]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('makes a secret that only the user can read, and only for a database without keys', async () => {
      const data = join(folder, `data${++files}`);
      const file = groupSecretFile(data);
      mkdirSync(dirname(file), { recursive: true });
      await GroupSecret.open(hub.store, { file, makes: true });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await open(readFileSync(file, 'utf8'), hub.other);
      const missing = groupSecretFile(join(folder, `data${++files}`));
      await expect(GroupSecret.open(hub.other, { file: missing, makes: true })).rejects.toMatchObject({
        code: 'input.unreadable',
        message: expect.stringContaining(`${missing}: is missing, and the keys in the database are encrypted by it`),
      });
    });

    test('refuses a secret that could be guessed', async () => {
      await expect(open('hunter2')).rejects.toMatchObject({
        code: 'configuration.wrong',
        message: expect.stringContaining('openssl rand -base64 32'),
      });
      expect(await hub.store.proof()).toBeUndefined();
    });

    test('a sealed key opens with the same secret and its own facts, and after no change of a bit', async () => {
      const secret = await open(SECRET);
      const again = await open(SECRET, hub.other);
      const text = fc.string({ minLength: 1, maxLength: 20 });
      const purpose = fc.constantFrom('commands' as const, 'tokens' as const, 'pages' as const);
      const kinds = fc.array(text, { maxLength: 3 });
      const key = fc.record({ id: text, purpose, kinds });
      const bytes = fc.uint8Array({ maxLength: 100 });
      fc.assert(
        fc.property(key, key, bytes, fc.nat(), fc.integer({ min: 0, max: 7 }), (one, other, plain, place, bit) => {
          const row = secret.seal(one, plain);
          expect([...again.unseal(row)]).toEqual([...plain]);
          const damaged = Uint8Array.from(row.sealed);
          const index = place % damaged.length;
          damaged[index] = (damaged[index] as number) ^ (1 << bit);
          const failure = `vigie hub keys end ${one.id}`;
          expect(() => again.unseal({ ...row, sealed: damaged })).toThrow(failure);
          expect(() => again.unseal({ ...row, sealed: row.sealed.subarray(0, index) })).toThrow(failure);
          if (JSON.stringify(one) !== JSON.stringify(other)) {
            expect(() => again.unseal({ ...other, sealed: row.sealed })).toThrow('is damaged');
          }
        }),
      );
    });

    test('the first key of a purpose signs, and a key that another hub brings is only accepted', async () => {
      await hub.store.add(sealed('a1'));
      await hub.other.add(sealed('b2'));
      await hub.other.add(sealed('a1', { kinds: ['Doors'] }));
      await hub.other.add(sealed('c3'), { onlyFirst: true });
      await hub.other.add(sealed('d4', { purpose: 'pages' }), { onlyFirst: true });
      expect(await hub.store.keys()).toEqual([
        sealed('a1', { signsFrom: 0 }),
        sealed('b2'),
        sealed('d4', { purpose: 'pages', signsFrom: 0 }),
      ]);
    });

    test('of keys that hubs make at the same time, one is stored', async () => {
      await hub.store.addProof({ salt: Uint8Array.of(1), proof: Uint8Array.of(2) });
      const made = Array.from({ length: 20 }, (_, n) =>
        [hub.store, hub.other][n % 2]?.add(sealed(`k${n}`), { onlyFirst: true }),
      );
      await Promise.all(made);
      expect(await hub.store.keys()).toMatchObject([{ signsFrom: 0 }]);
    });

    test('a renewed key signs from its time on, and the previous ones are accepted for the stated time', async () => {
      await hub.store.add(sealed('a1'));
      await hub.store.add(sealed('b2'));
      await hub.store.add(sealed('p1', { purpose: 'pages' }));
      await hub.store.renew(sealed('c3', { signsFrom: NOON + 60 }), NOON + 10, NOON + 1_000);
      const at = async (now: number) => keysInUse(await hub.other.keys(), 'tokens', now).map(({ id }) => id);
      expect(await at(NOON + 59)).toEqual(['a1', 'c3', 'b2']);
      expect(await at(NOON + 60)).toEqual(['c3', 'a1', 'b2']);
      expect(await at(NOON + 1_000)).toEqual(['c3']);
      // A second renewal does not lengthen the time of the first key, and erases what has ended.
      await hub.store.renew(sealed('d4', { signsFrom: NOON + 900 }), NOON + 800, NOON + 5_000);
      expect(await at(NOON + 999)).toEqual(['d4', 'c3', 'a1', 'b2']);
      await hub.store.renew(sealed('e5', { signsFrom: NOON + 2_100 }), NOON + 2_000, undefined);
      expect((await hub.store.keys()).map(({ id, ends }) => [id, ends])).toEqual([
        ['c3', NOON + 5_000],
        ['d4', undefined],
        ['e5', undefined],
        ['p1', undefined],
      ]);
    });

    test('ends a key at once, and once', async () => {
      await hub.store.add(sealed('a1'));
      expect(await hub.store.end('b2', NOON)).toBe(false);
      expect(await hub.store.end('a1', NOON + 5)).toBe(true);
      expect(await hub.store.end('a1', NOON + 6)).toBe(false);
      expect(keysInUse(await hub.other.keys(), 'tokens', NOON + 5)).toEqual([]);
    });
  });
}
