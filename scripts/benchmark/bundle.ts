/**
 * Programs as the car runs them: bundled into one file of JavaScript. From the sources Node strips types while it
 * starts, and the machine code then tests at every array access whether the buffer was detached; bundled it does not.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles a file of the project; `source` is relative to this folder. Returns the file to run with Node. */
export async function bundle(source: string, scratch: string): Promise<string> {
  const outfile = join(scratch, `${source.replaceAll(/[^a-z-]+/g, '-')}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'error',
    // Packages in CommonJS ask for Node's own modules with require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
    },
  });
  return outfile;
}
