/** Selections of test files for a bare machine, without those that CI runs apart from `npm test`. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Test files that name a program, a device or a right that they need (test/needs.ts, test/rig/peers.ts). */
export function filesThatAsk(root: string): readonly string[] {
  const sources = readTests(root);
  return testFiles(sources).filter((file) => /\b(describe|test)(Peers?|Needing)\(/.test(sources.get(file) as string));
}

/**
 * Test files whose result can depend on the machine: they or the modules of `test/` that they import start a program, ask
 * for one, or use a device or the name of the user, of the machine or of its network.
 */
export function filesOfMachine(root: string): readonly string[] {
  const sources = readTests(root);
  const machine =
    /node:child_process|needs\.ts'|\b(userInfo|hostname|networkInterfaces|homedir|getuid)\(|['"`]\/(dev|proc|sys|bin)\//;
  return testFiles(sources).filter((file) =>
    importedBy(file, sources).some((name) => machine.test(sources.get(name) as string)),
  );
}

/** All files of `test/` by their path in the project. */
function readTests(root: string): ReadonlyMap<string, string> {
  const names = globSync('test/**/*.ts', { cwd: root }).sort();
  return new Map(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

function testFiles(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...sources.keys()].filter((name) => /(?<!\.(engine|browser|long))\.test\.ts$/.test(name));
}

/** The file and all files of `test/` that it loads. */
function importedBy(file: string, sources: ReadonlyMap<string, string>): readonly string[] {
  const found = new Set([file]);
  for (const name of found) {
    for (const [, path = ''] of (sources.get(name) as string).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const imported = join(dirname(name), path);
      if (sources.has(imported)) found.add(imported);
    }
  }
  return [...found];
}
