/** The whole program of one architecture as one script: JavaScript, profiles and machine code. */
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { bundling, contentsBeside, deferring, slimming } from '../bundle.ts';
import { packageFolder } from './registry.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = import.meta.dirname;
const modules = join(root, 'node_modules');

/** Bundles the program for a target into one CommonJS file, the only kind that Node takes into an executable. */
export async function bundleForTarget(target: PackageTarget, outfile: string): Promise<void> {
  const { banner, outExtension, external, ...common } = bundling;
  await build({
    ...common,
    absWorkingDir: root,
    // Paths below the project whatever they lead to: they are in the script, and the plugin goes by them.
    preserveSymlinks: true,
    entryPoints: [join(here, 'embedded/main.ts')],
    outfile,
    format: 'cjs',
    target: target.language,
    // Node 20.11 cannot import() its own modules inside an executable.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'moduleAddress', 'import.meta.dirname': 'undefined' },
    inject: [join(here, 'embedded/address.ts')],
    legalComments: 'none',
    plugins: [slimming, deferring, carried(target)],
  });
}

/** Gives the modules of the executable what is carried in it instead of what they would look for on a disk. */
function carried(target: PackageTarget): Plugin {
  return {
    name: 'carried',
    setup(build) {
      const own = (file: string): { path: string } => ({ path: join(here, 'embedded', file) });
      build.onResolve({ filter: /^node:fs$/ }, ({ importer }) => {
        const isOurs = !importer.startsWith(modules + sep) && !importer.startsWith(join(here, 'embedded'));
        return isOurs ? own('fs.ts') : undefined;
      });
      build.onResolve({ filter: /\/static\.js$/ }, ({ importer }) =>
        importer.startsWith(join(modules, 'koffi') + sep) ? own('koffi.ts') : undefined,
      );
      build.onResolve({ filter: /^node-gyp-build$/ }, ({ importer }) =>
        importer.startsWith(join(modules, '@serialport') + sep) ? own('serialport.ts') : undefined,
      );
      build.onResolve({ filter: /^vigie:/ }, ({ path }) => ({ path, namespace: 'carried' }));
      build.onLoad({ filter: /.*/, namespace: 'carried' }, ({ path }) => ({ contents: contentsOf(path, target) }));
    },
  };
}

function contentsOf(name: string, target: PackageTarget): string {
  if (name === 'vigie:files') return `export const files = ${JSON.stringify(files())};`;
  const file =
    name === 'vigie:koffi'
      ? join(packageFolder(target.koffi.package), target.koffi.file)
      : join(modules, '@serialport/bindings-cpp/prebuilds', target.serialport);
  return `export const packed = ${JSON.stringify(pack(readFileSync(file)))};`;
}

function files(): Record<string, string> {
  return Object.fromEntries([...contentsBeside()].map(([place, contents]) => [place, pack(contents)]));
}

function pack(bytes: Uint8Array): string {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotliCompressSync(bytes, { params }).toString('base64');
}
