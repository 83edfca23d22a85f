/** One file with Node and the program (https://nodejs.org/api/single-executable-applications.html), which pkg makes. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { loadedPart } from './elf.ts';
import type { PkgJob } from './pkg.ts';
import { bundleForTarget } from './program.ts';
import { packageFolder } from './registry.ts';
import { type PackageTarget, runner } from './targets.ts';

/** Called with the step that begins. */
type Progress = (step: string) => void;

/**
 * Builds the executable for a target. The same sources give the same bytes.
 * @throws Error if a download fails, or with the message of pkg
 */
export async function makeExecutable(
  target: PackageTarget,
  file: string,
  progress: Progress = () => undefined,
): Promise<void> {
  const { package: name, version } = target.node;
  const original = join(packageFolder(name, version), 'bin/node');
  const scratch = mkdtempSync(join(tmpdir(), 'vigie-package-'));
  try {
    progress('bundling the program');
    const program = await bundleForTarget(target, scratch);
    const node = join(scratch, 'node');
    writeFileSync(node, loadedPart(readFileSync(original)), { mode: 0o755 });
    const command = runner(target, node);
    progress(`making the executable with pkg${command.length > 1 ? `, its compiled code with ${command[0]}` : ''}`);
    mkdirSync(dirname(file), { recursive: true });
    const job: PkgJob = { ...program, node, version, runner: command, options: target.options, output: resolve(file) };
    execFileSync(process.execPath, [join(import.meta.dirname, 'pkg.ts'), JSON.stringify(job)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    chmodSync(file, 0o755);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
