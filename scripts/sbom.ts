/**
 * `npm run sbom`: writes the software bills of materials (CycloneDX 1.6, JSON) to `dist/`: for each executable and its
 * Debian package, for the script package for armhf, and for the npm package. Each package contains its own bill.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { packageVersion } from './package/deb.ts';
import { type SbomSubject, sbomOf } from './package/sbom.ts';
import { targetNamed, targets } from './package/targets.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const armhf = targetNamed('armhf');
const bills: readonly (readonly [name: string, subject: SbomSubject])[] = [
  ...targets.map((target) => [`vigie-linux-${target.name}`, { kind: 'executable', target }] as const),
  [`vigie_${packageVersion('script')}_${armhf.debian}`, { kind: 'script', target: armhf }],
  [`vigie-${manifest.version}`, { kind: 'npm' }],
];
mkdirSync(join(root, 'dist'), { recursive: true });
for (const [name, subject] of bills) {
  const file = join(root, 'dist', `${name}.cdx.json`);
  writeFileSync(file, sbomOf(subject));
  console.log(relative(root, file));
}
