/** One file that is Node and the program (https://nodejs.org/api/single-executable-applications.html). */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { withProgram } from './elf.ts';
import { bundleForTarget } from './program.ts';
import { packageFolder } from './registry.ts';
import { type PackageTarget, runner } from './targets.ts';

/** Makes the executable of a target. The same sources give the same bytes. */
export async function makeExecutable(target: PackageTarget, file: string): Promise<void> {
  const node = join(packageFolder(target.node.package, target.node.version), 'bin/node');
  const scratch = mkdtempSync(join(tmpdir(), 'vigie-package-'));
  try {
    // The name of the script is in the blob: it may not be that of the scratch folder.
    await bundleForTarget(target, join(scratch, 'vigie.cjs'));
    const blob = makeBlob(target, node, scratch);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, withProgram(readFileSync(node), blob));
    chmodSync(file, 0o755);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * The program as Node takes it into itself, compiled once for all starts. Made by the Node that will run it: the blob
 * of a 32-bit Node is none of a 64-bit one's, and code compiled for one processor is thrown away by another.
 */
function makeBlob(target: PackageTarget, node: string, folder: string): Buffer {
  const config = {
    main: 'vigie.cjs',
    output: 'vigie.blob',
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    ...(target.options.length === 0 ? {} : { execArgv: target.options }),
  };
  writeFileSync(join(folder, 'sea.json'), JSON.stringify(config));
  const [program, ...args] = runner(target, node) as [string, ...string[]];
  // Tables in the compiled code are laid out by chance otherwise, and differ from build to build. And compiled code is
  // taken only with the options that it was compiled with.
  const options = ['--random-seed=1', ...target.options];
  execFileSync(program, [...args, ...options, '--experimental-sea-config', 'sea.json'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return readFileSync(join(folder, 'vigie.blob'));
}
