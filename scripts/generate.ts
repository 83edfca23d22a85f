/**
 * Writes all generated files. With `--check`, writes nothing and fails if a committed file differs from the generated
 * one.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { artefacts } from './artefacts.ts';

const root = new URL('..', import.meta.url);
const check = process.argv.includes('--check');
const stale: string[] = [];

for (const { file, make } of artefacts) {
  const path = fileURLToPath(new URL(file, root));
  const wanted = Buffer.from(await make());
  if (read(path)?.equals(wanted) === true) continue;
  if (check) stale.push(file);
  else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, wanted);
    console.log(`wrote ${file}`);
  }
}
if (stale.length > 0) {
  console.error(`stale, run \`npm run generate\`: ${stale.join(', ')}`);
  process.exitCode = 1;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
