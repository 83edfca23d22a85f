/**
 * Runs a command line in this process and captures its output and exit status, because the start of a process takes
 * most of the time of a short command. `VigieProcess` and the pages' commands (test/docs/commands.test.ts) start the
 * real program.
 */
import { run } from '../../commands/vigie.ts';

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands that release all resources before they end. Only these may run here. */
const WITHIN = new Set([
  'decode',
  'inspect',
  'check',
  'keys',
  'status',
  'send',
  'scan',
  'replay',
  'enroll',
  'export',
  '--help',
]);

export function runsWithin(args: readonly string[]): boolean {
  // `vigie hub` is a server. With a word after it, it changes the registry and ends.
  return WITHIN.has(args[0] ?? '') || (args[0] === 'hub' && /^[a-z]/.test(args[1] ?? ''));
}

/** Thrown by `process.exit` while a command runs here. */
class ProcessEnd extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the process would end with status ${status}`);
    this.status = status;
  }
}

let last: Promise<unknown> = Promise.resolve();

/** Runs one command line. Output, status and arguments belong to the whole process, so command lines run in turn. */
export function runWithin(args: readonly string[]): Promise<Ended> {
  const ended = last.then(() => captured(args));
  last = ended.catch(() => undefined);
  return ended;
}

async function captured(args: readonly string[]): Promise<Ended> {
  const { argv, exit, exitCode, stdout, stderr } = process;
  const kept = listeners().map(([emitter, event]) => [emitter, event, emitter.rawListeners(event)] as const);
  const writes = [stdout.write, stderr.write] as const;
  const [output, errors] = [[] as string[], [] as string[]];
  stdout.write = into(output);
  stderr.write = into(errors);
  process.argv = [process.execPath, 'vigie', ...args];
  process.exitCode = undefined;
  process.exit = (status) => {
    throw new ProcessEnd(Number(status ?? process.exitCode ?? 0));
  };
  try {
    const status = await run(process.argv).then(
      () => Number(process.exitCode ?? 0),
      (error: unknown) => {
        if (error instanceof ProcessEnd) return error.status;
        throw error;
      },
    );
    return { status, stdout: output.join(''), stderr: errors.join('') };
  } finally {
    [stdout.write, stderr.write] = writes;
    Object.assign(process, { argv, exit, exitCode });
    for (const [emitter, event, before] of kept) {
      for (const listener of emitter.rawListeners(event)) {
        if (!before.includes(listener)) emitter.off(event, listener as () => void);
      }
    }
  }
}

/** Events that a command subscribes to until its process ends. */
function listeners(): readonly (readonly [emitter: NodeJS.EventEmitter, event: string])[] {
  return [
    [process.stdout, 'error'],
    [process.stderr, 'error'],
    [process, 'SIGINT'],
    [process, 'SIGTERM'],
  ];
}

function into(pieces: string[]): typeof process.stdout.write {
  return (piece: string | Uint8Array, ...more: unknown[]): boolean => {
    pieces.push(typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8'));
    const done = more.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
}
