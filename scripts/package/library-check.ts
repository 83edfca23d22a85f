/** Common parts of the trials of the npm package: checks, and commands as a user types them. */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Timeout of a command in ms: a release takes minutes on a busy machine. */
const PATIENCE = 1_200_000;

/** A check: its sentence is verified if `act` does not throw. */
export interface LibraryCheck {
  readonly sentence: string;
  act(): Promise<void>;
}

export function run(folder: string, command: string, ...args: readonly string[]): SpawnSyncReturns<string> {
  const result = spawn(folder, command, ...args);
  assert.equal(result.status, 0, `${command} ${args.join(' ')}\n${result.stdout}${result.stderr}`);
  return result;
}

/** Installs packages as a user does. Creates a project if the folder has none. */
export function installInto(project: string, ...packages: readonly string[]): void {
  mkdirSync(project, { recursive: true });
  const manifest = join(project, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true, "type": "module" }\n');
  run(project, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', ...packages);
}

/** Runs a command with this Node, but without the project's own programs on the path. */
export function spawn(folder: string, command: string, ...args: readonly string[]): SpawnSyncReturns<string> {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
  const env = { ...process.env, PATH: [dirname(process.execPath), ...path].join(delimiter) };
  return spawnSync(command, args, { cwd: folder, encoding: 'utf8', env, timeout: PATIENCE });
}
