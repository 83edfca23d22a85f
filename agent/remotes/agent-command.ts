import { type ErrorCode, VigieError } from '../../protocol/errors.ts';

/**
 * A command about the agent itself. `body` is that of the command, `at` the current time, UTC ms. Resolves when its
 * changes are on disk; throws a VigieError with the reason if it failed. After a power cut it can be called again for
 * the same command: previous changes remain.
 */
export type AgentCommand = (body: Uint8Array, at: number) => Promise<void>;

/** Errors in the command's content: the same content fails again. */
const brought: readonly ErrorCode[] = ['input.malformed', 'input.unknown', 'configuration.wrong'];

/** Returns the error code of a command that failed with `error`. */
export function failureOf(error: unknown): ErrorCode {
  if (!(error instanceof VigieError)) return 'internal';
  return brought.includes(error.code) ? 'command.malformed' : error.code;
}
