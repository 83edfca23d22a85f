import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeSigned } from '../../protocol/cose.ts';
import { VigieError } from '../../protocol/errors.ts';
import { Counter } from './counter.ts';
import { checkName } from './directory.ts';
import { readText } from './files.ts';
import { algorithmOf, algorithms, type KeyAlgorithm, keyIdOf } from './trust-file.ts';

/** Signs commands with one of the keys in a directory. */
export class CommandSigner {
  readonly keyId: Uint8Array;
  readonly #key: SealingKey;
  readonly #counter: Counter;

  private constructor(key: SealingKey, counter: Counter) {
    this.keyId = keyIdOf(key.publicKey);
    this.#key = key;
    this.#counter = counter;
  }

  /**
   * Reads the private key `name`. Throws `input.unreadable` if it does not exist, `input.malformed` if it cannot sign
   * commands, and `configuration.wrong` if other users can read it, each with the path and a remedy.
   */
  static async open(directory: string, name: string, now: () => number = Date.now): Promise<CommandSigner> {
    checkName(name);
    const path = join(directory, `${name}.pem`);
    const text = await readText(path, `make it with \`vigie keys make ${name}\` or name another directory`);
    if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) {
      throw new VigieError('configuration.wrong', 'others can read or write this private key; `chmod 600` it', {
        where: path,
      });
    }
    return new CommandSigner(sealingKey(text, path), new Counter(directory, name, now));
  }

  /**
   * Returns the signed command (COSE_Sign1). `payload` must build the command with the counter that it receives. That
   * counter is already on disk and is never reused, even if the command is not sent. Rejects with `store.failed` if the
   * counter cannot be stored, and with the errors of `payload`.
   */
  async sign(payload: (counter: number) => Uint8Array): Promise<Uint8Array> {
    return this.seal(payload(await this.#counter.next()));
  }

  /** Returns the signed command (COSE_Sign1) for a payload that contains a counter managed by the caller. */
  seal(payload: Uint8Array): Uint8Array {
    return this.#key.seal(payload);
  }
}

/** A private key that signs payloads whose counter the caller manages. */
export interface SealingKey {
  readonly algorithm: KeyAlgorithm;
  readonly publicKey: KeyObject;
  /** Returns the signed command (COSE_Sign1). */
  seal(payload: Uint8Array): Uint8Array;
}

/** Reads a private key in PEM. @throws VigieError `input.malformed` naming `where` if it cannot sign commands */
export function sealingKey(pem: string, where: string): SealingKey {
  const privateKey = parse(pem, where);
  const algorithm = algorithmOf(privateKey);
  if (algorithm === undefined) {
    throw new VigieError('input.malformed', 'must be a key of P-256 or Ed25519; make a new one', { where });
  }
  const publicKey = createPublicKey(privateKey);
  const header = { algorithm: algorithms[algorithm], keyId: keyIdOf(publicKey) };
  return {
    algorithm,
    publicKey,
    seal: (payload) =>
      encodeSigned(payload, header, (toBeSigned) =>
        algorithm === 'ES256'
          ? sign('sha256', toBeSigned, { key: privateKey, dsaEncoding: 'ieee-p1363' })
          : sign(null, toBeSigned, privateKey),
      ),
  };
}

function parse(text: string, path: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const what = `is not a private key in PEM: ${(cause as Error).message}; restore it or make a new one`;
    throw new VigieError('input.malformed', what, { where: path, cause });
  }
}
