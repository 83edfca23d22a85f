/** The references: C programs, which are compiled for the run, and python-can, if it is installed. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('reference/', import.meta.url));

/** A program, or the reason why there is none. */
export type Found = { readonly program: string } | { readonly missing: string };

/** Compiles `reference/<name>.c`. Sums and products are not fused, so that every machine computes the same doubles. */
export function compile(name: string, scratch: string): Found {
  const program = join(scratch, name);
  const run = spawnSync('gcc', ['-O2', '-Wall', '-ffp-contract=off', '-o', program, join(folder, `${name}.c`)], {
    encoding: 'utf8',
  });
  if (run.error !== undefined) return { missing: `no C reference: gcc cannot be run (${run.error.message})` };
  if (run.status !== 0) return { missing: `no C reference: ${run.stderr}` };
  return { program };
}

/** Returns a Python interpreter that has python-can. */
export function pythonCan(): Found & { readonly version?: string } {
  for (const program of ['/usr/bin/python3', 'python3']) {
    const run = spawnSync(program, ['-c', 'import can; print(can.__version__)'], { encoding: 'utf8' });
    if (run.status === 0) return { program, version: run.stdout.trim() };
  }
  return { missing: 'no python-can: `apt-get install python3-can` brings it' };
}

export const pythonReader: string = join(folder, 'python_can.py');

/** Returns the version of the compiler of the references. */
export function compilerVersion(): string {
  const run = spawnSync('gcc', ['-dumpfullversion'], { encoding: 'utf8' });
  return run.status === 0 ? `gcc ${run.stdout.trim()} -O2` : 'no gcc';
}
