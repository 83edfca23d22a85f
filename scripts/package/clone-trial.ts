/**
 * `npm ci && npm pack` in a clean clone. With npm 10, the script `prepare` builds the package. npm 11 runs no scripts
 * if `ignore-scripts` is set; it fails because a folder in `files` has a link to a build output that is missing. npm
 * prints the name of that folder, and this name is the command to run.
 */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { installInto, type LibraryCheck, run } from './library-check.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const COMMANDS = 'npm ci && npm pack';
const TARBALL = `vigie-${manifest.version}.tgz`;
const NPM_OF_NODE_20 = '10.8.2';
const NPM_11 = '11';

/** Checks that run in order. The folder `scratch` must not exist yet. */
export function cloneChecks(scratch: string): readonly LibraryCheck[] {
  const clone = join(scratch, 'vigie');
  return [
    {
      sentence: `“${COMMANDS}” in a clean clone makes a working package with Node 20 and its npm`,
      act: async () => {
        mkdirSync(scratch);
        run(scratch, 'git', 'clone', '--quiet', root, clone);
        const packing = type(COMMANDS, NPM_OF_NODE_20);
        assert.equal(packing.status, 0, packing.stdout + packing.stderr);
        await imports();
      },
    },
    {
      sentence: `with npm 11 “${COMMANDS}” names the command that builds, after which npm pack makes a working package`,
      act: async () => {
        run(clone, 'git', 'clean', '-xdfq');
        const refused = type(COMMANDS, NPM_11);
        assert.notEqual(refused.status, 0);
        const [, command = ''] = /not built yet - ([^/]+)\/\.npmignore/.exec(refused.stderr) ?? [];
        assert.equal(command, 'npm run library', refused.stderr);
        assert.ok(!existsSync(join(clone, TARBALL)));
        const packing = type(`${command} && npm pack`, NPM_11);
        assert.equal(packing.status, 0, packing.stdout + packing.stderr);
        await imports();
      },
    },
  ];

  /** Runs commands in a shell in the clone. Node 20 and this npm come first on the path. */
  function type(commands: string, npm: string): SpawnSyncReturns<string> {
    const tools = join(scratch, `npm-${npm}`);
    const node = `node-linux-${process.arch}`;
    if (!existsSync(tools)) installInto(tools, `npm@${npm}`, `${node}@20`);
    const modules = join(tools, 'node_modules');
    const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      PATH: [join(modules, '.bin'), join(modules, node, 'bin'), ...path].join(delimiter),
    };
    // `npm run` passes its options and this project's settings on, but the clone has its own.
    for (const name of ['npm_config_ignore_scripts', 'npm_config_loglevel']) delete env[name];
    return spawnSync('sh', ['-c', commands], { cwd: clone, encoding: 'utf8', env, timeout: 600_000 });
  }

  /** Installs the clone's tarball into an empty project with a program that imports the package. */
  async function imports(): Promise<void> {
    const project = join(scratch, 'project');
    rmSync(project, { recursive: true, force: true });
    installInto(project, join(clone, TARBALL));
    writeFileSync(join(project, 'main.js'), "import { createAgent } from 'vigie';\nconsole.log(typeof createAgent);\n");
    assert.equal(run(project, process.execPath, 'main.js').stdout, 'function\n');
    const [version] = run(project, 'npx', 'vigie', '--version').stdout.split('\n');
    assert.equal(version, manifest.version);
  }
}
