/**
 * `npm run package [-- [arm64 armv7 x64] [--quick]]`: in `dist/`, for each architecture (by default all), one
 * executable with everything in it, `vigie-linux-ARCH`, and the package for Debian, `vigie_VERSION_ARCH.deb`. The same
 * sources give the same bytes. Prints sizes and how long a start takes. `--quick` packs in a second instead of a
 * minute, into a larger package.
 *
 * It needs Debian's qemu-user-static and C libraries for the architectures that this machine is not
 * (`scripts/package/install.sh`), and the npm registry for their Node the first time.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { makePackage } from './package/deb.ts';
import { makeExecutable } from './package/executable.ts';
import { installFor } from './package/install.ts';
import { type PackageTarget, runner, targetNamed, targets } from './package/targets.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const STARTS = 5;
const began = performance.now();

const { positionals, values } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
try {
  const wanted = positionals.length === 0 ? targets : positionals.map(targetNamed);
  installFor(wanted);
  for (const target of wanted) await make(target);
} catch (error) {
  console.error(`package: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function make(target: PackageTarget): Promise<void> {
  const executable = join(root, 'dist', `vigie-linux-${target.name}`);
  const debian = join(root, 'dist', `vigie_${manifest.version}_${target.debian}.deb`);
  await makeExecutable(target, executable, (step) => progress(executable, step));
  progress(debian, values.quick === true ? 'packing' : 'packing with xz, which takes a minute');
  await makePackage(target, executable, debian, values.quick === true ? 'quick' : 'small');
  console.log(`${relative(root, executable)}  ${megabytes(executable)}, ${start(target, executable)}`);
  console.log(`${relative(root, debian)}  ${megabytes(debian)}`);
}

function progress(file: string, step: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  console.error(`${seconds} s  ${relative(root, file)}: ${step}`);
}

function megabytes(file: string): string {
  return `${(statSync(file).size / 1e6).toFixed(1)} MB`;
}

/** The median of some starts that do nothing. */
function start(target: PackageTarget, executable: string): string {
  const [program, ...args] = runner(target, executable) as [string, ...string[]];
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    const { status, stdout, stderr } = spawnSync(program, [...args, '--version'], { encoding: 'utf8' });
    if (status !== 0 || stdout.trim() !== manifest.version) throw new Error(`${executable} does not run: ${stderr}`);
    return performance.now() - began;
  });
  const median = times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] as number;
  return `starts in ${Math.round(median)} ms${args.length > 1 ? ' (emulated)' : ''}`;
}
