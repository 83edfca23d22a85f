/** Keys changed by commands: the changes that the trust store saves and those that it refuses. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  generateKey,
  listKeys,
  readTrustChanges,
  type TrustChanges,
  TrustStore,
} from '../../../adapters/keys/index.ts';
import { keyIdOf } from '../../../adapters/keys/trust-file.ts';
import type { Document, NewKey } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { MemoryLog } from '../../rig/log.ts';

const NOW = 1_750_000_000_000;

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigie-trust-'));
  file = join(directory, 'trust.json');
  await generateKey(directory, 'root', { algorithm: 'ES256', kinds: ['Trust'] });
});
afterEach(() => rm(directory, { recursive: true }));

/** A document in memory that behaves like one on disk. */
function disk(data: TrustChanges = {}): Document<TrustChanges> & { data: TrustChanges; full: boolean } {
  const document = {
    data,
    full: false,
    write: async (next: TrustChanges) => {
      // Like the agent's document, `data` holds the new value even if the disk refused it.
      document.data = JSON.parse(JSON.stringify(next)) as TrustChanges;
      if (document.full) throw new Error('no space left');
    },
  };
  return document;
}

const store = (changes: Document<TrustChanges>, now = NOW): TrustStore =>
  TrustStore.open(file, { now: () => now }, { changes });

function pair(): { readonly id: Uint8Array; readonly spki: Uint8Array; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { id: keyIdOf(publicKey), spki: publicKey.export({ type: 'spki', format: 'der' }), privateKey };
}

const owner = (publicKey: Uint8Array, more: Partial<NewKey> = {}): NewKey => ({
  name: 'owner',
  publicKey,
  kinds: ['Doors'],
  ...more,
});

