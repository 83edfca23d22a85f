/** The committed declarations of the package (scripts/declarations.ts). */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const root = new URL('../../../', import.meta.url);
const subPaths = Object.entries(manifest.exports).flatMap(([path, entry]): [string, string][] =>
  typeof entry === 'string' ? [] : [[path === '.' ? 'index' : path.slice(2), entry.types]],
);

test.each(subPaths)('the declarations of sub-path %s contain all exports of its module', async (name, types) => {
  const source = types.replace('./dist/library/', '').replace(/\.d\.ts$/, '.ts');
  const exported = Object.keys((await import(new URL(source, root).href)) as object);
  const text = readFileSync(new URL(`assembly/generated/${name}.d.ts`, root), 'utf8');
  expect(exported.length).toBeGreaterThan(0);
  const missing = exported.filter(
    (one) => !new RegExp(`^export declare (?:class|const|function) ${one}\\b`, 'm').test(text),
  );
  expect(missing).toEqual([]);
});
