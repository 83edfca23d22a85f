/** Selections of test files, without those that CI runs apart from `npm test`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Test files that name a program, a device or a right that they need (test/needs.ts, test/rig/peers.ts). */
export function filesThatAsk(root: string): readonly string[] {
  return testFiles(root).filter((file) =>
    /\b(describe|test)(Peers?|Needing)\(/.test(readFileSync(join(root, file), 'utf8')),
  );
}

/** All files of `npm test`, by their path in the project. */
export function testFiles(root: string): readonly string[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((name) => !/\.(engine|browser|long)\.test\.ts$/.test(name))
    .sort();
}
