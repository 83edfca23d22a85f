/**
 * Data shared by all test files of a run. The program is bundled before the first file, because a start from the
 * sources makes Node strip types of several hundred files, which takes five times as long. Everything else is made by
 * the first file that needs it.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleProgram, bundling } from '../../scripts/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** vitest's `globalSetup`: the test processes inherit the environment. The returned function ends the run. */
export default async function setUp(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-run-'));
  const bundle = join(folder, 'program');
  await bundleProgram(bundle);
  // For packages with machine code, which stay in place.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  process.env['TEST_FOLDER'] = folder;
  process.env['TEST_PROGRAM'] = join(bundle, 'main.mjs');
  return () => rmSync(folder, { recursive: true, force: true });
}

/** The folder of the run, which is removed at its end. */
export function runFolder(): string {
  const folder = process.env['TEST_FOLDER'];
  if (folder === undefined) throw new Error('only the test runner makes a folder for its run');
  return folder;
}

/** Interval at which a file checks whether another one has made shared data. */
const POLL_INTERVAL_MS = 50;

/**
 * A file or folder shared by all test files of the run: `make` creates it at the given path. If several files ask at
 * the same time, one makes it and the others wait. If that fails, the next one tries. It must not be changed.
 */
export async function madeOnce(name: string, make: (path: string) => void | Promise<void>): Promise<string> {
  const path = join(runFolder(), name);
  const lock = join(runFolder(), `making-${name.replaceAll('/', '-')}`);
  for (;;) {
    if (existsSync(path)) return path;
    if (makesFolder(lock)) break;
    await setTimeout(POLL_INTERVAL_MS);
  }
  try {
    // Another file may have made it between the two checks.
    if (existsSync(path)) return path;
    const draft = join(mkdtempSync(join(runFolder(), 'draft-')), basename(name));
    await make(draft);
    renameSync(draft, path);
    return path;
  } finally {
    rmSync(lock, { recursive: true });
  }
}

/** Creates the folder. Returns false if it exists. */
function makesFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Bundles a test program, e.g. `test/day/child.ts`, that is started repeatedly. */
export function bundled(source: string): Promise<string> {
  // In the folder of the main program, because the shipped profiles are there.
  return madeOnce(`program/${source.replaceAll('/', '-').replace(/\.ts$/, '.mjs')}`, async (path) => {
    await build({ ...bundling, absWorkingDir: root, entryPoints: [source], outfile: path });
  });
}
