/** Bundles programs in the form in which the car runs the agent, see ../bundle.ts. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundling } from '../bundle.ts';

/** Bundles a file of the project. `source` is relative to this folder. Returns the file that Node must run. */
export async function bundle(source: string, scratch: string): Promise<string> {
  const outfile = join(scratch, `${source.replaceAll(/[^a-z-]+/g, '-')}.mjs`);
  const { outExtension: _, ...options } = bundling;
  await build({ ...options, entryPoints: [fileURLToPath(new URL(source, import.meta.url))], outfile });
  return outfile;
}
