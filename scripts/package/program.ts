/** Builds the whole program for one architecture: JavaScript as one script, embedded files and machine code. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { minifySync } from 'rolldown/utils';
import { bundling, contentsBeside, deferring, slimming } from '../bundle.ts';
import { packageFolder } from './registry.ts';
import { SBOM_FILE, sbomOf } from './sbom.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = import.meta.dirname;
const modules = join(root, 'node_modules');

/** `executable`: includes its Node; `script`: runs on the system's Node. */
export type ProgramKind = 'executable' | 'script';

/** A bundled program. */
export interface BundledProgram {
  readonly script: string;
  /** Files of the executable in addition to the script, by asset name. */
  readonly assets: Readonly<Record<string, string>>;
}

/**
 * Bundles the program for a target into an empty folder, as one CommonJS file, because Node accepts only this format in
 * an executable.
 */
export async function bundleForTarget(
  target: PackageTarget,
  folder: string,
  kind: ProgramKind = 'executable',
): Promise<BundledProgram> {
  const outfile = join(folder, 'vigie.cjs');
  const carrier = new Carrier(target.assets ? join(folder, 'assets') : undefined);
  const { banner, outExtension, external, ...common } = bundling;
  await build({
    ...common,
    absWorkingDir: root,
    // Use paths below the project even for symbolic links: the script contains them, and the plugin compares them.
    preserveSymlinks: true,
    entryPoints: [join(here, 'embedded/main.ts')],
    outfile,
    format: 'cjs',
    target: target.language,
    // Inside an executable, Node 20.11 cannot import() its own modules.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'moduleAddress', 'import.meta.dirname': 'undefined' },
    inject: [join(here, 'embedded/address.ts')],
    legalComments: 'none',
    plugins: [slimming, deferring, carried(target, kind, carrier)],
  });
  writeFileSync(outfile, inAscii(withShortNames(readFileSync(outfile, 'utf8'))));
  return { script: outfile, assets: carrier.assets };
}

/**
 * Shortens the names of variables and parameters in a script, which makes the script a quarter smaller. Functions and
 * classes keep their names for stack traces and errors; the bundler has no option for this.
 * @throws Error if the script cannot be parsed
 */
export function withShortNames(script: string): string {
  const options = { compress: false, mangle: { toplevel: true, keepNames: true } };
  const { code, errors } = minifySync('vigie.cjs', script, options);
  const [error] = errors;
  if (error !== undefined) throw new Error(`the bundled script cannot be shortened: ${error.message}`);
  return code;
}

/**
 * Escapes the non-ASCII characters in a script. The bundler leaves those in regular expressions, and V8 needs twice the
 * memory for a script of 4 MB if it contains a single character beyond Latin-1.
 */
export function inAscii(script: string): string {
  return script.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Replaces modules that would look for files on a disk with modules that read the embedded ones. */
function carried(target: PackageTarget, kind: ProgramKind, carrier: Carrier): Plugin {
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
      build.onLoad({ filter: /.*/, namespace: 'carried' }, ({ path }) => ({
        contents: contentsOf(path, target, kind, carrier),
      }));
    },
  };
}

function contentsOf(name: string, target: PackageTarget, kind: ProgramKind, carrier: Carrier): string {
  if (name === 'vigie:carried') return carrier.reader;
  if (name === 'vigie:files') {
    const sbom = [`documents/${SBOM_FILE}`, Buffer.from(sbomOf({ kind, target }))] as const;
    const files = [...contentsBeside(), sbom].map(([place, contents]) => [place, carrier.pack(place, contents)]);
    return `export const files = ${JSON.stringify(Object.fromEntries(files))};`;
  }
  const file =
    name === 'vigie:koffi'
      ? join(packageFolder(target.koffi.package), target.koffi.file)
      : join(modules, '@serialport/bindings-cpp/prebuilds', target.serialport);
  return `export const packed = ${JSON.stringify(carrier.pack(name, readFileSync(file)))};`;
}

/**
 * Packs the files of an executable: as assets, which need memory only when they are read, or, if its Node has no
 * assets, into the script.
 */
class Carrier {
  /** Paths of the assets, by name. */
  readonly assets: Record<string, string> = {};
  readonly #folder: string | undefined;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Source of the module that reads the packed files in the executable. */
  get reader(): string {
    return this.#folder === undefined
      ? "export const bytesOf = (packed) => Buffer.from(packed, 'base64');"
      : "import { getRawAsset } from 'node:sea'; export const bytesOf = (name) => new Uint8Array(getRawAsset(name));";
  }

  /** Packs a file. Returns the argument with which the reader finds it. */
  pack(name: string, contents: Uint8Array): string {
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
    const packed = brotliCompressSync(contents, { params });
    if (this.#folder === undefined) return packed.toString('base64');
    const file = join(this.#folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, packed);
    this.assets[name] = file;
    return name;
  }
}
