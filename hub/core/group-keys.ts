/** Keys that all hubs on one database share, as the database has them. */

/** Uses of keys: signatures of commands, of tokens, and of page tokens. */
export const keyPurposes = ['commands', 'tokens', 'pages'] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

/** The part of a key that is not secret. */
export interface KeyFacts {
  /** First 8 bytes of the digest of the public key, or of a secret key without one; hexadecimal. */
  readonly id: string;
  readonly purpose: KeyPurpose;
  /** Kinds of command that the key was made for; empty for other purposes. */
  readonly kinds: readonly string[];
  /** The newest key whose time has come signs, UTC ms; 0 for the first key. If omitted, the key is only accepted. */
  readonly signsFrom?: number;
  /** The key is no longer used from then on, UTC ms. If omitted, it is used until somebody ends it. */
  readonly ends?: number;
}

/** A key with its encrypted secret part. */
export interface SealedKey extends KeyFacts {
  readonly sealed: Uint8Array;
}

/** Evidence by which a hub checks its secret before it uses a key. */
export interface SecretProof {
  readonly salt: Uint8Array;
  readonly proof: Uint8Array;
}

/** The keys in the database. The proof must be stored before the first key. All methods reject with `store.failed` if it cannot read or write. */
export interface GroupKeyStore {
  proof(): Promise<SecretProof | undefined>;
  /** Stores the proof unless there is one. */
  addProof(proof: SecretProof): Promise<void>;
  /** In a stable order. */
  keys(): Promise<readonly SealedKey[]>;
  /**
   * Adds a key unless its id is known. It signs if no other key of the purpose does. `onlyFirst` adds nothing if the
   * purpose has any key.
   */
  add(key: SealedKey, options?: { readonly onlyFirst?: boolean }): Promise<void>;
  /** Adds the next signing key, ends other keys of the purpose at `othersEnd`, and erases keys that ended before `at`. */
  renew(key: SealedKey, at: number, othersEnd: number | undefined): Promise<void>;
  /** Ends the key. Resolves with false if there is none that is in use at `at`. */
  end(id: string, at: number): Promise<boolean>;
}

/** Returns the keys of a purpose that are in use at `now`: first the one that signs, then the newest first. */
export function keysInUse<T extends KeyFacts>(keys: readonly T[], purpose: KeyPurpose, now: number): readonly T[] {
  const used = keys.filter((key) => key.purpose === purpose && (key.ends ?? Number.POSITIVE_INFINITY) > now);
  const rank = ({ signsFrom = Number.NEGATIVE_INFINITY }: T): number => signsFrom;
  const signing = used.filter((key) => rank(key) <= now && key.signsFrom !== undefined);
  const [first] = newestFirst(signing, rank);
  return first === undefined ? [] : [first, ...newestFirst(used, rank).filter((key) => key !== first)];
}

function newestFirst<T extends KeyFacts>(keys: readonly T[], rank: (key: T) => number): readonly T[] {
  return [...keys].sort((a, b) => rank(b) - rank(a) || (a.id < b.id ? -1 : 1));
}
