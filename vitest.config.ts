import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/rig/slowest-first.ts';

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
    // More than the two cores of a small machine: many tests wait for a process or a time-out. Each may take 1 GB.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    coverage: {
      provider: 'v8',
      include: ['protocol/**/*.ts', 'agent/**/*.ts'],
      reporter: ['text', 'html'],
      thresholds: { 'protocol/**/*.ts': { lines: 98 }, 'agent/**/*.ts': { lines: 95 } },
    },
  },
});
