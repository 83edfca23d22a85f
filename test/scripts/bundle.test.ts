import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageFiles } from '../../adapters/http/documents.ts';
import { prepare, preparedFile } from '../../config/prepared.ts';
import { shippedNames, shippedProfiles } from '../../config/shipped.ts';
import { bundleProgram } from '../../scripts/bundle.ts';
import { packageLicences } from '../../scripts/package/licences.ts';
import { VigieProcess } from '../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-bundle-'));
const root = fileURLToPath(new URL('../..', import.meta.url));
let outputs: Awaited<ReturnType<typeof bundleProgram>>['outputs'];

beforeAll(async () => {
  ({ outputs } = await bundleProgram(folder));
  // For packages with machine code, which stay in place.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(folder, 'main.mjs'), ...args], { encoding: 'utf8' });
}

/** Packages and rooms of all modules that a command loads. */
function loaded(command: string): Set<string> {
  const begin = Object.keys(outputs).find((file) => basename(file).startsWith(`${command}-`)) ?? '';
  const files = new Set([begin]);
  // The set grows during the iteration, which includes the new entries.
  for (const file of files) {
    for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === 'import-statement') files.add(path);
  }
  const inputs = [...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
  return new Set(
    inputs.map(
      (input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? input.split('/').slice(0, 2).join('/'),
    ),
  );
}

test('the bundle runs by itself next to the shipped profiles', () => {
  expect(run('--version')).toMatchObject({ status: 0, stderr: '' });
  expect(run('check', '--profile', 'bench')).toMatchObject({ status: 0 });
  expect(run('replya').stderr).toContain('replay');
});

test('the bundle requires Node modules lazily, so that an HTTP server does not load the request client', () => {
  const taken = Object.keys(outputs).flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom|\bimport)\s*["'](node:[^"']+)/g),
  ]);
  // The module that provides the bundle's `require`.
  expect(new Set(taken.map(([, name]) => name))).toEqual(new Set(['node:module']));
  const list = 'process.on("exit", () => console.log(process.moduleLoadList.join("\\n")))';
  const { stdout } = spawnSync(
    process.execPath,
    [`--import=data:text/javascript,${encodeURIComponent(list)}`, join(folder, 'main.mjs'), 'run', '-c', 'none.yaml'],
    { encoding: 'utf8', cwd: folder },
  );
  expect(stdout).toContain('NativeModule http\n');
  expect(stdout).not.toContain('undici');
});

test('reading a log loads no child processes, worker threads or signatures', () => {
  const list = 'process.on("exit", () => console.log(process.moduleLoadList.join("\\n")))';
  const { stdout } = spawnSync(
    process.execPath,
    [`--import=data:text/javascript,${encodeURIComponent(list)}`, join(folder, 'main.mjs'), 'replay', '--help'],
    { encoding: 'utf8' },
  );
  expect(stdout).toContain('replay');
  expect(stdout).toContain('NativeModule path\n');
  for (const module of ['child_process', 'crypto', 'worker_threads'])
    expect(stdout).not.toContain(`NativeModule ${module}\n`);
});

test('the bundle keeps settings made for a package before it loads, although nothing is imported from it', () => {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  expect(files).toContain('adapters/mqtt/packet-numbers.ts');
});

test('a lazily imported Node module has all of its members', () => {
  const later = Object.keys(outputs).flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(/import\(["']([^"']*sqlite[^"']*)["']\)/g),
  ]);
  expect(later.map(([, name]) => name)).toContain('node:sqlite');
});

test('the bundle contains undici’s request code, but neither fetch nor its mocks', () => {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const carried = files.filter((file) => file.includes('node_modules/undici/')).map((file) => file.split('/lib/')[1]);
  expect(carried).toContain('dispatcher/agent.js');
  expect(carried.filter((file) => file === undefined || /^mock|^web\/(?!fetch)|^web\/fetch\/index/.test(file))).toEqual(
    [],
  );
});

test('the bundle contains no browser builds, package metrics or duplicates', () => {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  for (const wanted of ['prom-client/lib/counter', 'llhttp/llhttp-wasm', 'typebox/build/type/types']) {
    expect(files.join('\n')).toContain(wanted);
  }
  const needless = /\/(worker-timers|@opentelemetry|llhttp_simd|typebox\/build\/type\/script\/parser)/;
  expect(files.filter((file) => needless.test(file))).toEqual([]);
});

