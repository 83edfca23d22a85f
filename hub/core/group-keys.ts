/** Keys that all hubs on one database share, in the form in which the database contains them. */

/** Purposes of keys: signatures of commands, of tokens, and of page tokens. */
export const keyPurposes = ['commands', 'tokens', 'pages'] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

/** The part of a key that is not secret. */
export interface KeyFacts {
  /** First 8 bytes, in hexadecimal, of the digest of the public key or, if there is none, of the secret key. */
  readonly id: string;
  readonly purpose: KeyPurpose;
  /** Kinds of command for which the key was made; empty for other purposes. */
  readonly kinds: readonly string[];
  /** Time in UTC ms from which the key may sign; 0 for the first key. The newest such key signs. If omitted, never. */
  readonly signsFrom?: number;
  /** Time in UTC ms from which the key is no longer used. If omitted, it is used until somebody ends it. */
  readonly ends?: number;
}

/** A key with its encrypted secret part. */
export interface SealedKey extends KeyFacts {
  readonly sealed: Uint8Array;
}

/** Proof with which a hub checks its secret before it uses a key. */
export interface SecretProof {
  readonly salt: Uint8Array;
  readonly proof: Uint8Array;
}

/**
 * The keys in the database. The proof must be stored before the first key. All methods reject with `store.failed` if
 * the database cannot be read or written.
 */
export interface GroupKeyStore {
  proof(): Promise<SecretProof | undefined>;
  /** Stores the proof unless there is one. */
  addProof(proof: SecretProof): Promise<void>;
  /** In a stable order. */
  keys(): Promise<readonly SealedKey[]>;
  /**
   * Adds a key unless its id is known. The key signs if no other key for the purpose does. With `onlyFirst`, adds
   * nothing if there is any key for the purpose.
   */
  add(key: SealedKey, options?: { readonly onlyFirst?: boolean }): Promise<void>;
  /**
   * Adds the next signing key, ends the others for its purpose at `othersEnd`, and erases keys that ended before `at`.
   */
  renew(key: SealedKey, at: number, othersEnd: number | undefined): Promise<void>;
  /** Ends the key. Resolves with false if no such key is in use at `at`. */
  end(id: string, at: number): Promise<boolean>;
}

/** Returns the keys for a purpose that are in use at `now`: first the one that signs, then the newest first. */
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
