import { describe, it } from 'vitest';

/**
 * `describe` for suites that need something beside the checkout. Where it is absent they name themselves as skipped
 * with the reason; with CI=true nothing may be skipped, and its absence is a failure.
 */
export function describeNeeding(present: boolean, absence: string, name: string, suite: () => void): void {
  if (present) describe(name, suite);
  else if (process.env['CI'] !== 'true') describe.skip(`${name} (skipped: ${absence})`, suite);
  else {
    describe(name, () => {
      it('has what it needs', () => {
        throw new Error(absence);
      });
    });
  }
}
