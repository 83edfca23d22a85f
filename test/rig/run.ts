/**
 * What all test files of a run share. The bundled program is made before the first file: from the sources, Node strips
 * types at each of several hundred starts, which takes five times as long as a start from the bundle. All else is made
 * by the first file that asks for it.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleProgram, bundling } from '../../scripts/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** vitest's `globalSetup`: the processes that run the files inherit the environment; the returned function ends it. */
export default async function setUp(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-run-'));
  const bundle = join(folder, 'program');
  await bundleProgram(bundle);
  // For packages with machine code, which stay where they are.
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

/** How often a file looks whether another one has made what it asked for. */
const POLL_INTERVAL_MS = 50;

/**
 * A file or folder that all test files of the run share: `make` puts it at the path it is given. If several files ask at
 * once, one makes it and the others wait; if it fails, the next one tries. Nobody may change it.
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
    // Another file may have made it between the two looks.
    if (existsSync(path)) return path;
    const draft = join(mkdtempSync(join(runFolder(), 'draft-')), basename(name));
    await make(draft);
    renameSync(draft, path);
    return path;
  } finally {
    rmSync(lock, { recursive: true });
  }
}

/** False if the folder is there. */
function makesFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Bundles a program of the tests, e.g. `test/day/child.ts`, for those that start it again and again. */
export function bundled(source: string): Promise<string> {
  // Beside the program, because the shipped profiles are there.
  return madeOnce(`program/${source.replaceAll('/', '-').replace(/\.ts$/, '.mjs')}`, async (path) => {
    await build({ ...bundling, absWorkingDir: root, entryPoints: [source], outfile: path });
  });
}
