/**
 * Real logs, network descriptions and expected values lie beside the checkout, not in it. A suite that needs
 * them names itself as skipped where they are absent; with CI=true their absence is a failure.
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
