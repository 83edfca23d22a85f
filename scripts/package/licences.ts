/** Copyright file for Debian: our licence, and those of all contents of the executable or the bundle. */
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
/** By place, such as `node_modules/yaml`. */
export const lockedPackages: Readonly<Record<string, LockedPackage>> = lock.packages;

/** Packages that only the command line needs: they are in its bundle, and not installed with the library. */
const bundled = [
  '@peculiar/x509',
  'cli-progress',
  'commander',
  'openid-client',
  'pg',
  // Optional for pg; the bundle has an empty file of it.
  'pg-cloudflare',
  'pino',
  'prom-client',
  'reflect-metadata',
  'undici',
  'web-push',
  'ws',
];

const programPackages = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies), ...bundled];

/** One text, packages in the order of their names. */
export function licences(target: PackageTarget): string {
  const node = packageFolder(target.node.package, target.node.version);
  return [
    section('Vigie', readFileSync(join(root, 'LICENSE'), 'utf8')),
    section(`Node.js ${target.node.version}`, textIn(node)),
    packageLicences(),
  ].join('\n');
}

/** The same without Node. */
export function programLicences(): string {
  return [section('Vigie', readFileSync(join(root, 'LICENSE'), 'utf8')), packageLicences()].join('\n');
}

/** The licences of the packages of the program, and of those that they need. */
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
 * The places of the packages of the program and of all that they need, sorted, each with the places that it needs.
 * @param more names of packages in addition to those of the program on every machine
 */
export function programPlaces(more: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const name of [...programPackages, ...more]) addPackage(name, '', places);
  return new Map([...places].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Adds the package that `from` finds by this name, with all that it needs; returns its place. */
function addPackage(name: string, from: string, places: Map<string, string[]>): string | undefined {
  const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  const found = lockedPackages[place];
  if (found === undefined) {
    // An optional package that is not for any machine of ours has no entry.
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
