/** Tests `npm run release` in a temporary clone, with the modules that are installed here. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { installInto, type LibraryCheck, run, spawn } from './library-check.ts';
import { targets } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const REPOSITORY = 'https://example.org/owner/vigie';
const { version } = manifest;

/** Checks that run in order. The folder `scratch` must not exist yet. */
export function releaseChecks(scratch: string): readonly LibraryCheck[] {
  const clone = join(scratch, 'vigie');
  const release = join(clone, 'dist/release');
  const own = targets.find(({ arch }) => arch === process.arch)?.name ?? 'x64';
  const options = ['run', 'release', '--', '--repository', REPOSITORY, '--quick', own];
  return [
    {
      sentence: 'npm run release refuses a clone with changes that are not committed, and leaves it unchanged',
      act: async () => {
        mkdirSync(scratch);
        run(scratch, 'git', 'clone', '--quiet', root, clone);
        run(clone, 'git', 'config', 'user.name', 'Vigie');
        run(clone, 'git', 'config', 'user.email', 'maintainers@vigie.example');
        symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
        run(clone, 'git', 'config', 'core.excludesFile', join(scratch, 'ignored'));
        writeFileSync(join(scratch, 'ignored'), 'node_modules\n');
        writeFileSync(join(clone, 'new.txt'), 'new\n');
        const { status, stderr } = spawn(clone, 'npm', ...options);
        assert.notEqual(status, 0);
        assert.match(stderr, /commit or remove these changes first:\n\?\? new\.txt/);
        run(clone, 'git', 'clean', '-fq', 'new.txt');
        assert.equal(run(clone, 'git', 'tag').stdout, '');
      },
    },
    {
      sentence: 'npm run release makes tag, sources, packages, executable, checksums and notes in a clone',
      act: async () => {
        run(clone, 'npm', ...options);
        assert.equal(run(clone, 'git', 'cat-file', '-t', `v${version}`).stdout, 'tag\n');
        assert.equal(run(clone, 'git', 'status', '--porcelain').stdout, '');
        const tagged = JSON.parse(run(clone, 'git', 'show', `v${version}:package.json`).stdout);
        assert.equal(tagged.repository.url, `git+${REPOSITORY}.git`);
        const files = readdirSync(release);
        for (const name of [`vigie-${version}.tgz`, `vigie-${version}-source.tar.gz`, `vigie-linux-${own}`]) {
          assert.ok(files.includes(name), `${name} is not among ${files}`);
        }
        assert.ok(files.some((name) => name.endsWith('.deb')));
        assert.match(run(release, 'sha256sum', '--check', 'SHA256SUMS').stdout, /^(?:\S+: OK\n){4,}$/);
        assert.match(readFileSync(join(release, 'NOTES.md'), 'utf8'), /### Added/);
        assert.equal(run(release, `./vigie-linux-${own}`, '--version').stdout.split('\n')[0], version);
      },
    },
    {
      sentence: 'the package of the release installs by its file name, and names the repository',
      act: async () => {
        const project = join(scratch, 'project');
        installInto(project, join(release, `vigie-${version}.tgz`));
        const installed = join(project, 'node_modules/vigie/package.json');
        assert.ok(existsSync(installed));
        assert.equal(JSON.parse(readFileSync(installed, 'utf8')).homepage, `${REPOSITORY}#readme`);
        assert.equal(run(project, 'npx', 'vigie', '--version').stdout.split('\n')[0], version);
      },
    },
  ];
}
