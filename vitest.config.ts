import { defineConfig } from 'vitest/config';

// What never ends is found all the same; a machine that is busy is no failure, and TEST_RUNS asks for many more cases.
const patience = process.env['TEST_RUNS'] === undefined ? 180_000 : 900_000;

export default defineConfig({
  test: {
    globalSetup: ['test/rig/run.ts'],
    setupFiles: ['test/rig/seed.ts'],
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // One process runs file after file: to load some 200 modules anew for each takes longer than most tests.
    isolate: false,
    testTimeout: patience,
    hookTimeout: patience,
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['protocol/**/*.ts', 'agent/**/*.ts'],
      reporter: ['text', 'html'],
      thresholds: { 'protocol/**/*.ts': { lines: 98 }, 'agent/**/*.ts': { lines: 95 } },
    },
  },
});
