/** Disk space that `npm install vigie` takes. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { buildLibrary } from '../library.ts';
import { installInto, run } from '../package/library-check.ts';
import { figure } from './contest.ts';
import type { Section } from './section.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const LARGEST = 10;

export const installing: Section = {
  name: 'install',
  title: 'Installing the package for npm',
  text: '`npm install` of the packed package in an empty project, without optional packages. Sizes are those of all files, without what a file system adds.',
  async run(_, scratch) {
    await buildLibrary();
    run(root, 'npm', 'pack', '--pack-destination', scratch);
    const archive = join(scratch, `${manifest.name}-${manifest.version}.tgz`);
    const project = join(scratch, 'installed');
    installInto(project, archive);
    const modules = join(project, 'node_modules');
    const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as { readonly packages: object };
    const packages = Object.keys(lock.packages).length;
    const sizes = Object.keys(lock.packages).map((path) => ({ path, bytes: ownBytes(join(project, path)) }));
    const largest = sizes.toSorted((a, b) => b.bytes - a.bytes).slice(0, LARGEST);
    const [all, own] = [bytesIn(modules), bytesIn(join(modules, manifest.name))];
    const row = (name: string, bytes: number) => ({ cells: [name, figure(bytes / 1e6)] });
    return [
      {
        title: `${packages} packages`,
        columns: ['', 'MB'],
        rows: [row('packed', statSync(archive).size), row('all that is installed', all), row('vigie of that', own)],
        notes: [],
      },
      {
        title: `The ${LARGEST} largest packages`,
        columns: ['', 'MB'],
        rows: largest.map(({ path, bytes }) => row(path.replace('node_modules/', ''), bytes)),
        notes: [],
      },
    ];
  },
};

/** Returns the size of a package in bytes, without the packages inside it. */
function ownBytes(folder: string): number {
  const within = join(folder, 'node_modules');
  return bytesIn(folder) - (existsSync(within) ? bytesIn(within) : 0);
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
