/** OBDb signal sets for commands that decode answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSignalSet, repeatedCommands, type SignalSet } from '../adapters/obd/index.ts';
import { shippedProfiles } from '../config/shipped.ts';
import { reasonOf, VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';

/** Signal sets of SAE J1979, from the profile for any car. */
export const standardSets: readonly string[] = ['sae-j1979.json', 'sae-j1979-09.json'].map((name) =>
  join(shippedProfiles, 'generic-obd2', name),
);

/** @throws VigieError `input.unreadable`, or `input.malformed` with file and line; findings go to standard error */
export function loadSignalSet(file: string): SignalSet {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new VigieError('input.unreadable', `the signal set cannot be read: ${reason}`, { where: file, cause });
  }
  const set = parseSignalSet(content, file);
  complain(set.diagnostics);
  return set;
}

/** Largest number of commands that a warning lists. */
const MAX_NAMED = 3;

/**
 * Loads signal sets. Warns on standard error if several contain the same command.
 * @throws VigieError as {@link loadSignalSet}
 */
export function loadSignalSets(files: readonly string[]): readonly SignalSet[] {
  const sets = files.map(loadSignalSet);
  const repeated = repeatedCommands(sets);
  const [first] = repeated;
  if (first !== undefined) {
    const named = repeated.slice(0, MAX_NAMED).map(({ command }) => command);
    const more = repeated.length > MAX_NAMED ? `, … (${repeated.length} commands)` : '';
    const message = `${named.join(', ')}${more} is in several signal sets; that of ${first.files.at(-1)} is used`;
    complain([{ file: first.files[0] as string, line: 0, severity: 'warning', message }]);
  }
  return sets;
}
