/** The entry into pkg, which is not a documented interface. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { entrance, type PkgJob, packWithPkg } from '../../../scripts/package/pkg.ts';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'vigie-pkg-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const job: PkgJob = {
  script: join(folder, 'vigie.cjs'),
  assets: { page: join(folder, 'page') },
  node: join(folder, 'node'),
  version: '24.21.0',
  // Records where and how the Node of the unit is started.
  runner: ['sh', '-c', 'pwd >started; printf "%s\\n" "$@" >>started', 'sh', 'node-of-the-unit'],
  options: ['--option-of-the-unit'],
  output: join(folder, 'vigie'),
};

/** A replacement for pkg's file, in which `start` and `config` are available like in the original. */
function changedEntrance(name: string, code: string): string {
  const file = join(folder, `${name}.cjs`);
  writeFileSync(
    file,
    `const { execFile } = require('child_process');
const start = require('util').promisify(execFile);
const config = (options, settings) => {
  require('fs').writeFileSync(${JSON.stringify(join(folder, 'config'))}, JSON.stringify(settings));
  return [options.nodePath, ['--experimental-sea-config', ${JSON.stringify(join(folder, 'config'))}]];
};
${code}`,
  );
  return file;
}

test('pkg has the exact version for which its entry was written', () => {
  expect(manifest.devDependencies['@yao-pkg/pkg']).toBe('6.23.0');
  expect(require('@yao-pkg/pkg/package.json')).toMatchObject({ version: '6.23.0' });
  expect(require('@yao-pkg/pkg/package.json').exports).toBeUndefined();
});

test('pkg’s entry point has the expected exports', () => {
  // In a separate process, because it loads a hundred packages that other tests do not need.
  const code = `const sea = require('${entrance}'); console.log(JSON.stringify([Object.keys(sea), sea.default.length]));`;
  const [names, length] = JSON.parse(execFileSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' }));
  expect(names.sort()).toEqual(['default', 'pickMatchingHostTargetIndex', 'seaEnhanced', 'signMacOSIfNeeded']);
  expect(length).toBe(2);
  const source = readFileSync(require.resolve(entrance), 'utf8');
  for (const part of [
    'const execFileAsync = util_1.default.promisify(child_process_1.execFile);',
    "await execFileAsync(generatorBinary, [\n        '--experimental-sea-config',\n        seaConfigFilePath,\n    ]);",
    '...(opts.seaConfig || {}),',
    'await generateSeaBlob(seaConfigFilePath, await pickBlobGeneratorBinary(opts.targets, nodePaths, opts));',
  ]) {
    expect(source).toContain(part);
  }
});

test('the Node of the unit makes the blob, with its options, in the directory of the script', async () => {
  const file = changedEntrance('same', 'exports.default = (_, o) => start(...config(o, o.seaConfig));');
  await packWithPkg(job, file);
  expect(readFileSync(join(folder, 'started'), 'utf8').trim().split('\n')).toEqual([
    folder,
    'node-of-the-unit',
    '--random-seed=1',
    '--option-of-the-unit',
    '--experimental-sea-config',
    join(folder, 'config'),
  ]);
  expect(JSON.parse(readFileSync(join(folder, 'config'), 'utf8'))).toEqual({
    main: 'vigie.cjs',
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    execArgv: ['--option-of-the-unit'],
    assets: { page: join(folder, 'page') },
  });
});

test.each([
  ['exports nothing', '', 'it exports no function'],
  ['takes an object', 'exports.default = async (options) => {};', 'it exports no function'],
  ['never starts Node', 'exports.default = async (script, options) => {};', 'it started Node 0 times'],
  [
    'starts Node another way',
    "exports.default = (_, o) => start(o.nodePath, ['--build-sea', 'config']);",
    `it runs ${join(folder, 'node')} --build-sea config`,
  ],
  [
    'drops the code cache',
    'exports.default = (_, o) => start(...config(o, { ...o.seaConfig, useCodeCache: false }));',
    'it does not pass useCodeCache on to Node',
  ],
  [
    'drops the options',
    'exports.default = (_, o) => start(...config(o, { ...o.seaConfig, execArgv: undefined }));',
    'it does not pass execArgv on to Node',
  ],
  [
    'drops the assets',
    'exports.default = (_, o) => start(...config(o, { ...o.seaConfig, assets: {} }));',
    'it does not pass assets on to Node',
  ],
])('a version of pkg that %s is refused', async (name, code, difference) => {
  await expect(packWithPkg(job, changedEntrance(name.replaceAll(' ', '-'), code))).rejects.toThrow(
    `${entrance} has changed: ${difference}`,
  );
});

test('the error output of a failing Node is reported', async () => {
  const file = changedEntrance('failing', 'exports.default = (_, o) => start(...config(o, o.seaConfig));');
  const runner = ['sh', '-c', 'echo "Cannot read main script" >&2; exit 1'];
  await expect(packWithPkg({ ...job, runner }, file)).rejects.toThrow('Cannot read main script');
});
