/** Tests of which one must fail for each mutant of outbox, remotes and monitors. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    setupFiles: ['scripts/mutation/first-failure.ts'],
    include: ['test/agent/{outbox,remotes,monitors}/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A process for each file would take longer than the tests in it.
    isolate: false,
  },
});
