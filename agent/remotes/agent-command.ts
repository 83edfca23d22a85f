import { type ErrorCode, VigieError } from '../../protocol/errors.ts';

/**
 * A command that is about the agent itself. `body` is the command's, `at` the present moment, UTC ms. Resolves when
 * what it changed is on disk; throws a VigieError that says why it was not done. May be called again for one command
 * after a power cut: what was done already is done with.
 */
export type AgentCommand = (body: Uint8Array, at: number) => Promise<void>;

/** Faults of the command's content: sending it again without a change fails again. */
const brought: readonly ErrorCode[] = ['input.malformed', 'input.unknown', 'configuration.wrong'];

/** The code that a command fails with whose command threw `error`. */
export function failureOf(error: unknown): ErrorCode {
  if (!(error instanceof VigieError)) return 'internal';
  return brought.includes(error.code) ? 'command.malformed' : error.code;
}
