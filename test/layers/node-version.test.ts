/** The code in the armv7 executable runs on Node 20.11, the newest version for which an armv7 build could be made. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Names that modules of Node export only after 20.11. */
const newer: Readonly<Record<string, RegExp>> = {
  crypto: /^(hash|argon2|argon2Sync|encapsulate|decapsulate)$/,
  fs: /^(glob|globSync)$/,
  'fs/promises': /^glob$/,
  module: /^(enableCompileCache|flushCompileCache|findPackageJSON|registerHooks|stripTypeScriptTypes)$/,
  path: /^matchesGlob$/,
  process: /^(loadEnvFile|getBuiltinModule|features)$/,
  util: /^(styleText|parseEnv|getCallSites?|diff)$/,
  zlib: /^(crc32|.*[zZ]std.*)$/,
};
const sources = globSync('{protocol,agent,adapters,config,assembly,commands}/**/*.ts', {
  exclude: ['**/generated/**', 'hub/database/**'],
});
const named = /^import \{([^}]*)\} from 'node:([a-z/_0-9]+)';/gm;

function newerNames(text: string): string[] {
  return [...text.matchAll(named)].flatMap(([, names = '', module = '']) =>
    names
      .split(',')
      .map((name) => name.trim().split(' as ')[0] ?? '')
      .filter((name) => newer[module]?.test(name))
      .map((name) => `${name} of node:${module}`),
  );
}

test('no module that a unit runs imports a name that Node 20.11 lacks', () => {
  const found = sources.flatMap((path) => newerNames(readFileSync(path, 'utf8')).map((name) => `${path}: ${name}`));
  expect(sources.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});

test('a newer name is found among others, and in an import over several lines', () => {
  expect(newerNames("import {\n  hash,\n  randomUUID,\n} from 'node:crypto';\n")).toEqual(['hash of node:crypto']);
  expect(newerNames("import { createHash } from 'node:crypto';\n")).toEqual([]);
});
