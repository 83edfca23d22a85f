import { createPublicKey, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../../adapters/http/call.ts';
import { keyIdOf, readTrust } from '../../../adapters/keys/index.ts';
import type { GroupKeyStore } from '../../../hub/core/group-keys.ts';
import { SqlGroupKeys, SqliteDatabase } from '../../../hub/database/index.ts';
import { HubGate, signToken, type TokenKeys } from '../../../hub/http/access.ts';
import { GroupKeys, SIGNS_AFTER_MS } from '../../../hub/start/group-keys.ts';
import { keysFolder, keysInFiles } from '../../../hub/start/hub-keys.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';

const NOON = 1_800_000_000_000;
const SECRET = randomBytes(32).toString('base64');
const folder = mkdtempSync(join(tmpdir(), 'vigie-group-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
let store: GroupKeyStore;
let clock: VirtualClock;
let log: MemoryLog;
beforeEach(async () => {
  store = new SqlGroupKeys(await SqliteDatabase.open(join(folder, `${++made}.sqlite`)));
  clock = new VirtualClock(NOON);
  log = new MemoryLog();
});

/** Directory of another hub. */
function hubFolder(): string {
  const data = join(folder, `hub${++made}`);
  mkdirSync(keysFolder(data), { recursive: true });
  writeFileSync(join(keysFolder(data), 'group.secret'), SECRET, { mode: 0o600 });
  return data;
}

const open = (data: string, using = store) => GroupKeys.open({ store: using, data, clock, log });

/** Caller of a token of `signing` that a hub with `verifying` admits; rejects if it refuses the token. */
async function passed(signing: Pick<TokenKeys, 'signer'>, verifying: TokenKeys): Promise<Caller> {
  const grant = {
    id: 'a',
    name: 'ops',
    fleets: ['north'],
    scopes: [],
    issued: clock.now(),
    expires: clock.now() + 1e9,
  };
  const authorization = `Bearer ${await signToken(await signing.signer(), grant)}`;
  const yes = async () => true;
  const gate = new HubGate({ side: 'fleet', inUse: yes, isIssued: yes, keys: verifying.verifier, clock });
  return gate.admit(
    { remote: '127.0.0.1', authorization, clientIds: [] },
    { operation: { scopes: { required: [], optional: [] } }, path: {} },
  );
}

/** The store, with some methods replaced. */
function changed(methods: Partial<GroupKeyStore>): GroupKeyStore {
  return new Proxy(store, { get: (target, name: keyof GroupKeyStore) => methods[name] ?? target[name].bind(target) });
}

test('hubs with one secret sign commands with one key, and accept tokens and page tokens of each other', async () => {
  const [one, two] = [await open(hubFolder()), await open(hubFolder())];
  expect(one.commands().map(({ id }) => id)).toEqual(two.commands().map(({ id }) => id));
  expect(await passed(one.tokens, two.tokens)).toMatchObject({ name: 'ops' });
  expect(two.pages.read(one.pages.sign('contents', 'scope'), 'scope')).toBe('contents');
  expect(one.identity).not.toBe(two.identity);
});

test('a hub keeps its identity, and the trust file for cars has the key of the group', async () => {
  const data = hubFolder();
  const { identity } = await open(data);
  const again = await open(data);
  expect(again.identity).toBe(identity);
  expect((await readTrust(keysFolder(data))).map(({ kid }) => kid)).toEqual(again.commands().map(({ id }) => id));
});

test('keys of files move into the database without a change of tokens, pages, trust file and identity', async () => {
  const data = hubFolder();
  const before = await keysInFiles({ data, clock, log });
  const token = await before.tokens.signer();
  const page = before.pages.sign('contents', 'scope');
  const trust = readFileSync(join(keysFolder(data), 'trust.json'), 'utf8');
  const after = await open(data);
  expect(after.identity).toBe(before.identity);
  expect(after.commands().map(({ id }) => id)).toEqual([before.identity]);
  expect((await after.tokens.signer()).id).toBe(Buffer.from(keyIdOf(createPublicKey(token.key))).toString('hex'));
  expect(await passed({ signer: async () => token }, after.tokens)).toMatchObject({ name: 'ops' });
  expect(after.pages.read(page, 'scope')).toBe('contents');
  expect(readFileSync(join(keysFolder(data), 'trust.json'), 'utf8')).toBe(trust);
  expect(readdirSync(keysFolder(data)).sort()).toEqual(['group.secret', 'hub.id', 'trust.json']);
  expect(existsSync(join(data, 'pages.key'))).toBe(false);
});

test('a second hub adds its keys to those of the group, which still sign', async () => {
  const [first, second] = [hubFolder(), hubFolder()];
  const before = await Promise.all([first, second].map((data) => keysInFiles({ data, clock, log })));
  const tokens = await Promise.all(before.map(({ tokens: keys }) => keys.signer()));
  await open(first);
  const two = await open(second);
  const [own = '', other = ''] = before.map(({ identity }) => identity);
  expect(two.commands().map(({ id }) => id)).toEqual([own, other]);
  for (const token of tokens) {
    expect(await passed({ signer: async () => token }, two.tokens)).toMatchObject({ name: 'ops' });
  }
  expect((await readTrust(keysFolder(second))).map(({ kid }) => kid).sort()).toEqual([own, other].sort());
});

test('a hub that is killed at any time while it moves its keys loses none of them', async () => {
  const data = hubFolder();
  const before = await keysInFiles({ data, clock, log });
  const page = before.pages.sign('contents', 'scope');
  const token = await before.tokens.signer();
  const { identity } = before;
  let kills = 0;
  for (let left = 0; ; left++) {
    // After so many calls the database is never reached again, as for a killed process.
    let calls = left;
    const dying = new Proxy(store, {
      get: (target, name: keyof GroupKeyStore) => {
        const method = target[name].bind(target) as (...given: unknown[]) => Promise<unknown>;
        return (...given: unknown[]) => (calls-- > 0 ? method(...given) : Promise.reject(new Error('killed')));
      },
    });
    const outcome = await open(data, dying).catch((error: Error) => error.message);
    if (outcome !== 'killed') break;
    kills++;
  }
  expect(kills).toBe(7);
  const after = await open(data);
  expect(after.identity).toBe(identity);
  expect(after.commands().map(({ id }) => id)).toEqual([identity]);
  expect(after.pages.read(page, 'scope')).toBe('contents');
  expect(await passed({ signer: async () => token }, after.tokens)).toMatchObject({ name: 'ops' });
  expect((await store.keys()).map(({ purpose }) => purpose).sort()).toEqual(['commands', 'pages', 'tokens']);
});

test('a hub that makes the secret and is killed before it uses it starts with the same secret', async () => {
  const data = join(folder, `hub${++made}`);
  const dying = changed({ addProof: () => Promise.reject(new Error('killed')) });
  await expect(open(data, dying)).rejects.toThrow('killed');
  const secret = readFileSync(join(keysFolder(data), 'group.secret'), 'utf8');
  await open(data);
  expect(readFileSync(join(keysFolder(data), 'group.secret'), 'utf8')).toBe(secret);
});

test('a key file that other users can read is not moved', async () => {
  const data = hubFolder();
  await keysInFiles({ data, clock, log });
  const file = join(keysFolder(data), 'hub.pem');
  const text = readFileSync(file);
  rmSync(file);
  writeFileSync(file, text, { mode: 0o644 });
  await expect(open(data)).rejects.toMatchObject({ code: 'configuration.wrong' });
  expect(existsSync(file)).toBe(true);
});

test('a renewal interrupts nothing: every hub accepts what every other one has signed, before and after', async () => {
  const [one, two] = [await open(hubFolder()), await open(hubFolder())];
  for (const keys of [one, two]) keys.begin((delay, due) => clock.after(delay, due));
  const old = one.pages.sign('contents', 'scope');
  await one.renew('tokens', 3_600_000);
  await one.renew('pages', 3_600_000);
  await one.renew('commands', undefined);
  const [first] = one.commands();
  for (let waited = 0; waited < 2 * SIGNS_AFTER_MS; waited += 1_000) {
    for (const [signing, verifying] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(await passed(signing.tokens, verifying.tokens)).toMatchObject({ name: 'ops' });
      expect(verifying.pages.read(signing.pages.sign('contents', 'scope'), 'scope')).toBe('contents');
    }
    await clock.settle(1_000, 1_000);
  }
  // The next key signs now; the previous one is in use for the stated time, and that of commands without an end.
  expect(one.commands()[0].id).not.toBe(first.id);
  expect(two.commands().map(({ id }) => id)).toContain(first.id);
  expect(two.pages.read(old, 'scope')).toBe('contents');
  await clock.settle(3_600_000, 600_000);
  expect(two.pages.read(old, 'scope')).toBeUndefined();
  expect(two.commands().map(({ id }) => id)).toContain(first.id);
  await Promise.all([one.stop(), two.stop()]);
});

test('a damaged key stops the start of a hub, but not a hub that has read it before', async () => {
  let isDamaged = false;
  const damageable = changed({
    keys: async () =>
      (await store.keys()).map((key) => (isDamaged ? { ...key, sealed: key.sealed.map((byte) => byte ^ 1) } : key)),
  });
  const running = await open(hubFolder(), damageable);
  running.begin((delay, due) => clock.after(delay, due));
  const before = await running.tokens.signer();
  isDamaged = true;
  await expect(open(hubFolder(), damageable)).rejects.toMatchObject({
    code: 'input.malformed',
    message: expect.stringMatching(/^the key [0-9a-f]{16} \(\w+\) in the database is damaged: restore a backup/),
  });
  await clock.settle(60_000, 1_000);
  await running.stop();
  expect(log.lines.filter(({ event }) => event === 'hub.keys.unread')).toHaveLength(1);
  expect(await running.tokens.signer()).toEqual(before);
});
