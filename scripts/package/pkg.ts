/**
 * `node pkg.ts JOB` (a {@link PkgJob} in JSON) uses pkg to build one executable. It calls pkg as a library, bypassing
 * its command line and `exec()`: these do not pass on `useCodeCache` and `execArgv`, and refuse 32-bit units.
 *
 * pkg passes all settings to Node, but starts that Node itself, without options and without an emulator. Node generates
 * usable compiled code only on the processor, and with the V8 options, that will run it. So pkg is loaded with a
 * replaced `execFile`, which starts the unit's Node as the unit will start it. One process builds one executable.
 */
import childProcess from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

export interface PkgJob {
  readonly script: string;
  /** Files that Node adds to the script, by asset name. */
  readonly assets: Readonly<Record<string, string>>;
  /** Node's executable for the unit, its version, and the command line with which this machine can run it. */
  readonly node: string;
  readonly version: string;
  readonly runner: readonly string[];
  /** Options with which the executable always runs. */
  readonly options: readonly string[];
  readonly output: string;
}

interface SeaOptions {
  readonly targets: readonly Readonly<Record<'platform' | 'arch' | 'nodeRange' | 'output', string>>[];
  readonly nodePath: string;
  readonly seaConfig: Readonly<Record<string, unknown>>;
}

/** pkg's internal entry point. It is not a documented interface, so test/scripts/package/pkg.test.ts checks it. */
export const entrance = '@yao-pkg/pkg/lib-es5/sea.js';

/** @throws Error if pkg fails, or if the entry point differs from that of the expected version of pkg */
export async function packWithPkg(job: PkgJob, file: string = entrance): Promise<void> {
  const seaConfig = {
    // The file name becomes part of the executable, but the folder must not: Node finds the script in its current
    // directory.
    main: basename(job.script),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    ...(job.options.length === 0 ? {} : { execArgv: job.options }),
    ...(Object.keys(job.assets).length === 0 ? {} : { assets: job.assets }),
  };
  const { execFile } = childProcess;
  let started = 0;
  const execFileOnUnit = (program: string, args: readonly string[], done: (error: Error | null) => void): void => {
    const difference =
      program === job.node && args.length === 2 && args[0] === '--experimental-sea-config'
        ? settingNotIn(JSON.parse(readFileSync(args[1] as string, 'utf8')), seaConfig)
        : `it runs ${[program, ...args].join(' ')}`;
    if (difference !== undefined) {
      done(changed(difference));
      return;
    }
    started++;
    const [runner, ...before] = job.runner as [string, ...string[]];
    // Without a seed, V8 lays out the tables of compiled code at random.
    const all = [...before, '--random-seed=1', ...job.options, ...args];
    execFile(runner, all, { cwd: dirname(job.script) }, done);
  };
  Object.assign(childProcess, { execFile: execFileOnUnit });
  let sea: ((script: string, options: SeaOptions) => Promise<void>) | undefined;
  try {
    sea = createRequire(import.meta.url)(file).default;
  } finally {
    Object.assign(childProcess, { execFile });
  }
  if (typeof sea !== 'function' || sea.length !== 2) throw changed('it exports no function of a script and options');
  // pkg lets the target's Node create the blob only if it believes that this machine can run this Node.
  const target = { platform: 'linux', arch: process.arch, nodeRange: `node${job.version}`, output: job.output };
  await sea(job.script, { targets: [target], nodePath: job.node, seaConfig });
  if (started !== 1) throw changed(`it started Node ${started} times through execFile`);
}

function settingNotIn(given: Readonly<Record<string, unknown>>, wanted: object): string | undefined {
  const lost = Object.entries(wanted).find(([name, value]) => !isDeepStrictEqual(given[name], value));
  return lost && `it does not pass ${lost[0]} on to Node`;
}

function changed(what: string): Error {
  return new Error(`${entrance} has changed: ${what}; adapt scripts/package/pkg.ts to this version of pkg`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await packWithPkg(JSON.parse(process.argv[2] ?? ''));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
