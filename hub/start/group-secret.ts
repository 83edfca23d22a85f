/**
 * The secret of a group of hubs, with which their keys are encrypted: AES-256-GCM (NIST SP 800-38D). The encryption key
 * differs for each purpose; HKDF (RFC 5869) derives it from a key that scrypt (RFC 7914) derives from the secret.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createWhole, hasCode } from '../../adapters/keys/index.ts';
import { readSecret } from '../../config/credentials.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { GroupKeyStore, KeyFacts, SealedKey, SecretProof } from '../core/group-keys.ts';

/** Cost of scrypt: 32 MiB and about 80 ms, once per start. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Length in bytes of nonce and tag in GCM (SP 800-38D §5.2.1). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Length in characters of the shortest secret: a copy of the database must not suffice to guess it. */
const MIN_SECRET_LENGTH = 20;
const CIPHER = 'aes-256-gcm';
/** Text that the proof contains in encrypted form. */
const PROOF = 'vigie hub group 1';

/** Advice for a hub that has no secret, or the secret of another group. */
const COPY = 'copy the secret of a hub that uses this database (keys/group.secret in its --data) to this file';

/** Returns the file of the secret if the configuration of the hub names none. */
export const groupSecretFile = (data: string): string => join(data, 'keys', 'group.secret');

/** Encrypts keys for the database and decrypts them. */
export class GroupSecret {
  readonly #master: Uint8Array;

  private constructor(secret: string, salt: Uint8Array) {
    this.#master = scryptSync(secret, salt, KEY_BYTES, SCRYPT);
  }

  /**
   * Reads the secret and compares it with the database. If the database has no keys, stores the proof of the secret,
   * and, if `makes`, first makes a missing file. Rejects with `input.unreadable` or `configuration.wrong`, and says
   * what to do, if the file is missing, too short or contains another secret.
   */
  static async open(
    store: Pick<GroupKeyStore, 'proof' | 'addProof'>,
    { file, makes }: { readonly file: string; readonly makes: boolean },
  ): Promise<GroupSecret> {
    const known = await store.proof();
    if (known === undefined && makes && !existsSync(file)) await makeSecret(file);
    else if (known !== undefined && !existsSync(file)) {
      const text = `is missing, and the keys in the database are encrypted by it: ${COPY}`;
      throw new VigieError('input.unreadable', text, { where: file });
    }
    const secret = readSecret(file);
    if (secret.length < MIN_SECRET_LENGTH) {
      const text = `must have at least ${MIN_SECRET_LENGTH} characters, such as the output of: openssl rand -base64 32`;
      throw new VigieError('configuration.wrong', text, { where: file });
    }
    if (known === undefined) {
      const salt = randomBytes(SALT_BYTES);
      await store.addProof({ salt, proof: new GroupSecret(secret, salt).#encrypt(Buffer.from(PROOF), 'proof', '') });
    }
    // Another hub may have stored its proof before this one.
    const { salt, proof } = (await store.proof()) as SecretProof;
    const opened = new GroupSecret(secret, salt);
    if (Buffer.from(opened.#decrypt(proof, 'proof', '') ?? []).toString() === PROOF) return opened;
    throw new VigieError('configuration.wrong', `is not the secret of the keys in the database: ${COPY}`, {
      where: file,
    });
  }

  seal(key: KeyFacts, secret: Uint8Array): SealedKey {
    return { ...key, sealed: this.#encrypt(secret, key.purpose, boundTo(key)) };
  }

  /** Returns the secret part of a key. @throws VigieError `input.malformed` for a damaged row */
  unseal(key: SealedKey): Uint8Array {
    const secret = this.#decrypt(key.sealed, key.purpose, boundTo(key));
    if (secret !== undefined) return secret;
    const text = `the key ${key.id} (${key.purpose}) in the database is damaged: restore a backup of the database, or give the key up with vigie hub keys end ${key.id}`;
    throw new VigieError('input.malformed', text);
  }

  #encrypt(secret: Uint8Array, purpose: string, bound: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(purpose), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(bound));
    return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  /** Returns undefined if the bytes were encrypted with another secret, or were changed. */
  #decrypt(sealed: Uint8Array, purpose: string, bound: string): Uint8Array | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(purpose), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(bound));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      // The tag does not match. node:crypto has the same error for all reasons.
      return undefined;
    }
  }

  #keyOf(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#master, new Uint8Array(), `vigie hub ${purpose}`, KEY_BYTES));
  }
}

/** Returns the facts to which the encryption binds a key, so that rows cannot be exchanged. */
function boundTo({ id, kinds }: KeyFacts): string {
  return JSON.stringify([id, kinds]);
}

async function makeSecret(file: string): Promise<void> {
  try {
    await createWhole(file, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, 0o600);
  } catch (cause) {
    // A command for the same hub has just made the file.
    if (hasCode(cause, 'EEXIST')) return;
    throw new VigieError('store.failed', (cause as Error).message, { where: file, cause });
  }
}
