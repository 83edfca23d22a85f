import { statSync } from 'node:fs';
import { unreadable } from './buses.ts';
import { credentialFix } from './credentials.ts';
import type { Findings } from './findings.ts';

interface AwaitedFile {
  /** Advice if the file is missing. */
  readonly fix?: string;
  /** Only its owner and group should be able to use it. */
  readonly secret?: boolean;
}

/**
 * Looks at a file, named at `at`, that an agent that runs waits for (see {@link Findings.missing}).
 * @returns whether it can be read
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
