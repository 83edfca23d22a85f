/** Lists test files, without those that CI runs separately from `npm test`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the test files that name a program, device or permission which they need (test/needs.ts, test/rig/peers.ts).
 */
export function filesThatAsk(root: string): readonly string[] {
  return testFiles(root).filter((file) =>
    /\b(describe|test)(Peers?|Needing)\(/.test(readFileSync(join(root, file), 'utf8')),
  );
}

/** Returns all files that `npm test` runs, by path relative to the project. */
export function testFiles(root: string): readonly string[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((name) => !/\.(engine|browser|long)\.test\.ts$/.test(name))
    .sort();
}
