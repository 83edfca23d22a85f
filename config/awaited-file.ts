import { statSync } from 'node:fs';
import { unreadable } from './buses.ts';
import { credentialFix } from './credentials.ts';
import type { Findings } from './findings.ts';

interface AwaitedFile {
  /** Advice if the file is missing. */
  readonly fix?: string;
  /** True if only the owner and the group of the file should have access to it. */
  readonly secret?: boolean;
}

/**
 * Checks a file for which a running agent waits (see {@link Findings.missing}). The field at `at` contains its path.
 * @returns true if the file can be read
 */
export function checkAwaited(at: string, path: string, findings: Findings, how: AwaitedFile = {}): boolean {
  const { secret = false } = how;
  const fix = credentialFix(path) ?? how.fix ?? 'write its path relative to this file';
  const trouble = unreadable(path);
  if (trouble !== undefined) {
    findings.missing(at, `${path} cannot be read: ${trouble}`, fix);
    return false;
  }
  if (secret && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0) {
    findings.warning(at, `${path} is a secret and every user can access it`, `chmod o= ${path}`);
  }
  return true;
}
