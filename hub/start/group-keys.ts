/**
 * Keys that hubs share. Each hub reads them from the database every few seconds. A renewed key signs only half a minute
 * after it was made, when every hub has read it, so that no hub refuses what another one has signed.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import { PageTokens } from '../../adapters/http/paging.ts';
import {
  CommandSigner,
  createWhole,
  hasCode,
  keyIdOf,
  readTrust,
  sealingKey,
  type TrustedKey,
  writeTrust,
} from '../../adapters/keys/index.ts';
import { nodeFileSystem } from '../../adapters/store/index.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { makeDirectory } from '../../assembly/directory.ts';
import { pageKey } from '../../assembly/interface.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CommandKey } from '../core/commands.ts';
import { type GroupKeyStore, type KeyFacts, type KeyPurpose, keyPurposes, keysInUse } from '../core/group-keys.ts';
import { Looks } from '../core/looks.ts';
import type { Timer, WallClock } from '../core/ports.ts';
import type { TokenKeys } from '../http/access.ts';
import { GroupSecret, groupSecretFile } from './group-secret.ts';
import {
  commandKinds,
  type HubKeys,
  keysFolder,
  OWN_KEY,
  pageKeyFile,
  tokenKeyFile,
  tokensInFile,
} from './hub-keys.ts';
import type { HubPlace } from './registry.ts';

/** Time in ms between two reads of the keys. */
const READ_EVERY_MS = 5_000;
/** Time in ms until a renewed key signs. Every hub has read the key by then. */
export const SIGNS_AFTER_MS = 30_000;
/** Shortest time in ms between two reads that tokens with an unknown key cause. */
const READ_FOR_TOKEN_MS = 1_000;
const PAGE_KEY_BYTES = 32;
const ID_BYTES = 8;

interface GroupKeysParts {
  readonly store: GroupKeyStore;
  /** Directory of this hub. */
  readonly data: string;
  /** File of the secret. If omitted, a file in the directory, which the first hub on a database makes. */
  readonly secretFile?: string | undefined;
  readonly clock: WallClock;
  readonly log: Log;
}

type FoundKey = Awaited<ReturnType<JWTVerifyGetKey>>;

/** A decrypted key. */
interface OpenedKey extends KeyFacts {
  /** Encrypted form from which this key was decrypted. */
  readonly sealed: Uint8Array;
  readonly command?: CommandKey & { readonly trusted: Omit<TrustedKey, 'name'> };
  readonly token?: { readonly key: KeyObject; readonly jwk: JWK };
  readonly page?: Uint8Array;
}

export class GroupKeys implements HubKeys {
  readonly identity: string;
  readonly #parts: GroupKeysParts;
  readonly #secret: GroupSecret;
  #keys: readonly OpenedKey[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #looks: Looks | undefined;
  /** Ids of the keys for commands that the trust file contains. */
  #trusted: string | undefined;
  /** Last fault that was logged. */
  #fault: string | undefined;

  private constructor(parts: GroupKeysParts, secret: GroupSecret, identity: string) {
    this.#parts = parts;
    this.#secret = secret;
    this.identity = identity;
  }

