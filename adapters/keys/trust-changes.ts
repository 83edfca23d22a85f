/** Changes of the keys by commands, in a file and in the journal, so that no damage makes a revoked key valid again. */

import { VigieError } from '../../protocol/errors.ts';
import { readEntries, type TrustedKey, trustEntries } from './trust-file.ts';

/** Since the trust file was written: entries as in that file, and key ids. */
export interface TrustChanges {
  /** Counts the changes: of two copies the one with the higher is newer. */
  readonly generation?: number;
  readonly keys?: readonly object[];
  /** Hexadecimal. */
  readonly revoked?: readonly string[];
  /** Changes may be lost: no key is trusted until a person at the unit has confirmed the list. */
  readonly unconfirmed?: {
    /** Lost changes, for people. */
    readonly why: string;
    /** The trust file that was in use. */
    readonly file?: string;
  };
}

/** The document of {@link TrustChanges}, if `data` is one; whether its keys can be read is not looked at. */
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

/** Content of both copies at a start. */
interface TrustCopies {
  readonly file: TrustChanges;
  /** Copy of the file that was read. */
  readonly found: 'newest' | 'previous' | 'none';
  /** Files that could not be read. */
  readonly corrupt: number;
  readonly journal: TrustChanges | undefined;
  /** The journal has lost something: its copy may not be the newest. */
  readonly journalDamaged: boolean;
  /** There never was a copy. */
  readonly first: boolean;
}

/**
 * The newest of both copies. The file is written before the journal: a file that can be read is the newest, or as new as
 * the journal, unless somebody has put an older one in its place. The previous generation of the file lacks the last
 * change. Where neither copy is known to have every change, the result has all revocations that are known, and is
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

/** A key of a list that a person has to confirm. */
export interface Candidate {
  readonly key: TrustedKey;
  /** A command has added it; else it is of the trust file. */
  readonly added: boolean;
  /** It is known to be revoked, and stays so. */
  readonly revoked: boolean;
}

/**
 * All keys that may be trusted again, and those that are known to be revoked: of the trust file, then what was added.
 * `unreadable` is called with what is wrong with an entry that an agent of another version made, which is left out.
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

/** The keys among entries that can be read, and the entries that cannot. */
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

/** A person has confirmed that the keys `kids` are to be trusted: every other candidate is revoked. */
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
