/** What the trials of the package for npm are made of: sentences, and commands that a user types. */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** A command that takes longer hangs, ms: a release takes minutes on a machine that does much else. */
const PATIENCE = 1_200_000;

/** A sentence that is true when `act` does not throw. */
export interface LibraryCheck {
  readonly sentence: string;
  act(): Promise<void>;
}

export function run(folder: string, command: string, ...args: readonly string[]): SpawnSyncReturns<string> {
  const result = spawn(folder, command, ...args);
  assert.equal(result.status, 0, `${command} ${args.join(' ')}\n${result.stdout}${result.stderr}`);
  return result;
}

/** Without the project's own programs on the path, but with this Node. */
export function spawn(folder: string, command: string, ...args: readonly string[]): SpawnSyncReturns<string> {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
  const env = { ...process.env, PATH: [dirname(process.execPath), ...path].join(delimiter) };
  return spawnSync(command, args, { cwd: folder, encoding: 'utf8', env, timeout: PATIENCE });
}
