/** Changes of keys by commands, kept in a file and in the journal, so that no damage revalidates a revoked key. */

import { VigieError } from '../../protocol/errors.ts';
import { readEntries, type TrustedKey, trustEntries } from './trust-file.ts';

/** Changes since the trust file was written: added keys in the form of that file, and ids of revoked keys. */
export interface TrustChanges {
  /** Number of changes so far. The copy with the higher number is newer. */
  readonly generation?: number;
  readonly keys?: readonly object[];
  /** Ids of revoked keys in hexadecimal. */
  readonly revoked?: readonly string[];
  /** Present if changes may be lost. No key is trusted until a person at the unit has confirmed the list. */
  readonly unconfirmed?: {
    /** Human-readable description of what may be lost. */
    readonly why: string;
    /** Name of the trust file that was in use. */
    readonly file?: string;
  };
}

/** Returns `data` as {@link TrustChanges}, or undefined if it is invalid. Does not check the keys in it. */
export function readTrustChanges(data: unknown): TrustChanges | undefined {
  if (!isObject(data)) return undefined;
  const { generation = 0, keys = [], revoked = [], unconfirmed } = data as Partial<Record<keyof TrustChanges, unknown>>;
  const isOne =
    Number.isSafeInteger(generation) &&
    Array.isArray(keys) &&
    keys.every(isObject) &&
    Array.isArray(revoked) &&
    revoked.every((kid) => typeof kid === 'string') &&
    (unconfirmed === undefined || isObject(unconfirmed));
  return isOne ? (data as TrustChanges) : undefined;
}

/** Contents of both copies at startup. */
interface TrustCopies {
  readonly file: TrustChanges;
  /** Which generation of the file could be read. */
  readonly found: 'newest' | 'previous' | 'none';
  /** Number of generations of the file that could not be read. */
  readonly corrupt: number;
  readonly journal: TrustChanges | undefined;
  /** True if the journal has lost data, so that its copy may not be the newest. */
  readonly journalDamaged: boolean;
  /** True if there was never a copy. */
  readonly first: boolean;
}

/**
 * Returns the newer of the two copies. The file is written before the journal, so a readable file is at least as new as
 * the journal, unless somebody has replaced it by an older one. The previous generation of the file lacks the last
 * change. If it is uncertain whether either copy has every change, the result contains all known revocations and is
 * {@link TrustChanges.unconfirmed}.
 */
export function newestChanges(copies: TrustCopies): TrustChanges {
  const { file, found, corrupt, journal, journalDamaged, first } = copies;
  const ahead = generationOf(journal) - generationOf(file);
  const newer = journal !== undefined && (ahead > 0 || found === 'none') ? journal : file;
  if (found === 'newest') return newer;
  if (journal !== undefined && !journalDamaged && ahead >= 0) return journal;
  if (first && found === 'none' && corrupt === 0 && journal === undefined) return file;
  const state = corrupt > 0 ? 'damaged' : 'missing';
  const other = journal === undefined ? 'has no copy of it' : journalDamaged ? 'is damaged too' : 'has an older copy';
  return {
    generation: Math.max(generationOf(file), generationOf(journal)) + 1,
    keys: newer.keys ?? [],
    revoked: [...new Set([...(file.revoked ?? []), ...(journal?.revoked ?? [])])],
    unconfirmed: { why: `the list of changed keys (trust.json) is ${state}, and the journal ${other}` },
  };
}

/** A key in a list that a person must confirm. */
export interface Candidate {
  readonly key: TrustedKey;
  /** True if a command has added the key; false if it is in the trust file. */
  readonly added: boolean;
  /** True if the key is known to be revoked; then it stays revoked. */
  readonly revoked: boolean;
}

/**
 * Returns the keys that a person may trust again, including revoked ones: first the keys in the trust file, then added
 * keys. If an entry was written by an agent of another version and is unreadable here, calls `unreadable` with the
 * fault and omits the entry.
 */
export function candidatesOf(
  { keys = [], revoked = [] }: TrustChanges,
  file: readonly TrustedKey[],
  unreadable: (what: string) => void,
): Candidate[] {
  const added = readAdded(keys, unreadable).keys;
  const found = new Map([...file, ...added].map((key) => [key.kid, key]));
  return [...found.values()].map((key) => ({
    key,
    added: added.includes(key),
    revoked: revoked.includes(key.kid),
  }));
}

/** Returns the keys in the readable entries, and the unreadable entries. */
export function readAdded(
  entries: readonly object[],
  unreadable: (what: string) => void,
): { readonly keys: readonly TrustedKey[]; readonly unread: readonly object[] } {
  const keys: TrustedKey[] = [];
  const unread: object[] = [];
  for (const entry of entries) {
    try {
      keys.push(...readEntries([entry], (what, cause) => new VigieError('configuration.wrong', what, { cause })));
    } catch (error) {
      unreadable((error as Error).message);
      unread.push(entry);
    }
  }
  return { keys, unread };
}

/** Returns the changes after a person has confirmed the keys `kids`: all other candidates are revoked. */
export function confirmChanges(
  changes: TrustChanges,
  candidates: readonly Candidate[],
  kids: ReadonlySet<string>,
): TrustChanges {
  const others = candidates.flatMap(({ key }) => (kids.has(key.kid) ? [] : [key.kid]));
  return {
    generation: generationOf(changes) + 1,
    keys: trustEntries(candidates.flatMap(({ key, added }) => (added && kids.has(key.kid) ? [key] : []))),
    revoked: [...new Set([...(changes.revoked ?? []), ...others])],
  };
}

function generationOf(changes: TrustChanges | undefined): number {
  return changes?.generation ?? 0;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
