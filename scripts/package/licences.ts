/** Debian copyright file: the project's licence, and those of everything that the executable or the bundle contains. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { packageFolder } from './registry.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** An entry of the lock file. */
export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
/** Packages by path, such as `node_modules/yaml`. */
export const lockedPackages: Readonly<Record<string, LockedPackage>> = lock.packages;

/** Packages that only the command line needs. They are in its bundle, but are not installed with the library. */
const bundled = [
  '@peculiar/x509',
  'cli-progress',
  'commander',
  'hyparquet',
  'hyparquet-writer',
  'openid-client',
  'pg',
  // pg uses this package only if it is installed; the bundle contains an empty module instead.
  'pg-cloudflare',
  'pino',
  'prom-client',
  'reflect-metadata',
  'undici',
  'web-push',
  'ws',
];

const programPackages = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies), ...bundled];

/** Returns all licences as one text, in which packages are sorted by name. */
export function licences(target: PackageTarget): string {
  const node = packageFolder(target.node.package, target.node.version);
  return [
    section('Vigie', readFileSync(join(root, 'LICENSE'), 'utf8')),
    section(`Node.js ${target.node.version}`, textIn(node)),
    packageLicences(),
  ].join('\n');
}

/** Returns all licences except Node's. */
export function programLicences(): string {
  return [section('Vigie', readFileSync(join(root, 'LICENSE'), 'utf8')), packageLicences()].join('\n');
}

/** Returns the licences of the program's packages and of their dependencies. */
export function packageLicences(): string {
  return [...programPlaces().keys()]
    .map((place) => {
      const { version, license } = lockedPackages[place] as LockedPackage;
      const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return section(`${name} ${version} (${license ?? 'see its text'})`, textIn(join(root, place)));
    })
    .join('\n');
}

/**
 * Returns the paths of the program's packages and of all their dependencies, sorted, each with the paths of its direct
 * dependencies.
 * @param more names of packages in addition to those that the program has on every machine
 */
export function programPlaces(more: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const name of [...programPackages, ...more]) addPackage(name, '', places);
  return new Map([...places].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Adds the package that has this name for `from`, with all its dependencies. Returns the package's path. */
function addPackage(name: string, from: string, places: Map<string, string[]>): string | undefined {
  const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  const found = lockedPackages[place];
  if (found === undefined) {
    // An optional package that supports none of our machines has no entry in the lock file.
    if (from === '') return undefined;
    const outer = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')));
    return addPackage(name, outer, places);
  }
  if (places.has(place)) return place;
  const needed: string[] = [];
  places.set(place, needed);
  for (const one of Object.keys(found.dependencies ?? {})) {
    const at = addPackage(one, place, places);
    if (at !== undefined) needed.push(at);
  }
  return place;
}

function section(title: string, text: string): string {
  return `${'='.repeat(79)}\n${title}\n${'='.repeat(79)}\n\n${text.trim()}\n`;
}

function textIn(folder: string): string {
  if (!existsSync(folder)) return 'Not installed where this was made.';
  const name = readdirSync(folder)
    .sort()
    .find((file) => /^licen[cs]e/i.test(file));
  return name === undefined
    ? 'The package names its licence and has no text of it.'
    : readFileSync(join(folder, name), 'utf8');
}
