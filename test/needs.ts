import { describe, test } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Need of the test that this machine lacks. `scripts/test.ts` lists it at the end of the run. */
    absence?: string;
  }
}

/**
 * `describe` for suites that need something that a clone does not contain. If the need is absent, the body does not
 * run, because it may read missing files. One skipped test with the reason replaces it.
 */
export function describeNeeding(present: boolean, absence: string, name: string, suite: () => void): void {
  if (present) describe(name, suite);
  else describe(name, () => testNeeding(false, absence, `skipped: ${absence}`, () => undefined));
}

/** `test` for single tests that need something that a clone does not bring. */
export function testNeeding(present: boolean, absence: string, name: string, body: () => void | Promise<void>): void {
  if (present) test(name, body);
  else test.skip(name, { meta: { absence } }, body);
}
