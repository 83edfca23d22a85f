/** Modules that programs load with the package: dependencies, and code that would affect their process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Modules of the sub-paths by their names, `vigie` and `vigie/…`. */
const entries = new Map(
  Object.entries(manifest.exports).flatMap(([path, entry]): [string, string][] =>
    typeof entry === 'string'
      ? []
      : [[path.replace('.', manifest.name), entry.types.replace(/^\.\/dist\/library\/(.*)\.d\.ts$/, '$1.ts')]],
  ),
);
let inputs: Metafile['inputs'];

beforeAll(async () => {
  const { metafile } = await build({
    entryPoints: [...entries.values()],
    absWorkingDir: root,
    outdir: 'none',
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
    logLevel: 'error',
  });
  inputs = metafile.inputs;
});

/** Modules of the project, and names of packages, that a module can load. */
function reach(entry: string): { modules: ReadonlySet<string>; packages: ReadonlySet<string> } {
  const modules = new Set([entry]);
  const packages = new Set<string>();
  // The set grows during the iteration, which includes the new entries.
  for (const module of modules) {
    for (const { path, external } of inputs[module]?.imports ?? []) {
      if (!external) modules.add(path);
      else if (!path.startsWith('node:')) packages.add(/^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
    }
  }
  return { modules, packages };
}

test('programs need the dependencies of the package, and only the documented optional ones', () => {
  const needed = new Set([...entries.values()].flatMap((entry) => [...reach(entry).packages]));
  // Its files are served, not imported.
  needed.add('swagger-ui-dist');
  const optional = Object.keys(manifest.peerDependencies);
  expect([...needed].sort()).toEqual([...Object.keys(manifest.dependencies), ...optional].sort());
  const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `vigie[^|]*\|[^|]*\|([^|]*)\|$/gm)].map(([, packages = '']) => packages);
  expect(rows).toHaveLength(entries.size);
  const named = rows.flatMap((packages) => [...packages.matchAll(/`([a-z@][^`]*)`/g)].map(([, name]) => name));
  expect([...new Set(named)].sort()).toEqual(optional.sort());
});

test('a sub-path for receivers needs neither Node nor the agent’s packages', () => {
  const { modules, packages } = reach(entries.get('vigie/protocol') ?? '');
  const ofNode = [...modules].filter((module) => inputs[module]?.imports.some(({ path }) => path.startsWith('node:')));
  expect(ofNode).toEqual([]);
  expect([...packages].sort()).toEqual(['cbor-x', 'fflate', 'typebox']);
});

test('no module of the library handles signals, ends the process or prints', () => {
  const modules = new Set([...entries.values()].flatMap((entry) => [...reach(entry).modules]));
  expect(modules.size).toBeGreaterThan(500);
  const acting = [...modules].flatMap((module) =>
    (
      readFileSync(join(root, module), 'utf8').match(
        /\bconsole\.|\bprocess\.(on|once|exit|exitCode|abort|stdout|stderr|emitWarning)\b/g,
      ) ?? []
    ).map((word) => `${module}: ${word}`),
  );
  expect(acting).toEqual([]);
});
