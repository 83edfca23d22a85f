/** Builds the page (page/) as browsers load it: a script, a style sheet, and the licences of their contents. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'page');

const bundling = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  charset: 'utf8',
  legalComments: 'none',
  target: ['chrome123', 'firefox124', 'safari17.5'],
  logLevel: 'error',
} satisfies BuildOptions;

export async function pageScript(): Promise<string> {
  return (await bundleScript()).text;
}

/** Returns the service worker of the page. */
export async function pageWorker(): Promise<string> {
  const { outputFiles } = await build({
    ...bundling,
    entryPoints: [join(page, 'shared/push/worker.ts')],
    format: 'iife',
  });
  return outputFiles[0]?.text ?? '';
}

export async function pageStyle(): Promise<string> {
  const { outputFiles } = await build({ ...bundling, entryPoints: [join(page, 'page.css')] });
  return outputFiles[0]?.text ?? '';
}

/** Returns a file of page/ that is served unchanged. */
export function pageFile(name: string): () => Uint8Array {
  return () => readFileSync(join(page, name));
}

/** Returns the licences of the packages in the script, sorted by package name. */
export async function pageLicences(): Promise<string> {
  const { inputs } = await bundleScript();
  const packages = new Set(inputs.flatMap((file) => /^(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  const texts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})\n\n${readFileSync(join(root, folder, 'LICENSE'), 'utf8').trim()}\n`;
  });
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim();
  return `This page is part of Vigie. It contains these packages:\n\n${texts.join('\n')}\nVigie (Apache-2.0)\n\n${own}\n`;
}

async function bundleScript(): Promise<{ readonly text: string; readonly inputs: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    ...bundling,
    entryPoints: [join(page, 'main.tsx')],
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: join(dirname(page), 'page/tsconfig.json'),
  });
  return { text: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}
