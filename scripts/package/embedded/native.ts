/** Machine code for Node that is embedded in the executable. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { unpack } from './unpack.ts';

/**
 * Loads an addon. The dynamic linker loads code only from files, so the addon is written to a temporary file in a
 * private folder: in the service's RuntimeDirectory, the temporary folder or shared memory, whichever first allows code
 * (a file system mounted with `noexec` does not).
 * @throws Error with the reason for each folder
 */
export function loadNative(name: string, packed: string): unknown {
  const code = unpack(packed);
  const reasons: string[] = [];
  for (const place of places()) {
    try {
      return loadFrom(place, name, code);
    } catch (error) {
      reasons.push(`${place}: ${(error as Error).message}`);
    }
  }
  throw new Error(
    `${name} cannot be loaded, since no folder may hold code for a moment (${reasons.join('; ')}); ` +
      'set TMPDIR to one on a file system that is writable and not mounted noexec',
  );
}

function places(): readonly string[] {
  const runtime = process.env['RUNTIME_DIRECTORY']?.split(delimiter) ?? [];
  return [...runtime, tmpdir(), '/dev/shm'].filter((place) => place !== '');
}

function loadFrom(place: string, name: string, code: Uint8Array): unknown {
  const folder = mkdtempSync(join(place, 'vigie-code-'));
  try {
    const file = join(folder, `${name}.node`);
    writeFileSync(file, code, { mode: 0o500, flag: 'wx' });
    const module = { exports: {} };
    process.dlopen(module, file);
    return module.exports;
  } finally {
    // The code stays mapped in memory after its file has been removed.
    rmSync(folder, { recursive: true, force: true });
  }
}
