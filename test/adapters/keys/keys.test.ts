import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CommandSigner, generateKey, type KeyAlgorithm, listKeys, TrustStore } from '../../../adapters/keys/index.ts';
import { type Command, encodeBody, encodeCommand, type OpenedCommand, openCommand } from '../../../protocol/command.ts';
import { VigieError } from '../../../protocol/errors.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigie-keys-'));
});
afterEach(() => rm(directory, { recursive: true }));

const NOW = 1_750_000_000_000;
const clock = { now: () => NOW };
const trust = (at = NOW): TrustStore => TrustStore.open(join(directory, 'trust.json'), { now: () => at });
const algorithms: KeyAlgorithm[] = ['ES256', 'Ed25519'];

const unnumbered: Omit<Command, 'counter'> = {
  id: 'a',
  vin: 'VF3TESTBENCH00001',
  kind: 'Doors',
  body: encodeBody('Doors', { state: 'Locked' }),
  issued: NOW,
  expires: NOW + 1000,
};
const payload = (counter: number): Uint8Array => encodeCommand({ ...unnumbered, counter });

function isTrusted(store: TrustStore, { keyId, algorithm, toBeSigned, signature }: OpenedCommand): boolean {
  return store.key(keyId)?.algorithm === algorithm && store.verify(keyId, toBeSigned, signature);
}

describe.each(algorithms)('%s', (algorithm) => {
  test('a signed command verifies with the trust file', async () => {
    const key = await generateKey(directory, 'owner', { algorithm, kinds: ['Doors', 'Horn'] });
    const signer = await CommandSigner.open(directory, 'owner', clock.now);
    const opened = openCommand(await signer.sign(payload));
    expect(Buffer.from(opened.keyId).toString('hex')).toBe(key.kid);
    expect(opened.command.counter).toBe(NOW);
    expect(trust().key(opened.keyId)?.kinds).toEqual(['Doors', 'Horn']);
    expect(isTrusted(trust(), opened)).toBe(true);
  });

  test('a command signed by another key, or with any bit changed, does not verify', async () => {
    await generateKey(directory, 'owner', { algorithm, kinds: ['Doors'] });
    const message = await (await CommandSigner.open(directory, 'owner', clock.now)).sign(payload);
    const store = trust();
    let opened = 0;
    for (let bit = 0; bit < message.length * 8; bit++) {
      const changed = message.with(bit >> 3, message[bit >> 3]! ^ (1 << (bit & 7)));
      let result: OpenedCommand;
      try {
        result = openCommand(changed);
      } catch (error) {
        expect(error).toBeInstanceOf(VigieError);
        continue;
      }
      opened++;
      expect(isTrusted(store, result)).toBe(false);
    }
    expect(opened).toBeGreaterThan(500);

    const other = await mkdtemp(join(tmpdir(), 'vigie-keys-'));
    await generateKey(other, 'owner', { algorithm, kinds: ['Doors'] });
    const theirs = openCommand(await (await CommandSigner.open(other, 'owner', clock.now)).sign(payload));
    await rm(other, { recursive: true });
    expect(store.key(theirs.keyId)).toBeUndefined();
    expect(isTrusted(store, theirs)).toBe(false);
    const keyId = openCommand(message).keyId;
    expect(store.verify(keyId, theirs.toBeSigned, theirs.signature)).toBe(false);
  });

  test('any arbitrary signature is refused without an exception', async () => {
    const key = await generateKey(directory, 'owner', { algorithm, kinds: ['Doors'] });
    const id = new Uint8Array(Buffer.from(key.kid, 'hex'));
    const store = trust();
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        (message, odd) => {
          expect(store.verify(id, message, odd)).toBe(false);
          expect(store.verify(id, message, message)).toBe(false);
          expect(store.verify(message, message, odd)).toBe(false);
        },
      ),
    );
    for (const fill of [0, 255]) expect(store.verify(id, new Uint8Array(), new Uint8Array(64).fill(fill))).toBe(false);
  });
});

