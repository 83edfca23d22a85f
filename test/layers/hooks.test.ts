/** One process runs many test files and loads a module that they share only once. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
/** A hook at the top level of a module. */
const hook = /^(?:before|after)(?:All|Each)\(/m;

test('a shared test module registers no hook when it loads, because only the first test file would get it', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const hooked = files.filter((name) => hook.test(readFileSync(join(folder, name), 'utf8')));
  expect(hooked.length).toBeGreaterThan(20);
  expect(hooked.filter((name) => !name.endsWith('.test.ts'))).toEqual([]);
});
