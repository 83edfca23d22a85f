import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runFolder } from '../../../../rig/run.ts';
import { runs } from '../../../../rig/runs.ts';
import { checkTable } from './check.ts';

test("every frame of a table in any tool's style is read, and no frame is invented", async () => {
  const file = join(mkdtempSync(join(runFolder(), 'tables-')), 'table');
  const wrong: string[] = [];
  let refused = 0;
  const count = runs(300, 20_000);
  for (let seed = 1; seed <= count; seed++) {
    const outcome = await checkTable(seed, file);
    if (outcome.kind === 'wrong') wrong.push(`seed ${seed}: ${outcome.message}`);
    if (outcome.kind === 'refused') refused++;
  }
  expect(wrong).toEqual([]);
  // Refusing readable tables must not make the test pass.
  expect(refused).toBeLessThanOrEqual(count / 1000);
}, 600_000);
