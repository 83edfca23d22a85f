/** Bundles programs of worlds with some source files replaced. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a Node module with `contents`, which imports like a file of this directory. `source` returns the text that
 * replaces a file.
 */
export async function bundleWorlds(
  contents: string,
  source: (path: string, original: () => string) => string | undefined,
): Promise<string> {
  const { outputFiles } = await build({
    bundle: true,
    write: false,
    // The same sources result in the same text, in any directory.
    absWorkingDir: resolve(import.meta.dirname, '../..'),
    minifyWhitespace: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [
      {
        name: 'source',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const replaced = source(path, () => readFileSync(path, 'utf8'));
            return replaced === undefined ? undefined : { contents: replaced, loader: 'ts' };
          });
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
}
