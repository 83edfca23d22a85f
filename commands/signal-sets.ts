/** OBDb signal sets for commands that decode answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSignalSet, type SignalSet } from '../adapters/obd/index.ts';
import { shippedProfiles } from '../config/shipped.ts';
import { VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';

/** Signal sets of SAE J1979 from the profile for any car. */
export const standardSets: readonly string[] = ['sae-j1979.json', 'sae-j1979-09.json'].map((name) =>
  join(shippedProfiles, 'generic-obd2', name),
);

/** @throws VigieError `input.unreadable` or `input.malformed`, with file and line; findings go to standard error */
export function loadSignalSet(file: string): SignalSet {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VigieError('input.unreadable', `the signal set cannot be read: ${reason}`, { where: file, cause });
  }
  const set = parseSignalSet(content, file);
  complain(set.diagnostics);
  return set;
}
