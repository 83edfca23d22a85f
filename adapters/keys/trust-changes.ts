/** Changes of the keys by commands, in a file and in the journal, so that no damage makes a revoked key valid again. */

import { VigieError } from '../../protocol/errors.ts';
import { readEntries, type TrustedKey, trustEntries } from './trust-file.ts';

/** Changes since the trust file was written: entries in the form of that file, and key ids. */
export interface TrustChanges {
  /** Number of changes: the copy with the higher number is newer. */
  readonly generation?: number;
  readonly keys?: readonly object[];
  /** Ids of revoked keys, hexadecimal. */
  readonly revoked?: readonly string[];
  /** Present if changes may be lost: no key is trusted until a person at the unit has confirmed the list. */
  readonly unconfirmed?: {
    /** Description of the lost changes, for people. */
    readonly why: string;
    /** Name of the trust file that was in use. */
    readonly file?: string;
  };
}

/** Returns the document of {@link TrustChanges}, or undefined for invalid `data`; does not check its keys. */
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

/** Content of both copies at the start. */
interface TrustCopies {
  readonly file: TrustChanges;
  /** Copy of the file that could be read. */
  readonly found: 'newest' | 'previous' | 'none';
  /** Number of files that could not be read. */
  readonly corrupt: number;
  readonly journal: TrustChanges | undefined;
  /** True if the journal has lost data: its copy may not be the newest. */
  readonly journalDamaged: boolean;
  /** True if there was never a copy. */
  readonly first: boolean;
}

/**
 * Returns the newest of both copies. The file is written before the journal: a readable file is the newest, or as new
 * as the journal, unless somebody has replaced it by an older one. The previous generation of the file lacks the last
 * change. If neither copy certainly has every change, the result contains all known revocations and is
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

/** A key of a list that a person must confirm. */
export interface Candidate {
  readonly key: TrustedKey;
  /** True if a command has added it; false if it is in the trust file. */
  readonly added: boolean;
  /** True if it is known to be revoked; it stays revoked. */
  readonly revoked: boolean;
}

/**
 * Returns all keys that may be trusted again, and all revoked ones: keys of the trust file, then added keys.
 * Calls `unreadable` with the fault of an entry that an agent of another version made; such an entry is omitted.
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

/** Returns the keys among the readable entries, and the unreadable entries. */
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

/** Records that a person has confirmed the keys `kids` as trusted: revokes every other candidate. */
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