describe('keys changed by command', () => {
  test('an added key is trusted within its validity, also after a restart', async () => {
    const changes = disk();
    const { id, spki, privateKey } = pair();
    const first = store(changes);
    expect(first.key(id)).toBeUndefined();
    await first.add(owner(spki, { notBefore: NOW - 1, notAfter: NOW + 1_000 }));
    const message = Uint8Array.of(1, 2, 3);
    for (const trust of [first, store(changes)]) {
      expect(trust.key(id)?.kinds).toEqual(['Doors']);
      expect(trust.verify(id, message, sign(null, message, privateKey))).toBe(true);
    }
    expect(store(changes, NOW + 1_001).key(id)).toBeUndefined();
    expect(store(changes, NOW - 2).key(id)).toBeUndefined();
  });

  test('reported keys are those of others that are neither expired nor revoked, and each change is notified', async () => {
    const [root, added, expired] = [(await listKeys(directory))[0]?.kid, pair(), pair()];
    const keys = store(disk());
    const first = keys.reported;
    expect(first).toEqual([{ id: root, kinds: ['Trust'] }]);
    const changes: unknown[] = [];
    keys.onChange(() => changes.push(keys.reported));
    await keys.add(owner(added.spki, { notBefore: NOW + 1_000 }));
    await keys.add(owner(expired.spki, { name: 'expired', notAfter: NOW - 1 }));
    keys.take(file);
    const id = Buffer.from(added.id).toString('hex');
    expect(changes).toEqual([
      [
        { id, kinds: ['Doors'] },
        { id: root, kinds: ['Trust'] },
      ],
    ]);
    expect(keys.reported).toBe(changes[0]);
    await keys.revoke(added.id);
    expect(changes[1]).toEqual(first);
  });

  test('adding the same key again changes nothing, and its name or id cannot be reused for another', async () => {
    const changes = disk();
    const [one, two] = [pair(), pair()];
    const trust = store(changes);
    await trust.add(owner(one.spki));
    const before = changes.data;
    await trust.add(owner(one.spki));
    expect(changes.data).toBe(before);
    const refused = expect.objectContaining({ code: 'command.forbidden' });
    await expect(trust.add(owner(two.spki))).rejects.toThrow(refused);
    await expect(trust.add(owner(one.spki, { kinds: ['Horn'] }))).rejects.toThrow(refused);
    expect(trust.key(one.id)?.kinds).toEqual(['Doors']);
  });

  test('a revoked key is never trusted again: not after a restart, nor from the trust file, nor if added again', async () => {
    const changes = disk();
    const { kid } = await generateKey(directory, 'lost', { algorithm: 'Ed25519', kinds: ['Doors'] });
    const id = Buffer.from(kid, 'hex');
    const { id: later, spki } = pair();
    const trust = store(changes);
    await trust.add(owner(spki));
    for (const key of [id, later]) {
      await trust.revoke(key);
      await trust.revoke(key);
      expect([trust.key(key), store(changes).key(key)]).toEqual([undefined, undefined]);
    }
    await expect(trust.add(owner(spki))).rejects.toThrow(expect.objectContaining({ code: 'command.forbidden' }));
  });

  test('the last valid key that may change keys cannot be revoked', async () => {
    const changes = disk();
    const trust = store(changes);
    const root = Buffer.from((await readRoot()).kid, 'hex');
    const refused = expect.objectContaining({ code: 'command.forbidden' });
    await expect(trust.revoke(root)).rejects.toThrow(refused);
    const { id, spki } = pair();
    await trust.add(owner(spki, { name: 'next', kinds: ['Trust'], notAfter: NOW - 1 }));
    await expect(trust.revoke(root)).rejects.toThrow(refused);
    await trust.revoke(id);
    const other = pair();
    await trust.add(owner(other.spki, { name: 'other', kinds: ['Trust'] }));
    await trust.revoke(root);
    expect([trust.key(root), trust.key(other.id)?.kinds]).toEqual([undefined, ['Trust']]);
  });

  test.each<[string, Partial<NewKey>]>([
    ['no key', { publicKey: Uint8Array.of(1, 2, 3) }],
    ['a key of another curve', { publicKey: p384() }],
    ['a kind that does not exist', { kinds: ['Fly'] }],
    ['no kind', { kinds: [] }],
  ])('refuses %s', async (_, change) => {
    const changes = disk();
    await expect(store(changes).add(owner(pair().spki, change))).rejects.toThrow(
      expect.objectContaining({ code: 'input.malformed' }),
    );
    expect(changes.data).toEqual({});
  });

  test('simultaneous changes are all saved, and each is checked against the result of earlier ones', async () => {
    const changes = disk();
    const trust = store(changes);
    const [one, other] = [pair(), pair()];
    await Promise.all([trust.add(owner(one.spki)), trust.add(owner(other.spki, { name: 'other' }))]);
    expect(trust.key(one.id)).toBeDefined();
    expect(trust.key(other.id)).toBeDefined();
    await Promise.all([trust.revoke(one.id), trust.revoke(other.id)]);
    for (const now of [trust, store(changes)]) {
      expect(now.key(one.id)).toBeUndefined();
      expect(now.key(other.id)).toBeUndefined();
    }
    const root = pair();
    await trust.add({ name: 'second', publicKey: root.spki, kinds: ['Trust'] });
    const [{ kid } = { kid: '' }] = await listKeys(directory);
    const both = await Promise.allSettled([trust.revoke(root.id), trust.revoke(Buffer.from(kid, 'hex'))]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test('a disk that cannot be written leaves the keys unchanged', async () => {
    const changes = disk();
    changes.full = true;
    const { id, spki } = pair();
    const trust = store(changes);
    await expect(trust.add(owner(spki))).rejects.toThrow('no space left');
    expect(trust.key(id)).toBeUndefined();
    changes.full = false;
    await trust.add(owner(spki));
    changes.full = true;
    await expect(trust.revoke(id)).rejects.toThrow('no space left');
    expect(trust.key(id)).toBeDefined();
    // A failed revocation does not count as done.
    await expect(trust.revoke(id)).rejects.toThrow('no space left');
    changes.full = false;
    await trust.revoke(id);
    expect([trust.key(id), store(changes).key(id)]).toEqual([undefined, undefined]);
  });

  test('a key of a newer agent is not trusted, is reported, and stays in the document', async () => {
    const foreign = { name: 'later', kinds: ['Fly'] };
    const changes = disk({ keys: [foreign] });
    const log = new MemoryLog();
    const trust = TrustStore.open(file, { now: () => NOW }, { changes, log });
    expect(log.lines).toMatchObject([{ level: 'error', fields: { error: expect.stringContaining('publicKey') } }]);
    const { id, spki } = pair();
    await trust.add(owner(spki));
    expect(changes.data.keys).toMatchObject([foreign, { name: 'owner' }]);
    expect(store(changes).key(id)?.kinds).toEqual(['Doors']);
  });

  test('without a readable file, its last keys and all changes by commands remain in force', async () => {
    const changes = disk();
    const { kid } = await generateKey(directory, 'lost', { algorithm: 'Ed25519', kinds: ['Doors'] });
    const root = Buffer.from((await readRoot()).kid, 'hex');
    const { id, spki } = pair();
    const before = store(changes);
    await before.add(owner(spki));
    await before.revoke(Buffer.from(kid, 'hex'));
    const text = await readFile(file, 'utf8');
    const known = (trust: TrustStore) => [root, id, Buffer.from(kid, 'hex')].map((key) => trust.key(key) !== undefined);
    const trust = TrustStore.without({ now: () => NOW }, { changes });
    expect(known(trust)).toEqual([false, true, false]);
    for (const damage of [text.slice(1), undefined]) {
      if (damage === undefined) await rm(file);
      else await writeFile(file, damage);
      expect(() => trust.take(file)).toThrow(VigieError);
      expect(known(trust)).toEqual([false, true, false]);
    }
    await writeFile(file, text);
    trust.take(file);
    expect(known(trust)).toEqual([true, true, false]);
    await writeFile(file, '');
    expect(() => trust.take(file)).toThrow(VigieError);
    expect(known(trust)).toEqual([true, true, false]);
  });

  test('a document of changes is recognised by its contents', () => {
    const unconfirmed = { why: 'a test' };
    for (const one of [{}, { revoked: ['12'], keys: [{}], generation: 2 }, { unconfirmed }]) {
      expect(readTrustChanges(one)).toEqual(one);
    }
    const others = [null, 'keys', { keys: {} }, { keys: [1] }, { revoked: [7] }, { revoked: '12' }];
    for (const other of [...others, { generation: '2' }, { generation: 0.5 }, { unconfirmed: true }]) {
      expect(readTrustChanges(other), JSON.stringify(other)).toBeUndefined();
    }
  });

  test('errors report a car that cannot save changes, an unknown key, and a damaged file', async () => {
    const fixed = TrustStore.open(file, { now: () => NOW });
    await expect(fixed.add(owner(pair().spki))).rejects.toThrow(expect.objectContaining({ code: 'command.forbidden' }));
    await expect(fixed.revoke(pair().id)).rejects.toThrow(expect.objectContaining({ code: 'input.unknown' }));
    await writeFile(file, '{}');
    expect(() => store(disk())).toThrow(expect.objectContaining({ code: 'configuration.wrong', where: file }));
  });
});

async function readRoot(): Promise<{ readonly kid: string }> {
  return (await listKeys(directory)).find(({ name }) => name === 'root') as { kid: string };
}

function p384(): Uint8Array {
  return generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey.export({ type: 'spki', format: 'der' });
}
