/**
 * Real logs, DBCs and expected values in a directory next to the checkout. They add cases to suites that have their own
 * in `test/`. If the directory is missing, these cases are skipped by name.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeNeeding } from './needs.ts';

/** Folder of test data outside the project. */
export const sharedData: string = fileURLToPath(new URL('../../shared/data/', import.meta.url));

/** `describe` for suites that read {@link sharedData}. */
export function describeShared(name: string, suite: () => void): void {
  describeNeeding(existsSync(sharedData), `${sharedData} is not there`, name, suite);
}
