/** Keys computed by programs on the unit: a manufacturer's secrets stay out of the agent and its profiles. */

import { accessSync, constants, readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { bytesOf, hexOf } from '../hex.ts';
import { type KeyHook, simpleKeys } from './security.ts';

/** Valid names, as in profiles. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Maximum length in bytes of the output; more is not a key. */
const LONGEST_OUTPUT = 4_096;
/** Mode bits of write access for group and others (inode(7)). */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Returns the programs of a folder, each a {@link KeyHook} by its file name. Ignores files whose names are not valid in
 * profiles.
 *
 * A program is started without a shell, without arguments and with no environment except PATH. It reads one line,
 * `LEVEL SEED CONSTANT` in hexadecimal, without CONSTANT if the profile has none, and prints the key in hexadecimal.
 * An exit status other than 0 ends the command.
 *
 * Faults of the folder or of one program are returned, and the other programs remain usable: `input.unreadable`, and
 * `configuration.wrong` for a program that cannot be started, that others than its owner may change, or that has the
 * name of one of {@link simpleKeys}: those mean the same in every profile.
 */
export function keyPrograms(folder: string): { hooks: ReadonlyMap<string, KeyHook>; problems: readonly VigieError[] } {
  const hooks = new Map<string, KeyHook>();
  const problems: VigieError[] = [];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      problems.push(error);
    }
  };
  attempt(() => {
    for (const name of namesIn(folder)) {
      const file = resolve(join(folder, name));
      attempt(() => {
        if (!isProgram(file)) return;
        if (simpleKeys.has(name)) throw taken(name, file);
        hooks.set(name, hookOf(file));
      });
    }
  });
  return { hooks, problems };
}

function hookOf(file: string): KeyHook {
  return ({ seed, constant, level, signal }) =>
    run(file, `${hexByte(level)} ${hexOf(seed)} ${hexOf(constant)}`.trim(), signal);
}

function namesIn(folder: string): string[] {
  guard(folder);
  try {
    return readdirSync(folder).filter((entry) => NAME.test(entry));
  } catch (cause) {
    throw new VigieError('input.unreadable', (cause as Error).message, { where: folder, cause });
  }
}

function taken(name: string, file: string): VigieError {
  const own = [...simpleKeys.keys()].join(', ');
  const message = `is never started: ${name} is computed by the agent itself, as are ${own}`;
  return new VigieError('configuration.wrong', `${message}; rename it, and write its new name into the profile`, {
    where: file,
  });
}

function isProgram(file: string): boolean {
  if (!guard(file).isFile()) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (cause) {
    throw new VigieError('configuration.wrong', 'computes keys and cannot be started: make it executable', {
      where: file,
      cause,
    });
  }
}

/** Throws if other users may replace the file. */
function guard(path: string): Stats {
  let found: Stats;
  try {
    found = statSync(path);
  } catch (cause) {
    throw new VigieError('input.unreadable', (cause as Error).message, { where: path, cause });
  }
  if ((found.mode & WRITABLE_BY_OTHERS) === 0) return found;
  throw new VigieError(
    'configuration.wrong',
    'users other than the owner can write to a program that computes keys, or to its folder: run chmod go-w',
    {
      where: path,
    },
  );
}

async function run(file: string, line: string, signal: AbortSignal): Promise<Uint8Array> {
  // Imported on demand: few profiles need such keys, and the module adds 10 ms to every start.
  const { execFile } = await import('node:child_process');
  const options = {
    signal,
    killSignal: 'SIGKILL',
    maxBuffer: LONGEST_OUTPUT,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
  } as const;
  return new Promise((done, fail) => {
    const child = execFile(file, [], options, (error, printed) => {
      // The output may be part of a key, so it is not logged.
      if (error !== null) fail(new VigieError('command.actuation', said(error), { where: file }));
      else {
        const key = bytesOf(printed.trim());
        if (key !== undefined && key.length > 0) done(key);
        else fail(new VigieError('command.actuation', 'its output is not a key in hexadecimal', { where: file }));
      }
    });
    // If a program ends without reading its input, only its exit status counts.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(`${line}\n`);
  });
}

/** Describes the failure of a program, without its output. */
function said(error: Error & { code?: string | number | null; signal?: string | null }): string {
  if (error.name === 'AbortError') return 'it was ended before it gave a key';
  if (typeof error.code === 'number') return `it ended with status ${error.code}`;
  return `it gave no key: ${error.signal ?? error.code ?? error.name}`;
}
