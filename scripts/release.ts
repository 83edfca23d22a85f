/**
 * `npm run release -- --repository URL [--quick] [arm64 armv7 x64]`: commits package.json with the addresses of the
 * repository and CHANGELOG.md with the date, tags the commit, and builds the files of a release page in dist/release:
 * the sources, the npm package, executables and Debian packages of all or the given architectures, their checksums
 * (SHA256SUMS) and the notes (NOTES.md). It uploads nothing: its last lines are the commands that do. If it is
 * interrupted, run it again: it continues with the tagged commit.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checksums, notesOf, withDate, withRepository } from './package/release-files.ts';
import { targetNamed, targets } from './package/targets.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = join(root, 'dist/release');
const files = { manifest: join(root, 'package.json'), changelog: join(root, 'CHANGELOG.md') };
const read = (file: string): string => readFileSync(file, 'utf8');

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { repository: { type: 'string' }, quick: { type: 'boolean' } },
  });
  if (values.repository === undefined) throw new Error('--repository is missing: give its https:// address');
  const wanted = positionals.length === 0 ? targets : positionals.map(targetNamed);
  const { version } = JSON.parse(read(files.manifest)) as { version: string };
  const tag = `v${version}`;
  commitRelease(values.repository, version, tag);
  await makeFiles(
    wanted.map(({ name }) => name),
    version,
    tag,
    values.quick === true,
  );
  console.log(`${tag} is in dist/release. To publish it:
    git push --follow-tags
    npm publish dist/release/vigie-${version}.tgz
and add the files of dist/release to the release of ${tag} at ${values.repository}, with NOTES.md as its text.`);
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

/** Commits and tags, unless an earlier run has already done so for this commit. */
function commitRelease(repository: string, version: string, tag: string): void {
  const manifest = withRepository(read(files.manifest), repository);
  const changes = run('git', 'status', '--porcelain').trim();
  if (changes !== '') throw new Error(`commit or remove these changes first:\n${changes}`);
  const tagged = run('git', 'tag', '--list', tag, '--format=%(*objectname)').trim();
  if (tagged !== '') {
    if (tagged === run('git', 'rev-parse', 'HEAD').trim()) return;
    throw new Error(`${tag} is another commit: raise the version in package.json, or check out ${tag}`);
  }
  const changelog = withDate(read(files.changelog), version, new Date().toISOString().slice(0, 10));
  writeFileSync(files.manifest, manifest);
  writeFileSync(files.changelog, changelog);
  run('git', 'commit', '--quiet', '--message', `Release ${version}`, '--', files.manifest, files.changelog);
  run('git', 'tag', '--annotate', tag, '--message', `Vigie ${version}`);
}

async function makeFiles(names: readonly string[], version: string, tag: string, quick: boolean): Promise<void> {
  rmSync(release, { recursive: true, force: true });
  run(process.execPath, 'scripts/library.ts');
  mkdirSync(release, { recursive: true });
  const prefix = `vigie-${version}`;
  run('git', 'archive', `--prefix=${prefix}/`, '--output', join(release, `${prefix}-source.tar.gz`), tag);
  // The library is already built. Without this option, npm would run `prepare`, which builds it again.
  run('npm', 'pack', '--ignore-scripts', '--pack-destination', release);
  run(process.execPath, 'scripts/package.ts', ...names, ...(quick ? ['--quick'] : []));
  const dist = join(root, 'dist');
  const made = names.map(targetNamed).flatMap(({ name, debian }) => [`vigie-linux-${name}`, `_${debian}.deb`]);
  for (const file of readdirSync(dist)) {
    const isMade = made.some((end) => file.endsWith(end)) && (!file.endsWith('.deb') || file.includes(`_${version}`));
    if (isMade) copyFileSync(join(dist, file), join(release, file));
  }
  const contents = readdirSync(release).map((file) => [file, readFileSync(join(release, file))] as const);
  writeFileSync(join(release, 'SHA256SUMS'), checksums(new Map(contents)));
  writeFileSync(join(release, 'NOTES.md'), notesOf(read(files.changelog)));
}

/** @throws Error with the command's output if the command fails */
function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`.trim()}`);
}