test('the licence of every bundled package is shipped', () => {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const names = files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  const licensed = new Set([...packageLicences().matchAll(/^={79}\n(\S+) .*\n={79}$/gm)].map(([, name]) => name));
  expect(names).toContain('yaml');
  expect([...new Set(names)].filter((name) => !licensed.has(name))).toEqual([]);
});

test.each(shippedNames(shippedProfiles))('carries the contents of the profile %s as they are read', (name) => {
  const file = `vehicles/${name}/profile.yaml`;
  expect(readFileSync(join(folder, preparedFile(file)), 'utf8')).toBe(prepare(join(root, 'config', file)));
});

test('the bundle contains the page, the interface document and Swagger UI', async () => {
  const data = mkdtempSync(join(tmpdir(), 'vigie-bundle-bench-'));
  const bench = new VigieProcess(
    ['bench', '--data', data, '--port', '0', '--http', '0', '--scenario', 'parked'],
    join(folder, 'main.mjs'),
  );
  try {
    await bench.says('Ctrl-C ends');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(bench.output)?.[0];
    const get = async (path: string): Promise<Buffer> =>
      Buffer.from(await (await fetch(`${url}${path}`)).arrayBuffer());
    expect(await get('/openapi.json')).toEqual(readFileSync(join(root, 'protocol/generated/openapi.json')));
    for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
      const carried = join(folder, 'documents/swagger-ui', name);
      expect((await get(`/docs/${name}`)).equals(readFileSync(carried)), name).toBe(true);
    }
    for (const [name, address] of pageFiles) {
      expect((await get(address)).equals(readFileSync(join(folder, 'documents/page', name))), name).toBe(true);
    }
    expect(String(await get('/docs'))).toContain('/docs/swagger-ui-bundle.js');
  } finally {
    await bench.end('SIGINT');
    rmSync(data, { recursive: true, force: true });
  }
});

test('the bundle serves every file in its list', async () => {
  const data = mkdtempSync(join(tmpdir(), 'vigie-bundle-run-'));
  const file = join(data, 'vigie.yaml');
  writeFileSync(
    file,
    `configuration: 1
vin: VF3BUNDLED0000001
profile: bench
data: .
can: [{ bus: body, log: ${join(root, 'main.ts')} }]
mqtt: { url: 'mqtt://127.0.0.1:1' }
metrics: { listen: 'unix:metrics.sock' }
`,
  );
  const car = new VigieProcess(['run', '-c', file], join(folder, 'main.mjs'));
  try {
    await car.says('ready:');
    const { statusCode, body } = await request('http://localhost/metrics', {
      dispatcher: new Agent({ connect: { socketPath: join(data, 'metrics.sock') } }),
    });
    expect([statusCode, await body.text()]).toEqual([200, expect.stringContaining('vigie_up 1')]);
  } finally {
    await car.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  }
});

test('the launcher works without a bundle and then starts the sources', () => {
  const copy = mkdtempSync(join(tmpdir(), 'vigie-launcher-'));
  try {
    cpSync(join(root, 'scripts/vigie.js'), join(copy, 'scripts/vigie.js'));
    const sources = JSON.parse(readFileSync(join(folder, 'sources.json'), 'utf8')) as string[];
    for (const source of sources) cpSync(join(root, source), join(copy, source));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const { status, stdout } = spawnSync(process.execPath, [join(copy, 'scripts/vigie.js'), '--version'], {
      encoding: 'utf8',
    });
    expect({ status, first: stdout.split('\n')[0] }).toEqual({ status: 0, first: version });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

test.each(['replay', 'decode', 'inspect', 'check'])('%s loads neither MQTT nor device drivers', (command) => {
  const found = loaded(command);
  expect(found).toContain('commander');
  expect(found).toContain('adapters/can');
  for (const heavy of ['mqtt', 'aedes', 'adapters/mqtt', 'adapters/simulated']) expect(found).not.toContain(heavy);
});

test('the bundle’s source map names files of the project', () => {
  const sources = JSON.parse(readFileSync(join(folder, 'sources.json'), 'utf8')) as string[];
  expect(sources).toEqual(expect.arrayContaining(['main.ts', 'commands/replay.ts', 'config/vehicles/bench/bench.dbc']));
  for (const source of sources) expect(readFileSync(join(root, source)).length).toBeGreaterThan(0);
});