  /**
   * Opens the keys in the database. Moves key files of this hub there, and makes missing keys. Rejects as {@link
   * GroupSecret.open} does, with `input.malformed` for a damaged key, and as {@link CommandSigner.open} does for an
   * unusable key file.
   */
  static async open(parts: GroupKeysParts): Promise<GroupKeys> {
    const { store, data, secretFile } = parts;
    const file = secretFile ?? groupSecretFile(data);
    makeDirectory(keysFolder(data), { of: 'keys', choose: '--data', mode: 0o700 });
    const secret = await GroupSecret.open(store, { file, makes: secretFile === undefined });
    const keys = new GroupKeys(parts, secret, await identityIn(data));
    await keys.#moveFiles();
    for (const purpose of keyPurposes) {
      const { facts, plain } = newKey(purpose);
      await store.add(secret.seal(facts, plain), { onlyFirst: true });
    }
    await keys.#read((error) => {
      throw error;
    });
    for (const purpose of keyPurposes) keys.#inUse(purpose);
    return keys;
  }

  /** Starts the regular reads. */
  begin(after: Timer): void {
    this.#looks = new Looks({ after, every: READ_EVERY_MS, look: () => this.#look() });
    this.#looks.begin();
  }

  /** Stops the reads. Resolves when no read is running. */
  async stop(): Promise<void> {
    await this.#looks?.stop();
  }

  commands(): readonly [CommandKey, ...CommandKey[]] {
    return this.#partsOf('commands', ({ command }) => command);
  }

  readonly pages = new PageTokens(() => this.#partsOf('pages', ({ page }) => page));

  readonly tokens: TokenKeys = {
    signer: async () => {
      const [signing] = this.#inUse('tokens');
      return { key: (signing.token as { readonly key: KeyObject }).key, id: signing.id };
    },
    verifier: (...asked) => this.#verify(...asked),
  };

  /** Makes the next key for a purpose. The others end `keepMs` after it signs; if omitted, they do not end. */
  async renew(purpose: KeyPurpose, keepMs: number | undefined): Promise<KeyFacts> {
    const { store, clock } = this.#parts;
    const now = Math.round(clock.now());
    const signsFrom = now + SIGNS_AFTER_MS;
    const { facts, plain } = newKey(purpose);
    const key = { ...this.#secret.seal(facts, plain), signsFrom };
    await store.renew(key, now, keepMs === undefined ? undefined : signsFrom + keepMs);
    await this.#look();
    return key;
  }

  /** Never rejects. Keeps the previous keys if the database cannot be reached or a key is damaged. */
  async #look(): Promise<void> {
    let fault: string | undefined;
    const failed = (error: Error): void => {
      fault = error.message;
    };
    await this.#read(failed).catch(failed);
    if (fault !== undefined && fault !== this.#fault) this.#parts.log.error('hub.keys.unread', { error: fault });
    this.#fault = fault;
  }

  async #read(damaged: (error: Error) => void): Promise<void> {
    const { store, data, clock } = this.#parts;
    this.#readAt = clock.now();
    const known = new Map(this.#keys.map((key) => [key.id, key]));
    const keys: OpenedKey[] = [];
    for (const row of await store.keys()) {
      const same = known.get(row.id);
      try {
        const isSame = same !== undefined && Buffer.compare(same.sealed, row.sealed) === 0;
        keys.push(isSame ? { ...same, ...row } : { ...row, ...opened(row, this.#secret.unseal(row)) });
      } catch (error) {
        damaged(error as Error);
        if (same !== undefined) keys.push(same);
      }
    }
    this.#keys = keys;
    const commands = this.#partsOf('commands', ({ command }) => command?.trusted);
    const ids = commands.map(({ kid }) => kid).join();
    if (ids !== this.#trusted) await trustOf(keysFolder(data), commands);
    this.#trusted = ids;
  }

  /** Keys for a purpose that are in use now. The first one signs. @throws VigieError `configuration.wrong` */
  #inUse(purpose: KeyPurpose): readonly [OpenedKey, ...OpenedKey[]] {
    const [first, ...others] = keysInUse(this.#keys, purpose, this.#parts.clock.now());
    if (first !== undefined) return [first, ...others];
    const text = `the database has no key for ${purpose} that is in use: vigie hub keys renew ${purpose}`;
    throw new VigieError('configuration.wrong', text);
  }

  #partsOf<T>(purpose: KeyPurpose, part: (key: OpenedKey) => T | undefined): readonly [T, ...T[]] {
    const [first, ...others] = this.#inUse(purpose).map((key) => part(key) as T);
    return [first as T, ...others];
  }

  async #verify(...[header, token]: Parameters<JWTVerifyGetKey>): Promise<FoundKey> {
    const find = async (): Promise<FoundKey> => {
      const keys = this.#inUse('tokens').map(({ id, token: one }) => ({ ...one?.jwk, kid: id }) as JWK);
      return createLocalJWKSet({ keys })(header, token);
    };
    try {
      return await find();
    } catch (error) {
      const isRecent = this.#parts.clock.now() - this.#readAt < READ_FOR_TOKEN_MS;
      if (!(error instanceof errors.JWKSNoMatchingKey) || isRecent) throw error;
      await this.#look();
      return find();
    }
  }

  /** Moves the key files of a hub into the database. Removes a file only when the database returns its key. */
  async #moveFiles(): Promise<void> {
    const { store, data, log } = this.#parts;
    for (const { file, purpose, read } of keyFiles(data, log)) {
      if (!existsSync(file)) continue;
      const { facts, plain } = await read();
      await store.add(this.#secret.seal(facts, plain));
      const row = (await store.keys()).find(({ id }) => id === facts.id);
      if (row === undefined || Buffer.compare(this.#secret.unseal(row), plain) !== 0) {
        throw new VigieError('store.failed', 'the database does not return this key', { where: file });
      }
      await rm(file);
      log.info('hub.keys.moved', { file, purpose, id: facts.id });
    }
    await nodeFileSystem.syncDirectory(data);
  }
}

/** Opens the keys for tokens of a hub, even while it runs. Rejects as {@link GroupKeys.open} does. */
export async function tokenKeysOf(
  { data, database, secretFile }: HubPlace,
  parts: Pick<GroupKeysParts, 'store'> & { readonly clock: Clock; readonly log: Log },
): Promise<TokenKeys> {
  if (database === undefined) {
    makeDirectory(keysFolder(data), { of: 'keys', choose: '--data', mode: 0o700 });
    return tokensInFile({ data, ...parts });
  }
  return (await GroupKeys.open({ ...parts, data, secretFile })).tokens;
}

interface PlainKey {
  readonly facts: KeyFacts;
  /** PKCS #8 in PEM, or the bytes of a key for pages. */
  readonly plain: Uint8Array;
}

interface KeyFile {
  readonly file: string;
  readonly purpose: KeyPurpose;
  read(): Promise<PlainKey>;
}

/** Key files of a hub from the time when it had its own keys. */
function keyFiles(data: string, log: Log): readonly KeyFile[] {
  const folder = keysFolder(data);
  const command = join(folder, `${OWN_KEY}.pem`);
  const token = tokenKeyFile(folder);
  const page = pageKeyFile(data);
  return [
    {
      file: command,
      purpose: 'commands',
      read: async () => {
        // This refuses a file that other users can read.
        await CommandSigner.open(folder, OWN_KEY);
        const pem = await readFile(command, 'utf8');
        const { kinds = commandKinds } = (await readTrust(folder)).find(({ name }) => name === OWN_KEY) ?? {};
        return signingKey('commands', pem, kinds);
      },
    },
    { file: token, purpose: 'tokens', read: async () => signingKey('tokens', await readFile(token, 'utf8'), []) },
    { file: page, purpose: 'pages', read: async () => pageKeyOf(pageKey(page, log)) },
  ];
}

function newKey(purpose: KeyPurpose): PlainKey {
  if (purpose === 'pages') return pageKeyOf(randomBytes(PAGE_KEY_BYTES));
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return signingKey(purpose, pem, purpose === 'commands' ? commandKinds : []);
}

function signingKey(purpose: KeyPurpose, pem: string, kinds: readonly string[]): PlainKey {
  const id = Buffer.from(keyIdOf(createPublicKey(pem))).toString('hex');
  return { facts: { id, purpose, kinds }, plain: Buffer.from(pem) };
}

function pageKeyOf(plain: Uint8Array): PlainKey {
  const id = createHash('sha256')
    .update(plain)
    .digest('hex')
    .slice(0, 2 * ID_BYTES);
  return { facts: { id, purpose: 'pages', kinds: [] }, plain };
}

function opened({ id, purpose, kinds }: KeyFacts, plain: Uint8Array): Pick<OpenedKey, 'command' | 'token' | 'page'> {
  if (purpose === 'pages') return { page: plain };
  const pem = Buffer.from(plain).toString();
  if (purpose === 'tokens') {
    return { token: { key: createPrivateKey(pem), jwk: createPublicKey(pem).export({ format: 'jwk' }) as JWK } };
  }
  const { algorithm, publicKey, seal } = sealingKey(pem, `key ${id}`);
  return { command: { id, sign: seal, trusted: { kid: id, algorithm, kinds, publicKey } } };
}

/** Updates the trust file, of which cars get copies. Entries of keys that stay in use remain unchanged. */
async function trustOf(folder: string, keys: readonly Omit<TrustedKey, 'name'>[]): Promise<void> {
  const before = await readTrust(folder);
  const isOwn = ({ name }: TrustedKey): boolean => name === OWN_KEY || name.startsWith(`${OWN_KEY}-`);
  const kept = before.filter((one) => !isOwn(one) || keys.some(({ kid }) => kid === one.kid));
  const added = keys
    .filter(({ kid }) => !kept.some((one) => one.kid === kid))
    .map((key) => ({ ...key, name: `${OWN_KEY}-${key.kid}` }));
  if (added.length > 0 || kept.length < before.length) await writeTrust(folder, [...kept, ...added]);
}

/**
 * Identity of a hub, under which a broker keeps its session. Taken from the key that it had before keys were shared.
 */
async function identityIn(data: string): Promise<string> {
  const file = join(keysFolder(data), 'hub.id');
  const read = async (): Promise<string | undefined> =>
    existsSync(file) ? (await readFile(file, 'utf8')).trim() : undefined;
  const known = await read();
  if (known !== undefined) return known;
  const isNew = !existsSync(join(keysFolder(data), `${OWN_KEY}.pem`));
  const id = isNew ? randomBytes(ID_BYTES) : (await CommandSigner.open(keysFolder(data), OWN_KEY)).keyId;
  const made = Buffer.from(id).toString('hex');
  try {
    await createWhole(file, `${made}\n`, 0o600);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return (await read()) ?? made;
}