describe('generating keys', () => {
  test('only the owner can read the private key, and the trust file does not contain it', async () => {
    await generateKey(directory, 'owner', { algorithm: 'ES256', kinds: ['Doors'] });
    expect((await stat(join(directory, 'owner.pem'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, 'owner.pem'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(await readFile(join(directory, 'trust.json'), 'utf8')).not.toMatch(/PRIVATE/);
    expect((await readdir(directory)).toSorted()).toEqual(['owner.pem', 'trust.json']);
  });

  test('keys are listed in the order of creation, with their entries of the trust file', async () => {
    expect(await listKeys(join(directory, 'none'))).toEqual([]);
    const limits = { notBefore: NOW, notAfter: NOW + 1000 };
    const first = await generateKey(directory, 'first', { algorithm: 'ES256', kinds: ['Doors'], ...limits });
    const second = await generateKey(directory, 'second', { algorithm: 'Ed25519', kinds: ['Horn'] });
    expect(first).toMatchObject({ name: 'first', algorithm: 'ES256', kinds: ['Doors'], signs: true, ...limits });
    await rm(join(directory, 'second.pem'));
    expect(await listKeys(directory)).toEqual([first, { ...second, signs: false }]);
  });

  test('the validity is enforced to the millisecond', async () => {
    const limits = { notBefore: NOW, notAfter: NOW + 1000 };
    const { kid } = await generateKey(directory, 'owner', { algorithm: 'ES256', kinds: ['Doors'], ...limits });
    const id = new Uint8Array(Buffer.from(kid, 'hex'));
    const opened = openCommand(await (await CommandSigner.open(directory, 'owner', clock.now)).sign(payload));
    for (const [at, good] of [
      [NOW - 1, false],
      [NOW, true],
      [NOW + 1000, true],
      [NOW + 1001, false],
    ] as const) {
      expect(trust(at).key(id) !== undefined).toBe(good);
      expect(trust(at).verify(id, opened.toBeSigned, opened.signature)).toBe(good);
    }
  });

  test.each<[string, string, object, RegExp]>([
    ['a taken name', 'owner', {}, /trust\.json: key owner is there already/],
    ['a path for a name', '../owner', {}, /a key's name is/],
    ['an empty name', '', {}, /a key's name is/],
    ['an unknown kind', 'new', { kinds: ['Doors', 'Roof'] }, /unknown: Roof; known are .*Doors/],
    ['no kind', 'new', { kinds: [] }, /no kind given/],
  ])('refuses %s and changes nothing', async (_, name, options, message) => {
    await generateKey(directory, 'owner', { algorithm: 'ES256', kinds: ['Doors'] });
    const before = [await listKeys(directory), await readdir(directory)];
    await expect(generateKey(directory, name, { algorithm: 'ES256', kinds: ['Doors'], ...options })).rejects.toThrow(
      expect.objectContaining({ code: 'usage.wrong', message: expect.stringMatching(message) }),
    );
    expect([await listKeys(directory), await readdir(directory)]).toEqual(before);
  });

  test('an existing private key that the trust file lacks is not overwritten', async () => {
    await writeFile(join(directory, 'owner.pem'), 'precious');
    await expect(generateKey(directory, 'owner', { algorithm: 'ES256', kinds: ['Doors'] })).rejects.toThrow(
      expect.objectContaining({ code: 'usage.wrong', where: join(directory, 'owner.pem') }),
    );
    expect(await readFile(join(directory, 'owner.pem'), 'utf8')).toBe('precious');
  });

  test('a directory that cannot be created is an error', async () => {
    await writeFile(join(directory, 'file'), '');
    const inside = join(directory, 'file', 'keys');
    await expect(generateKey(inside, 'owner', { algorithm: 'ES256', kinds: ['Doors'] })).rejects.toThrow(
      expect.objectContaining({ code: 'store.failed', where: inside }),
    );
  });
});

describe('damaged files', () => {
  const path = (): string => join(directory, 'trust.json');
  beforeEach(async () => {
    await generateKey(directory, 'owner', { algorithm: 'ES256', kinds: ['Doors'] });
  });

  test('a missing trust file is an error', async () => {
    await rm(path());
    expect(() => trust()).toThrow(
      expect.objectContaining({
        code: 'input.unreadable',
        where: path(),
        message: expect.stringMatching(/does not exist; copy/),
      }),
    );
  });

  test('a trust file cut at any byte is an error with its name', async () => {
    const whole = await readFile(path(), 'utf8');
    // The last byte is the newline after the document.
    for (let length = 0; length < whole.length - 1; length++) {
      await writeFile(path(), whole.slice(0, length));
      expect(() => trust()).toThrow(expect.objectContaining({ code: 'configuration.wrong', where: path() }));
    }
  });

  const otherKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const rsaKey = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'der' });
  test.each<[string, object, RegExp]>([
    ['another version', { version: 2 }, /version must be 1/],
    ['no list', { keys: {} }, /keys must be a list/],
    ['no object', { keys: [1] }, /keys\[0\] must be an object/],
  ])('%s', async (_, change, message) => {
    await writeFile(path(), JSON.stringify({ ...JSON.parse(await readFile(path(), 'utf8')), ...change }));
    expect(() => trust()).toThrow(
      expect.objectContaining({ code: 'configuration.wrong', message: expect.stringMatching(message) }),
    );
    await expect(listKeys(directory)).rejects.toThrow(message);
  });
  test.each<[string, object, RegExp]>([
    ['another public key', { publicKey: otherKey }, /keys\[0\]\.algorithm must be Ed25519/],
    ['a public key for something else', { publicKey: rsaKey.toString('base64') }, /must be of P-256 or Ed25519/],
    ['no public key', { publicKey: 'AAAA' }, /not a SubjectPublicKeyInfo/],
    ['another key id', { kid: '0000000000000000' }, /keys\[0\]\.kid must be [0-9a-f]{16}/],
    ['a kind that does not exist', { kinds: ['Roof'] }, /keys\[0\]\.kinds has Roof; known are/],
    ['kinds that are not a list', { kinds: 'Doors' }, /keys\[0\]\.kinds must be a list/],
    ['an invalid date', { notAfter: 'soon' }, /keys\[0\]\.notAfter must be a date/],
    ['a date without offset', { notBefore: '2030-01-01T00:00:00' }, /keys\[0\]\.notBefore must be a date/],
    ['no name', { name: 7 }, /keys\[0\]\.name must be a text/],
  ])('a key with %s is an error', async (_, change, message) => {
    const content = JSON.parse(await readFile(path(), 'utf8')) as { keys: object[] };
    content.keys = [{ ...content.keys[0], ...change }];
    await writeFile(path(), JSON.stringify(content));
    expect(() => trust()).toThrow(
      expect.objectContaining({ code: 'configuration.wrong', message: expect.stringMatching(message) }),
    );
  });
  test('a duplicate key is an error', async () => {
    const content = JSON.parse(await readFile(path(), 'utf8')) as { keys: object[] };
    await writeFile(path(), JSON.stringify({ version: 1, keys: [content.keys[0], { ...content.keys[0], name: 'b' }] }));
    expect(() => trust()).toThrow(/keys\[1\] has the kid or name of keys\[0\]/);
  });
  test('a damaged trust file is not replaced by a new key', async () => {
    await writeFile(path(), '{');
    await expect(generateKey(directory, 'new', { algorithm: 'ES256', kinds: ['Doors'] })).rejects.toThrow(
      /is not JSON/,
    );
    expect(await readFile(path(), 'utf8')).toBe('{');
    expect(await readdir(directory)).not.toContain('new.pem');
  });

  test('a missing private key is an error', async () => {
    await expect(CommandSigner.open(directory, 'other')).rejects.toThrow(
      expect.objectContaining({
        code: 'input.unreadable',
        where: join(directory, 'other.pem'),
        message: expect.stringMatching(/vigie keys make other/),
      }),
    );
  });
  test.each<[string, string, RegExp]>([
    ['text', 'precious', /is not a private key in PEM/],
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      /must be a key of P-256 or Ed25519/,
    ],
    [
      'a key of another curve',
      generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export({
        type: 'pkcs8',
        format: 'pem',
      }) as string,
      /must be a key of P-256/,
    ],
  ])('%s instead of a private key is an error', async (_, content, message) => {
    await writeFile(join(directory, 'owner.pem'), content);
    await expect(CommandSigner.open(directory, 'owner')).rejects.toThrow(
      expect.objectContaining({
        code: 'input.malformed',
        where: join(directory, 'owner.pem'),
        message: expect.stringMatching(message),
      }),
    );
  });
  test.skipIf(process.platform === 'win32')('a private key that others can read is an error', async () => {
    await chmod(join(directory, 'owner.pem'), 0o640);
    await expect(CommandSigner.open(directory, 'owner')).rejects.toThrow(
      expect.objectContaining({ code: 'configuration.wrong', message: expect.stringMatching(/chmod 600/) }),
    );
  });
});
