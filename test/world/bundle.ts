/** Programs of worlds in which some files of the source are others. */
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

/** A module of Node with `contents`, which imports as a file of this folder. `source` gives what is in place of a file. */
export async function bundleWorlds(
  contents: string,
  source: (path: string, original: () => string) => string | undefined,
): Promise<string> {
  const { outputFiles } = await build({
    bundle: true,
    write: false,
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
