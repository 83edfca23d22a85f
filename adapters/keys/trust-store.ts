import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Clock, Document, Log, NewKey, SignatureVerifier, TrustKeeper } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import type { HelloKey } from '../../protocol/schema/hello.ts';
import type { CommandKind } from '../../protocol/schema/remote.ts';
import { readAdded, type TrustChanges } from './trust-changes.ts';
import {
  algorithmOf,
  algorithms,
  keyIdOf,
  readTrustFile,
  type TrustedKey,
  trustEntries,
  unknownKinds,
} from './trust-file.ts';

interface TrustOptions {
  /** Document that stores changes by commands. If omitted, commands cannot change keys. */
  readonly changes?: Document<TrustChanges>;
  /** Receives an error for each added key that cannot be read. */
  readonly log?: Log;
  /** The unit's own keys, which commands cannot change. */
  readonly own?: readonly TrustedKey[];
}

/** Kind of command that changes keys. */
const ROOT = 'Trust';
/** Name under which the journal stores its copy of the changes among its states. */
export const TRUST_STATE = 'trust';
/** Advice if the list may have lost changes. */
export const CONFIRM = 'stop the agent and run `vigie keys confirm` on the unit';

/**
 * The keys in a trust file, plus changes by commands. A key outside its validity counts as unknown, and a revoked key
 * stays revoked even if the file contains it. While the list of revoked keys is unreadable, only the unit's own key is
 * trusted, which commands cannot revoke.
 */
export class TrustStore implements SignatureVerifier, TrustKeeper {
  #file: readonly TrustedKey[] = [];
  readonly #own: readonly TrustedKey[];
  readonly #changes: Document<TrustChanges> | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  /** The changes that are on disk. The document may contain changes that the disk failed to store. */
  #kept: TrustChanges;
  #added: readonly TrustedKey[];
  /** Entries that this agent cannot read, because an agent of another version wrote them. */
  readonly #unread: readonly object[];
  #keys: ReadonlyMap<string, TrustedKey> = new Map();
  #reported: readonly HelloKey[] = [];
  #changed: () => void = () => undefined;
  /** Resolves when no change is in progress. */
  #last: Promise<void> = Promise.resolve();

  private constructor(clock: Pick<Clock, 'now'>, { changes, own = [], log }: TrustOptions) {
    this.#clock = clock;
    this.#changes = changes;
    this.#own = own;
    this.#kept = Object.freeze(changes?.data ?? {});
    const { keys, unread } = readAdded(this.#kept.keys ?? [], (error) => log?.error('trust.malformed', { error }));
    this.#added = keys;
    this.#unread = unread;
    this.#merge();
  }

  /** Returns a store without a trust file: the car obeys only its own keys and those that commands have added. */
  static without(clock: Pick<Clock, 'now'>, options: TrustOptions = {}): TrustStore {
    return new TrustStore(clock, options);
  }

  /** Returns a store that has read a trust file. Throws like {@link take}. */
  static open(path: string, clock: Pick<Clock, 'now'>, options: TrustOptions = {}): TrustStore {
    const store = new TrustStore(clock, options);
    store.take(path);
    return store;
  }

  /**
   * Reads the keys in a trust file, which replace those read before. Throws `input.unreadable` or
   * `configuration.wrong`, with the path and a remedy; then the previous keys stay trusted.
   */
  take(path: string): void {
    this.#file = readTrustFile(path);
    this.#merge();
  }

  /** Reason why no key is trusted if changes of keys may be lost; otherwise undefined. */
  get unconfirmed(): string | undefined {
    const { unconfirmed } = this.#kept;
    return unconfirmed && `no key is trusted, because ${unconfirmed.why}; ${CONFIRM}`;
  }

  /**
   * Keys with which others may command the car, with their kinds: without the unit's own and expired ones. Returns the
   * same list until they change.
   */
  get reported(): readonly HelloKey[] {
    return this.#reported;
  }

  /** Calls `changed` after each change of {@link reported}. Replaces the previous listener. */
  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  /** Returns the journal's copy of the changes, for `Memory`. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    if (this.#changes !== undefined) yield [TRUST_STATE, this.#kept];
  }

  /** Returns the reason why a key is not trusted, for the log. */
  why(id: Uint8Array): string {
    const kid = hex(id);
    if (this.unconfirmed !== undefined) return this.unconfirmed;
    if (this.#revoked.includes(kid)) return 'it was revoked';
    return this.#keys.has(kid) ? 'it is not valid at this time' : 'it is not known';
  }

  key(
    id: Uint8Array,
  ): { readonly algorithm: number; readonly kinds: readonly string[]; readonly name: string } | undefined {
    const key = this.#valid(id);
    return key && { algorithm: algorithms[key.algorithm], kinds: key.kinds, name: key.name };
  }

  /** Returns true if `signature` over `message` is valid for the key; false also for an unknown key. */
  verify(id: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    const key = this.#valid(id);
    // Signatures of both algorithms have 64 bytes (RFC 9053 section 2); node:crypto would throw for other lengths.
    if (key === undefined || signature.length !== 64) return false;
    return key.algorithm === 'ES256'
      ? verify('sha256', message, { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature)
      : verify(null, message, key.publicKey, signature);
  }

  /** Returns the SHA-256 in base64. */
  digest(message: Uint8Array): string {
    return createHash('sha256').update(message).digest('base64');
  }

  add(key: NewKey): Promise<void> {
    return this.#inTurn(() => this.#add(key));
  }

  revoke(id: Uint8Array): Promise<void> {
    return this.#inTurn(() => this.#revoke(id));
  }

  /** Runs changes one after another: each is checked against, and based on, the result of the previous one on disk. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const changed = this.#last.then(change);
    // The caller of a failed change handles its error.
    this.#last = changed.catch(() => undefined);
    return changed;
  }

  async #add(key: NewKey): Promise<void> {
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

  async #revoke(id: Uint8Array): Promise<void> {
    const kid = hex(id);
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

  get #revoked(): readonly string[] {
    return this.#kept.revoked ?? [];
  }

  async #change(added: readonly TrustedKey[], revoked: readonly string[]): Promise<void> {
    if (this.#changes === undefined)
      throw new VigieError('command.forbidden', 'the keys of this car cannot be changed');
    const { generation = 0 } = this.#kept;
    const changed = { generation: generation + 1, keys: [...this.#unread, ...trustEntries(added)], revoked };
    await this.#changes.write(changed);
    this.#kept = Object.freeze(changed);
    this.#added = added;
    this.#merge();
  }

  /** Merges the keys. Of keys with the same id, the file's override added ones, and the unit's own override both. */
  #merge(): void {
    const gone = new Set(this.#revoked);
    const trusted = this.#kept.unconfirmed === undefined ? [...this.#added, ...this.#file] : [];
    const keys = trusted.filter(({ kid }) => !gone.has(kid));
    this.#keys = new Map([...keys, ...this.#own].map((key) => [key.kid, key]));
    const now = this.#clock.now();
    const reported = [...this.#keys.values()]
      .filter((key) => !this.#own.includes(key) && (key.notAfter ?? now) >= now)
      .map(({ kid, kinds }): HelloKey => ({ id: kid, kinds: [...kinds] as CommandKind[] }));
    if (JSON.stringify(reported) === JSON.stringify(this.#reported)) return;
    this.#reported = reported;
    this.#changed();
  }

  #valid(id: Uint8Array): TrustedKey | undefined {
    const key = this.#keys.get(hex(id));
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
  const kid = hex(keyIdOf(publicKey));
  const validity = defined({ notBefore, notAfter });
  return { name, kid, algorithm, kinds, publicKey, ...validity };
}
