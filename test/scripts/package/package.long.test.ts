import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeName } from '../../../assembly/node-lines.ts';
import { contentsBeside } from '../../../scripts/bundle.ts';
import { makeExecutable } from '../../../scripts/package/executable.ts';
import { sbomOf } from '../../../scripts/package/sbom.ts';
import { type PackageTarget, targetNamed, targets } from '../../../scripts/package/targets.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The target that this machine runs without an emulator. */
const target = targets.find(({ arch }) => arch === process.arch) as PackageTarget;
const folder = mkdtempSync(join(tmpdir(), 'vigie-packaged-'));
// Runs from a folder that contains no project files.
const executable = join(folder, 'vigie');

beforeAll(async () => makeExecutable(target, executable), 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(executable, args, { encoding: 'utf8', cwd: folder, env: { PATH: '', ...env }, timeout: 30_000 });
}

it('the executable prints its version without a warning about discarded code', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(run(['--version'])).toMatchObject({
    status: 0,
    stdout: `${version}\n${nodeName(target.node.version)}\n`,
    stderr: '',
  });
});

it('the executable prints its bill of materials', () => {
  expect(run(['--sbom'])).toMatchObject({ status: 0, stdout: sbomOf({ kind: 'executable', target }), stderr: '' });
});

it('the executable compiles no code from strings', () => {
  expect(run(['--version'], { NODE_OPTIONS: '--disallow-code-generation-from-strings' }).stderr).toBe('');
});

it('the executable forbids code from strings without an environment setting', () => {
  const probe = join(folder, 'probe.cjs');
  writeFileSync(probe, "try { new Function('return 1')(); } catch ({ name }) { console.error(name); }");
  expect(run(['--version'], { NODE_OPTIONS: `--require=${probe}` })).toMatchObject({
    status: 0,
    stderr: 'EvalError\n',
  });
});

it('the script of the executable is ASCII, which V8 stores in half the memory', () => {
  const contents = readFileSync(executable);
  // From a regular expression of adapters/can/log/table.
  expect(contents.includes('nachm\\.?|下午')).toBe(false);
  expect(contents.includes('nachm\\.?|\\u4e0b\\u5348')).toBe(true);
});

it('stack traces of the executable name the functions of the program', () => {
  const probe = join(folder, 'trace.cjs');
  writeFileSync(probe, 'process.stdout.write = () => { console.error(new Error().stack); return true; };');
  expect(run(['--version'], { NODE_OPTIONS: `--require=${probe}` }).stderr).toMatch(/\bat run\d* \(/);
});

it('files and machine code are separate from the script, so that only files that are read take memory', () => {
  const probe = join(folder, 'assets.cjs');
  writeFileSync(probe, "console.error(require('node:sea').getAssetKeys().join('\\n'));");
  const { stderr } = run(['--version'], { NODE_OPTIONS: `--require=${probe}` });
  expect(stderr.split('\n')).toEqual(
    expect.arrayContaining([...contentsBeside().keys(), 'vigie:koffi', 'vigie:serialport']),
  );
});

const profiles = readdirSync(join(root, 'config/vehicles'));

it.each(profiles)('the executable contains the profile %s with all of its files', (profile) => {
  const { status, stdout } = run(['check', '--profile', profile]);
  expect([status, stdout]).toEqual([0, '']);
});

it('an unknown profile name is refused with a list of the contained profiles', () => {
  const { status, stdout, stderr } = run(['check', '--profile', 'bunch']);
  expect(status).toBe(2);
  expect(stdout + stderr).toMatch(/bench/);
});

it('the executable reads files outside of itself', () => {
  writeFileSync(join(folder, 'broken.yaml'), 'configuration: 1\nvin: none\n');
  const { status, stdout } = run(['check', '-c', 'broken.yaml']);
  expect(status).toBe(2);
  expect(stdout).toContain('"line":2');
});

it('the executable has machine code for CAN and serial lines, and leaves no temporary file', async () => {
  const runtime = join(folder, 'runtime');
  mkdirSync(runtime);
  writeFileSync(
    join(folder, 'native.yaml'),
    `configuration: 1
vin: VF3AB12CD34567890
profile: generic-obd2
data: ./native-data
can: [{ bus: obd, socketcan: vcan-none }]
obd: { isotp: obd, bus: obd }
gnss: { nmea: /dev/vigie-has-none }
mqtt: { url: mqtt://127.0.0.1:1 }
`,
  );
  const env = { PATH: '', RUNTIME_DIRECTORY: runtime };
  const child = spawn(executable, ['run', '-c', 'native.yaml'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let stopping = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      // The reason why it cannot open the interface differs between kernels. In each case koffi was called. A second
      // signal would stop it at once.
      if (!stopping && /ready:/.test(said) && /no such interface|kernel has no CAN|cannot be used/.test(said)) {
        stopping = child.kill('SIGINT');
      }
    });
  }
  const [status] = await once(child, 'exit');
  expect(status).toBe(0);
  expect(said).toMatch(/ready: VF3AB12CD34567890/);
  expect(said).toMatch(/there is no such interface|this kernel has no CAN/);
  expect(said).not.toMatch(/cannot be loaded|cannot be used/);
  expect(readdirSync(runtime)).toEqual([]);
});

it('advice names the executable, not the launcher of a checkout', async () => {
  const options = ['--data', join(folder, 'bench'), '--port', '0', '--http', '0', '--scenario', 'parked'];
  const child = spawn(executable, ['bench', ...options], {
    cwd: folder,
    env: { PATH: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  let stopping = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (!stopping && said.includes('Ctrl-C ends the bench.')) stopping = child.kill('SIGINT');
  });
  const [status] = await once(child, 'exit');
  expect(status).toBe(0);
  expect(said).toContain('  vigie watch VF3VGEBENCH000001');
  expect(said).not.toContain('npx');
});

it('an unknown architecture is refused with a list of the existing ones', () => {
  expect(targets.map(({ name }) => name).sort()).toEqual(['arm64', 'armv7', 'x64']);
  expect(() => targetNamed('mips')).toThrow(/"mips" is no architecture: choose of x64, arm64, armv7/);
});
