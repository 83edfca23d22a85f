import { type Command, type OpenedCommand, openCommand } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Log, SignatureVerifier } from '../ports.ts';
import type { Refusal } from './plan.ts';

/** A command that was signed by a key the car trusts. */
export interface Admitted {
  readonly command: Command;
  /** Key id, hexadecimal. */
  readonly key: string;
  /** Kinds that the key may give. */
  readonly rights: readonly string[];
}

interface Known {
  readonly vin: string;
  readonly verifier: SignatureVerifier;
}

/**
 * Takes a message apart. Gives the command when it says that it is for this car and signed by a key the car trusts, which
 * {@link admit} verifies; else why it cannot be one, with the code.
 */
export function open(payload: Uint8Array, { vin, verifier }: Known): OpenedCommand | Refusal {
  const opened = attempt(() => openCommand(payload));
  if (opened instanceof VigieError) return { code: opened.code, detail: opened.message };
  if (verifier.key(opened.keyId)?.algorithm !== opened.algorithm) return unsigned(opened, verifier);
  if (opened.command.vin === vin) return opened;
  return { code: 'command.unsigned', detail: `a command is for another car: ${opened.command.vin}` };
}

/** The command, when it is authentic; else why not, with the code. */
export function admit(opened: OpenedCommand, verifier: SignatureVerifier): Admitted | Refusal {
  const { command, keyId, algorithm, toBeSigned, signature } = opened;
  const key = verifier.key(keyId);
  if (key?.algorithm !== algorithm || !verifier.verify(keyId, toBeSigned, signature)) return unsigned(opened, verifier);
  return { command, key: hex(keyId), rights: key.kinds };
}

function unsigned({ keyId }: OpenedCommand, verifier: SignatureVerifier): Refusal {
  const why = verifier.key(keyId) === undefined ? verifier.why?.(keyId) : 'the signature is wrong';
  const detail = `a command was not signed by a key this car trusts: ${hex(keyId)}`;
  return { code: 'command.unsigned', detail: why === undefined ? detail : `${detail}: ${why}` };
}

/** Says that a message was not answered: an answer would let anybody speak about a command that was not theirs. */
export function logUnanswered(log: Log, { code, detail }: Refusal): void {
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
