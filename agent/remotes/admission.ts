import { type Command, openCommand } from '../../protocol/command.ts';
import { type ErrorCode, VigieError } from '../../protocol/errors.ts';
import type { Log, SignatureVerifier } from '../ports.ts';

/** A command that was signed by a key the car trusts. */
export interface Admitted {
  readonly command: Command;
  /** Key id, hexadecimal. */
  readonly key: string;
  /** Kinds that the key may give. */
  readonly rights: readonly string[];
}

/** The command, when it is authentic and for this car; else why not, with the code. */
export function admit(
  payload: Uint8Array,
  { vin, verifier }: { readonly vin: string; readonly verifier: SignatureVerifier },
): Admitted | { readonly code: ErrorCode; readonly detail: string } {
  const opened = attempt(() => openCommand(payload));
  if (opened instanceof VigieError) return { code: opened.code, detail: opened.message };
  const key = verifier.key(opened.keyId);
  if (
    key === undefined ||
    key.algorithm !== opened.algorithm ||
    !verifier.verify(opened.keyId, opened.toBeSigned, opened.signature)
  ) {
    const detail = `a command was not signed by a key this car trusts: ${hex(opened.keyId)}`;
    return { code: 'command.unsigned', detail };
  }
  if (opened.command.vin !== vin) {
    return { code: 'command.unsigned', detail: `a command is for another car: ${opened.command.vin}` };
  }
  return { command: opened.command, key: hex(opened.keyId), rights: key.kinds };
}

/** Says that a message was not answered: an answer would let anybody speak about a command that was not theirs. */
export function logUnanswered(log: Log, { code, detail }: { readonly code: ErrorCode; readonly detail: string }): void {
  log.warn('a command was refused without an answer', { code, detail });
}

/** What `run` gives, or the VigieError that it throws. */
export function attempt<T>(run: () => T): T | VigieError {
  try {
    return run();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
