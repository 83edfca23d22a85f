/** The first hours of the simulated week. */
import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';

test('the car wakes for the command of its first three hours and carries it out', async () => {
  const words = ['--expose-gc', 'scripts/scenarios/index.ts', 'week', '--days', '0.125', '--every', '3'];
  const printed = await new Promise<string>((resolve) => {
    // One line of measurements is too few for a verdict, so the command exits with an error.
    execFile(process.execPath, words, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  expect(printed).toContain('\n1 × Success\n');
}, 60_000);
