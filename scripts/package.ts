/**
 * `npm run package [-- [arm64 armv7 x64] [--quick | --write]]`: builds in `dist/`, for each architecture (by default
 * all), one self-contained executable, `vigie-linux-ARCH`, and the Debian package, `vigie_VERSION_ARCH.deb`. The same
 * sources produce the same bytes. Prints sizes and the startup time. `--quick` packs in a second instead of a minute,
 * into a larger package. For armv7 it also builds `vigie_VERSION+node_armhf.deb`, the program for the system's Node.
 * `--write` builds everything and writes the table in docs/packaging.md. Fails if an included Node is past its end of
 * support and that page does not say so.
 *
 * Needs Debian's qemu-user-static and the C libraries of the other architectures (`scripts/package/install.sh`), and,
 * on the first run, the npm registry to download Node for them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { makePackage, makeScriptPackage, packageVersion } from './package/deb.ts';
import { makeExecutable } from './package/executable.ts';
import { installFor } from './package/install.ts';
import { unsupportedNodes } from './package/support.ts';
import { type MadeExecutable, megabytes, PAGE, pageWith } from './package/table.ts';
import { type PackageTarget, runner, targetNamed, targets } from './package/targets.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const STARTS = 21;
const began = performance.now();

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, write: { type: 'boolean' } },
});
const made = new Map<PackageTarget, MadeExecutable>();
try {
  if (values.write === true && (values.quick === true || positionals.length > 0)) {
    throw new Error('--write makes all packages as they are shipped: leave --quick and the architectures out');
  }
  const wanted = positionals.length === 0 ? targets : positionals.map(targetNamed);
  const unsupported = unsupportedNodes(wanted, new Date(), readFileSync(join(root, PAGE), 'utf8'));
  if (unsupported.length > 0) {
    throw new Error(`${unsupported.join('; ')}. Carry a newer Node, or state this in ${PAGE}`);
  }
  installFor(wanted);
  for (const target of wanted) {
    made.set(target, await make(target));
    if (target.debian === 'armhf') await makeSystemNodePackage(target);
  }
  if (values.write === true) writeFileSync(join(root, PAGE), pageWith(made));
} catch (error) {
  console.error(`package: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function make(target: PackageTarget): Promise<MadeExecutable> {
  const executable = join(root, 'dist', `vigie-linux-${target.name}`);
  const debian = join(root, 'dist', `vigie_${manifest.version}_${target.debian}.deb`);
  await makeExecutable(target, executable, (step) => progress(executable, step));
  progress(debian, values.quick === true ? 'packing' : 'packing with xz, which takes a minute');
  await makePackage(
    target,
    { path: executable, kind: 'executable' },
    debian,
    values.quick === true ? 'quick' : 'small',
  );
  const found = {
    executable: statSync(executable).size,
    debian: statSync(debian).size,
    start: start(target, executable),
  };
  const emulated = target.arch === process.arch ? '' : ' (emulated)';
  console.log(
    `${relative(root, executable)}  ${megabytes(found.executable)}, starts in ${Math.round(found.start)} ms${emulated}`,
  );
  console.log(`${relative(root, debian)}  ${megabytes(found.debian)}`);
  return found;
}

async function makeSystemNodePackage(target: PackageTarget): Promise<void> {
  const file = join(root, 'dist', `vigie_${packageVersion('script')}_${target.debian}.deb`);
  progress(file, 'packing the program alone');
  await makeScriptPackage(target, file, values.quick === true ? 'quick' : 'small');
  console.log(`${relative(root, file)}  ${megabytes(statSync(file).size)}`);
}

function progress(file: string, step: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  console.error(`${seconds} s  ${relative(root, file)}: ${step}`);
}

/** Returns the minimum time in ms of several runs of `--version`: other load on the machine can only add to it. */
function start(target: PackageTarget, executable: string): number {
  const [program, ...args] = runner(target, executable) as [string, ...string[]];
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    const { status, stdout, stderr } = spawnSync(program, [...args, '--version'], { encoding: 'utf8' });
    if (status !== 0 || stdout.split('\n')[0] !== manifest.version)
      throw new Error(`${executable} does not run: ${stderr}`);
    return performance.now() - began;
  });
  return Math.min(...times);
}
