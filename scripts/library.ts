/**
 * `npm run library`: builds the files that `npm pack` ships, in `dist/`: the program as `npm run bundle` builds it, and
 * in `dist/library` each module as JavaScript with declarations and source map, next to the files that it reads.
 * `npm run library -- --into FOLDER` also packs it and installs it in the project in that folder.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { bundleProgram } from './bundle.ts';
import { compileLibrary } from './declarations.ts';
import { packageLicences } from './package/licences.ts';
import { SBOM_FILE, sbomOf } from './package/sbom.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const library = join(dist, 'library');

/** Files that modules read at run time or import as JavaScript, by their path in the project. */
const beside = [
  'config/generated/validators.js',
  'config/generated/validators.d.ts',
  'config/vehicles',
  'page/generated',
  'protocol/generated/asyncapi.json',
  'protocol/generated/openapi.json',
  'protocol/generated/requests.js',
  'protocol/generated/requests.d.ts',
  'protocol/generated/slots.json',
  'protocol/generated/vigie.cddl',
  'protocol/generated/signed-command.cddl',
];

/** Builds the package. @throws Error if the compiler reports an error */
export async function buildLibrary(): Promise<void> {
  await bundleProgram();
  writeFileSync(join(dist, 'third-party-licences.txt'), packageLicences());
  writeFileSync(join(dist, 'documents', SBOM_FILE), sbomOf({ kind: 'npm' }));
  rmSync(library, { recursive: true, force: true });
  compileLibrary(library);
  for (const file of beside) cpSync(join(root, file), join(library, file), { recursive: true });
  for (const entry of readdirSync(library, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue;
    const file = join(entry.parentPath, entry.name);
    writeFileSync(file, withoutOptionalPackages(withJavaScriptNames(readFileSync(file, 'utf8'))));
  }
  // Modules read their version from this file. All other fields are in the manifest of the package.
  const { version, type } = manifest;
  writeFileSync(join(library, 'package.json'), `${JSON.stringify({ version, type })}\n`);
}

/** Replaces the names of source modules that the compiler leaves in declarations. */
function withJavaScriptNames(declarations: string): string {
  return declarations.replaceAll(/((?:from|import)\s*\(?['"]\.[^'"]*?)(?<!\.d)\.ts(['"])/g, '$1.js$2');
}

/**
 * Prevents compiler errors about packages that only the HTTP interface needs, in projects that check declarations
 * without having these packages installed.
 */
function withoutOptionalPackages(declarations: string): string {
  const names = Object.keys(manifest.peerDependencies).join('|');
  const imports = new RegExp(`^(?=import .*from '(?:${names})(?:/[^']*)?';)`, 'gm');
  return declarations.replaceAll(imports, '// @ts-ignore: an optional package\n');
}

/** Packs the build, and installs it in the project in a folder. */
function installLibrary(folder: string): void {
  // The script `prepare` would build everything again.
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', dist);
  npm(folder, 'install', join(dist, `${manifest.name}-${manifest.version}.tgz`));
}

function npm(folder: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} in ${folder}: ${error?.message ?? `status ${status}`}`);
}

/** Returns the version of the Node that runs npm, because scripts themselves run on the project's own Node. */
function versionOfMachine(): string {
  const node = process.env['npm_node_execpath'] ?? process.execPath;
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim().replace(/^v/, '');
}

/** Returns the last line that the installation prints. */
export function nextStep(folder: string, version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const next = `library: installed in ${folder}; see docs/embedding.md for a first program`;
  if (major < 22)
    return `${next}\nlibrary: it needs Node 22 or newer, and this machine has ${version}: install a newer one`;
  if (major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return next;
  return `${next}\nlibrary: Node ${version} runs JavaScript only; TypeScript (.ts) needs 22.18 or newer`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { into } = parseArgs({ options: { into: { type: 'string' } } }).values;
    if (into !== undefined && !existsSync(join(into, 'package.json'))) {
      throw new Error(
        `${resolve(into)} has no package.json: type "npm init --yes && npm pkg set type=module" there, or name the folder of a project`,
      );
    }
    console.log('library: the build takes one to two minutes');
    await buildLibrary();
    if (into !== undefined) {
      installLibrary(into);
      console.log(nextStep(resolve(into), versionOfMachine()));
    }
  } catch (error) {
    console.error(`library: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
