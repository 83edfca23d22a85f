/** What Debian calls the copyright file: our licence, and those of all that is in the executable. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder } from './registry.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** One text, packages in the order of their names. */
export function licences(target: PackageTarget): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  const parts = Object.entries(lock.packages)
    .filter(([place, { dev, optional }]) => place.startsWith('node_modules/') && dev !== true && optional !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, { version, license }]) => {
      const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return section(`${name} ${version} (${license ?? 'see its text'})`, textIn(join(root, place)));
    });
  const node = packageFolder(target.node.package, target.node.version);
  return [
    section('Vigie', readFileSync(join(root, 'LICENSE'), 'utf8')),
    section(`Node.js ${target.node.version}`, textIn(node)),
    ...parts,
  ].join('\n');
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
