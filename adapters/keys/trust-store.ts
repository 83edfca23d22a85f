import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock, Document, Log, NewKey, SignatureVerifier, TrustKeeper } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { unreadable } from './files.ts';
import {
  algorithmOf,
  algorithms,
  keyIdOf,
  parseTrust,
  readEntries,
  type TrustedKey,
  trustEntries,
  unknownKinds,
} from './trust-file.ts';

/** What commands have changed of the keys since the trust file was written: entries as in the file, and key ids. */
export interface TrustChanges {
  readonly keys?: readonly object[];
  /** Hexadecimal. */
  readonly revoked?: readonly string[];
}

/** The document of {@link TrustChanges}, if `data` is one; whether its keys can be read is not looked at. */
export function readTrustChanges(data: unknown): TrustChanges | undefined {
  if (!isObject(data)) return undefined;
  const { keys = [], revoked = [] } = data as { readonly keys?: unknown; readonly revoked?: unknown };
  const isOne =
    Array.isArray(keys) &&
    keys.every(isObject) &&
    Array.isArray(revoked) &&
    revoked.every((kid) => typeof kid === 'string');
  return isOne ? { keys, revoked } : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export interface TrustOptions {
  /** Where changes by command are kept; without it there are none. */
  readonly changes?: Document<TrustChanges>;
  /** Told of keys that were added and cannot be read. */
  readonly log?: Log;
  /** Keys of the unit itself, which no command changes. */
  readonly own?: readonly TrustedKey[];
}

/** A key that may change keys. */
const ROOT = 'Trust';

/**
 * The keys of a trust file, and what commands have changed of them. A key outside its validity is as good as unknown, and
 * one that was revoked stays so, also if it stands in the file.
 */
export class TrustStore implements SignatureVerifier, TrustKeeper {
  #file: readonly TrustedKey[] = [];
  readonly #own: readonly TrustedKey[];
  readonly #changes: Document<TrustChanges> | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  #added: readonly TrustedKey[];
  /** As they are on disk. Those of the document may be ones that the disk did not take. */
  #revoked: readonly string[];
  /** Entries that an agent of another version made, and that mean something to it. */
  readonly #unread: readonly object[];
  #keys: ReadonlyMap<string, TrustedKey> = new Map();

  private constructor(clock: Pick<Clock, 'now'>, { changes, own = [], log }: TrustOptions) {
    this.#clock = clock;
    this.#changes = changes;
    this.#own = own;
    const { keys = [], revoked = [] } = changes?.data ?? {};
    const unread: object[] = [];
    this.#added = keys.flatMap((entry) => {
      try {
        return readEntries([entry], (what, cause) => new VigieError('configuration.wrong', what, { cause }));
      } catch (error) {
        log?.error('a key that was added by command is not obeyed', { error: (error as Error).message });
        unread.push(entry);
        return [];
      }
    });
    this.#unread = unread;
    this.#revoked = revoked;
    this.#merge();
  }

  /** A car that has no trust file obeys its own keys, and those that commands have added. */
  static without(clock: Pick<Clock, 'now'>, options: TrustOptions = {}): TrustStore {
    return new TrustStore(clock, options);
  }

  /** One that has read a trust file. Throws as {@link take} does. */
  static open(path: string, clock: Pick<Clock, 'now'>, options: TrustOptions = {}): TrustStore {
    const store = new TrustStore(clock, options);
    store.take(path);
    return store;
  }

  /**
   * Takes the keys of a trust file, in place of those of one before. Throws `input.unreadable` or `configuration.wrong`,
   * with the path and what to do; what was trusted before stays then.
   */
  take(path: string): void {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw unreadable(path, error, 'copy the trust.json that lies beside the signing keys, or make keys (vigie keys)');
    }
    this.#file = parseTrust(text, path);
    this.#merge();
  }

  key(id: Uint8Array): { readonly algorithm: number; readonly kinds: readonly string[] } | undefined {
    const key = this.#valid(id);
    return key && { algorithm: algorithms[key.algorithm], kinds: key.kinds };
  }

  /** Whether `signature` is that of the key over `message`; false also for an unknown key and for no signature at all. */
  verify(id: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    const key = this.#valid(id);
    // Both algorithms have signatures of 64 bytes (RFC 9053 section 2); others would make node:crypto throw.
    if (key === undefined || signature.length !== 64) return false;
    return key.algorithm === 'ES256'
      ? verify('sha256', message, { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature)
      : verify(null, message, key.publicKey, signature);
  }

  async add(key: NewKey): Promise<void> {
    const added = keyOf(key);
    const { kid, name } = added;
    if (this.#revoked.includes(kid)) throw new VigieError('command.forbidden', `key ${kid} was revoked`);
    const known = this.#keys.get(kid);
    if (known !== undefined && JSON.stringify(trustEntries([known])) === JSON.stringify(trustEntries([added]))) return;
    const namesake = [...this.#keys.values()].find((other) => other.name === name || other.kid === kid);
    if (namesake !== undefined) {
      throw new VigieError('command.forbidden', `there is a key ${namesake.name} (${namesake.kid}): revoke it first`);
    }
    await this.#change([...this.#added, added], this.#revoked);
  }

  async revoke(id: Uint8Array): Promise<void> {
    const kid = Buffer.from(id).toString('hex');
    if (this.#revoked.includes(kid)) return;
    const key = this.#keys.get(kid);
    if (key === undefined || this.#own.includes(key)) throw new VigieError('input.unknown', `there is no key ${kid}`);
    const now = this.#clock.now();
    const roots = [...this.#keys.values()].filter(
      ({ kinds, notAfter = Number.POSITIVE_INFINITY }) => kinds.includes(ROOT) && notAfter > now,
    );
    if (roots.every((root) => root === key)) {
      throw new VigieError('command.forbidden', `without ${key.name} no key could change keys: add another first`);
    }
    await this.#change(
      this.#added.filter((added) => added !== key),
      [...this.#revoked, kid],
    );
  }

  async #change(added: readonly TrustedKey[], revoked: readonly string[]): Promise<void> {
    if (this.#changes === undefined)
      throw new VigieError('command.forbidden', 'the keys of this car cannot be changed');
    await this.#changes.write({ keys: [...this.#unread, ...trustEntries(added)], revoked });
    this.#added = added;
    this.#revoked = revoked;
    this.#merge();
  }

  /** What was flashed comes before what was added. */
  #merge(): void {
    const gone = new Set(this.#revoked);
    const keys = [...this.#added, ...this.#file].filter(({ kid }) => !gone.has(kid));
    this.#keys = new Map([...keys, ...this.#own].map((key) => [key.kid, key]));
  }

  #valid(id: Uint8Array): TrustedKey | undefined {
    const key = this.#keys.get(Buffer.from(id).toString('hex'));
    if (key === undefined) return undefined;
    const { notBefore = -Infinity, notAfter = Infinity } = key;
    const now = this.#clock.now();
    return now >= notBefore && now <= notAfter ? key : undefined;
  }
}

function keyOf({ name, publicKey: encoded, kinds, notBefore, notAfter }: NewKey): TrustedKey {
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key: Buffer.from(encoded), type: 'spki', format: 'der' });
  } catch (cause) {
    throw new VigieError('input.malformed', `no SubjectPublicKeyInfo: ${(cause as Error).message}`, { cause });
  }
  const algorithm = algorithmOf(publicKey);
  if (algorithm === undefined) throw new VigieError('input.malformed', 'the key must be of P-256 or Ed25519');
  const unknown = unknownKinds(kinds);
  if (unknown.length > 0 || kinds.length === 0) {
    throw new VigieError('input.malformed', `kinds of command: ${unknown.join(', ') || 'none'}`);
  }
  const kid = Buffer.from(keyIdOf(publicKey)).toString('hex');
  const validity = {
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(notAfter === undefined ? {} : { notAfter }),
  };
  return { name, kid, algorithm, kinds, publicKey, ...validity };
}
