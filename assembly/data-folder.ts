/** The list of all files in a folder of records, with the consequence if one is missing. */
import { join } from 'node:path';
import { FIRST_START, type FileSystem, nodeFileSystem, unreadable } from '../adapters/store/index.ts';
import type { Log } from '../agent/ports.ts';
import { isReadFailure } from '../protocol/read-failure.ts';
import type { HelloMissing } from '../protocol/schema/hello.ts';

/** A file or folder of the records. */
interface FolderEntry {
  /** Path relative to the folder. */
  readonly name: string;
  /** `document`: has two generations, either of which is enough to read it. */
  readonly kind: 'document' | 'file' | 'folder';
  /**
   * Who requires the entry once a first start has finished: every agent, or only `vigie run`. `no`: the entry is
   * temporary, or is recreated without a loss.
   */
  readonly required: 'agent' | 'run' | 'no';
  /** If set, the entry is required only if another entry's name matches. */
  readonly beside?: RegExp;
  /** Consequence if the entry is missing, for people to read. */
  readonly consequence: string;
  /** If set, this event reports the missing entry instead of `records.missing`. */
  readonly reported?: 'records.versionDamaged';
}

const NONE = 'none: the agent makes it again when it needs it';

export const folderEntries: readonly FolderEntry[] = [
  {
    name: 'version',
    kind: 'file',
    required: 'run',
    consequence: 'the number of the format comes from version.copy; without both the agent assumes its own format',
    reported: 'records.versionDamaged',
  },
  {
    name: 'version.copy',
    kind: 'file',
    required: 'run',
    consequence: 'the number of the format is there only once until it is written again',
    reported: 'records.versionDamaged',
  },
  {
    name: 'boot.json',
    kind: 'document',
    required: 'agent',
    consequence: 'starts are counted on from the journal; without it from another random number, as in a new folder',
  },
  {
    name: 'remotes.json',
    kind: 'document',
    required: 'agent',
    consequence:
      'it is not sure which earlier commands were carried out: the agent refuses those issued up to five minutes after this start',
  },
  {
    name: 'trust.json',
    kind: 'document',
    required: 'agent',
    consequence:
      'changes of keys by commands come from the journal; without that copy no key is trusted until a person confirms the list',
  },
  { name: 'starts.json', kind: 'document', required: 'run', consequence: 'earlier crashes of the agent do not count' },
  {
    name: 'configuration.json',
    kind: 'document',
    required: 'run',
    // The agent writes it when the cloud sends a configuration.
    beside: /^configuration\/[0-9]+\.yaml$/,
    consequence: 'a configuration from the cloud is not in effect any more: the agent uses the file on the unit',
  },
  {
    name: 'configuration',
    kind: 'folder',
    required: 'run',
    consequence:
      'configurations from the cloud and the copy of the last good one are lost: the agent uses the file on the unit',
  },
  {
    name: 'outbox',
    kind: 'folder',
    required: 'agent',
    consequence:
      'waiting messages, records of the car and states of the agent are lost, and message numbers begin again',
  },
  {
    name: 'outbox/manifest.json',
    kind: 'document',
    required: 'agent',
    beside: /^outbox$/,
    consequence:
      'the agent cannot tell whether the newest segment of the journal was lost, until it writes the list again',
  },
  { name: 'interface-key', kind: 'folder', required: 'no', consequence: NONE },
  { name: 'pages.key', kind: 'file', required: 'no', consequence: 'people at the page sign in again' },
  { name: 'car.json', kind: 'document', required: 'no', consequence: 'the simulated car of the bench begins anew' },
  { name: 'lock', kind: 'file', required: 'no', consequence: NONE },
  { name: 'agent.sock', kind: 'file', required: 'no', consequence: NONE },
  {
    name: 'fatal.json',
    kind: 'file',
    required: 'no',
    consequence: 'the reason for the end of the previous run is unknown',
  },
  { name: 'ended', kind: 'file', required: 'no', consequence: 'the reason for the end of the previous run is unknown' },
  { name: FIRST_START, kind: 'file', required: 'no', consequence: 'none: it is there only during the first start' },
];

/** Names that only an agent creates. (The format number and the lock exist before there are records.) */
const OF_RECORDS = folderEntries
  .map(({ name }) => name)
  .filter((name) => !['version', 'version.copy', 'lock', 'agent.sock', 'car.json', FIRST_START].includes(name));

/** Returns true if one of these names was created by an agent. */
export function hasRecords(names: readonly string[]): boolean {
  return names.some((name) => OF_RECORDS.some((made) => name === made || name.startsWith(`${made}.`)));
}

/**
 * Returns the missing entries of a folder in which a first start has finished, in the order of {@link folderEntries};
 * none for a new folder. `program`: who owns the folder.
 * @throws VigieError `store.unreadable` if the disk fails to return the names in the folder
 */
export function missingEntries(
  data: string,
  program: 'agent' | 'run',
  files: FileSystem = nodeFileSystem,
): readonly FolderEntry[] {
  const names = namesIn(data, files);
  return names.includes(FIRST_START) || !hasRecords(names) ? [] : absentEntries(data, program, files);
}

/** Like {@link missingEntries}, but also if no first start has finished. */
export function absentEntries(data: string, program: 'agent' | 'run', files: FileSystem): readonly FolderEntry[] {
  const names = namesIn(data, files);
  const inside = ['configuration', 'outbox'].filter((folder) => names.includes(folder));
  const found = new Set([
    ...names,
    ...inside.flatMap((folder) => namesIn(join(data, folder), files).map((name) => `${folder}/${name}`)),
  ]);
  return folderEntries.filter(({ name, kind, required, beside }) => {
    if (required !== 'agent' && required !== program) return false;
    if (beside !== undefined && ![...found].some((other) => beside.test(other))) return false;
    return !found.has(name) && (kind !== 'document' || !found.has(`${name}.previous`));
  });
}

/** Logs the missing entries, and returns them in the form that `hello` uses. */
export function reportMissing(data: string, missing: readonly FolderEntry[], log: Log): readonly HelloMissing[] {
  for (const { name, consequence, reported } of missing) {
    if (reported === undefined) log.error('records.missing', { file: join(data, name), consequence });
  }
  return missing.map(({ name, consequence }) => ({ file: name, consequence }));
}

/** Returns the names in a folder; none if it does not exist. @throws VigieError `store.unreadable` */
export function namesIn(folder: string, files: FileSystem): readonly string[] {
  try {
    return files.list(folder);
  } catch (error) {
    if (isReadFailure(error)) throw unreadable(folder, error);
    return [];
  }
}
