/**
 * A command that is about the agent itself. `body` is the command's, `at` the present moment, UTC ms. Resolves when
 * what it changed is on disk; throws a VigieError that says why it was not done. May be called again for one command
 * after a power cut: what was done already is done with.
 */
export type Affair = (body: Uint8Array, at: number) => Promise<void>;
