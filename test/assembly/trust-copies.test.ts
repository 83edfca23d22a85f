/** Every damage to the record of key changes: the file, its previous generation, and the copy in the journal. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateKey, keyIdOf, readTrust, TrustStore } from '../../adapters/keys/index.ts';
import { openStore } from '../../adapters/store/index.ts';
import { beginRecords, finishFirstStart, openChanges, openLedger } from '../../assembly/directory.ts';
import { MemoryLog } from '../rig/log.ts';

const NOW = 1_790_000_000_000;
const names = ['root', 'first', 'second', 'third', 'added'] as const;
type Name = (typeof names)[number];
/** Trusted keys after each change: `first` is revoked, `added` is added, `second` is revoked. */
const trusted: Readonly<Record<number, readonly Name[]>> = {
  0: ['root', 'first', 'second', 'third'],
  1: ['root', 'second', 'third'],
  2: ['root', 'second', 'third', 'added'],
  3: ['root', 'third', 'added'],
};
const LAST = 3;

let folder: string;
let keys: string;
let data: string;
const ids = new Map<Name, Uint8Array>();
/** Copy of the data directory after each change. */
const after = (change: number): string => join(folder, `after-${change}`);

/** The part of a start that concerns keys. `changes` receives the keys before the stop. */
async function start(changes?: (keys: TrustStore) => Promise<void>) {
  const log = new MemoryLog();
  const file = join(keys, 'trust.json');
  const first = await beginRecords(data, log);
  const store = await openStore(join(data, 'outbox'), { log });
  const { memory } = store;
  const ledger = await openLedger(data, first, log);
  const document = await openChanges({ data, memory, file, first, ledger, log });
  const kept = TrustStore.open(file, { now: () => NOW }, { changes: document });
  memory.keep(() => kept.states());
  if (first) await finishFirstStart(data, store.outbox, log);
  else await store.outbox.commit();
  await changes?.(kept);
  await store.outbox.commit();
  await store.close();
  return {
    log,
    trusts: names.filter((name) => kept.key(ids.get(name) as Uint8Array) !== undefined),
    unconfirmed: kept.unconfirmed,
    damaged: memory.damaged === true,
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-trust-copies-'));
  [keys, data] = [join(folder, 'keys'), join(folder, 'data')];
  mkdirSync(data);
  for (const name of names) {
    const directory = name === 'added' ? join(folder, 'other') : keys;
    await generateKey(directory, name, { algorithm: 'Ed25519', kinds: name === 'root' ? ['Trust'] : ['Doors'] });
    const key = (await readTrust(directory)).find((one) => one.name === name);
    if (key !== undefined) ids.set(name, keyIdOf(key.publicKey));
  }
  const [added] = await readTrust(join(folder, 'other'));
  const publicKey = new Uint8Array(added?.publicKey.export({ type: 'spki', format: 'der' }) ?? []);
  const changes: ((kept: TrustStore) => Promise<void>)[] = [
    async () => undefined,
    (kept) => kept.revoke(ids.get('first') as Uint8Array),
    (kept) => kept.add({ name: 'added', publicKey, kinds: ['Doors'] }),
    (kept) => kept.revoke(ids.get('second') as Uint8Array),
  ];
  for (const [change, make] of changes.entries()) {
    expect((await start(make)).trusts).toEqual(trusted[change]);
    writeFileSync(join(data, 'boot.json'), 'an agent ran here');
    cpSync(data, after(change), { recursive: true });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(data, { recursive: true });
  cpSync(after(LAST), data, { recursive: true });
});

const flip = (bytes: Buffer, at: number): Buffer => {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};
const rewrite = (path: string, change: (bytes: Buffer) => Uint8Array): void =>
  writeFileSync(path, change(readFileSync(path)));

/** Outcomes for a file: the number of the last change that it still has, or undefined if it cannot be read. */
const fates: readonly (readonly [string, (path: string) => void, lasts: boolean])[] = [
  ['sound', () => undefined, true],
  ['missing', (path) => rmSync(path), false],
  ['empty', (path) => writeFileSync(path, ''), false],
  ['truncated', (path) => rewrite(path, (bytes) => bytes.subarray(0, bytes.length / 2)), false],
  ['changed by a bit', (path) => rewrite(path, (bytes) => flip(bytes, Math.floor(bytes.length / 2))), false],
  ['another document', (path) => writeFileSync(path, '{"version":1,"keys":[]}\n'), false],
];
const journals: readonly (readonly [string, () => void, last: number | undefined])[] = [
  ['sound', () => undefined, LAST],
  ['missing', () => rmSync(join(data, 'outbox'), { recursive: true }), undefined],
  ['damaged', () => damageJournal(), undefined],
  ['older', () => putBack('outbox', 1), 1],
];

/** Makes the copy in the journal unreadable by changing a bit of the key id revoked last, wherever it occurs. */
function damageJournal(): void {
  const kid = Buffer.from(Buffer.from(ids.get('second') as Uint8Array).toString('hex'));
  let found = 0;
  for (const name of readdirSync(join(data, 'outbox'))) {
    rewrite(join(data, 'outbox', name), (bytes) => {
      for (let at = bytes.indexOf(kid); at >= 0; at = bytes.indexOf(kid, at + 1), found++) flip(bytes, at);
      return bytes;
    });
  }
  expect(found).toBeGreaterThan(0);
}

function putBack(name: string, change: number): void {
  rmSync(join(data, name), { recursive: true });
  cpSync(join(after(change), name), join(data, name), { recursive: true });
}

const files: readonly (readonly [string, () => void, last: number | undefined])[] = [
  ...fates.map(
    ([name, happens, lasts]) => [name, () => happens(join(data, 'trust.json')), lasts ? LAST : undefined] as const,
  ),
  ['older', () => putBack('trust.json', 1), 1],
];
const previous: readonly (readonly [string, () => void, last: number | undefined])[] = fates
  .filter(([name]) => ['sound', 'missing', 'empty'].includes(name))
  .map(
    ([name, happens, lasts]) =>
      [name, () => happens(join(data, 'trust.json.previous')), lasts ? LAST - 1 : undefined] as const,
  );

describe.each(journals)('with a journal that is %s', (_, damage, journal) => {
  const cases = files.flatMap(([state, happens, file]) =>
    previous.map(([before, alters, generation]) => ({
      state,
      before,
      happens: () => {
        happens();
        alters();
      },
      file,
      generation,
    })),
  );

  test.each(cases)(
    'the right keys are trusted if trust.json is $state and its previous generation $before',
    async ({ happens, file, generation }) => {
      damage();
      happens();
      const { trusts, unconfirmed, log } = await start();
      // The file is written before the journal. Its previous generation lacks the last change.
      const known =
        file === undefined
          ? journal !== undefined && journal >= (generation ?? 0)
            ? journal
            : undefined
          : Math.max(file, journal ?? 0);
      expect(trusts).toEqual(known === undefined ? [] : trusted[known]);
      expect(unconfirmed === undefined).toBe(known !== undefined);
      const said = log.lines.filter(({ event }) => event === 'trust.unconfirmed');
      expect(said).toHaveLength(known === undefined ? 1 : 0);
      // The state stays: data written by this start proves nothing.
      if (known === undefined) expect((await start()).trusts).toEqual([]);
    },
  );
});

test('no single damage, and no damage to both generations of the file, makes a revoked key valid', async () => {
  for (const [, happens] of files) {
    for (const [, alters] of previous) {
      rmSync(data, { recursive: true });
      cpSync(after(LAST), data, { recursive: true });
      happens();
      alters();
      expect((await start()).trusts).toEqual(trusted[LAST]);
    }
  }
  for (const [, damage] of journals) {
    rmSync(data, { recursive: true });
    cpSync(after(LAST), data, { recursive: true });
    damage();
    expect((await start()).trusts).toEqual(trusted[LAST]);
  }
});

test('an empty directory is a first start', async () => {
  rmSync(data, { recursive: true });
  mkdirSync(data);
  expect(await start()).toMatchObject({ trusts: trusted[0], unconfirmed: undefined });
  expect(await start()).toMatchObject({ trusts: trusted[0], unconfirmed: undefined });
});

test('a directory in which an agent has run is never a first start, whatever is missing', async () => {
  for (const left of ['outbox', 'boot.json']) {
    rmSync(data, { recursive: true });
    mkdirSync(data);
    if (left === 'outbox') mkdirSync(join(data, left));
    else writeFileSync(join(data, left), '');
    expect((await start()).unconfirmed).toContain('missing');
  }
});

test('known revocations are kept when the list has to be confirmed', async () => {
  rmSync(join(data, 'trust.json'));
  putBack('outbox', 1);
  const { unconfirmed } = await start();
  expect(unconfirmed).toContain('has an older copy');
  const { data: kept } = JSON.parse(readFileSync(join(data, 'trust.json'), 'utf8')) as {
    data: { revoked: string[]; unconfirmed: { file: string }; generation: number };
  };
  expect(kept.revoked).toEqual([Buffer.from(ids.get('first') as Uint8Array).toString('hex')]);
  expect(kept.unconfirmed.file).toBe(join(keys, 'trust.json'));
  expect(kept.generation).toBeGreaterThan(2);
});
