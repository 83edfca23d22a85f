/**
 * What all test files of a run share, made before the first: the bundled program. From the sources, Node strips types
 * at each of several hundred starts, which takes five times as long as a start from the bundle.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../../scripts/bundle.ts';

/** vitest's `globalSetup`: the processes that run the files inherit the environment; the returned function ends it. */
export default async function setUp(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-run-'));
  const bundle = join(folder, 'program');
  await bundleProgram(bundle);
  // For packages with machine code, which stay where they are.
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  process.env['TEST_PROGRAM'] = join(bundle, 'main.mjs');
  return () => rmSync(folder, { recursive: true, force: true });
}
