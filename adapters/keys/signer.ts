import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeSigned } from '../../protocol/cose.ts';
import { VigieError } from '../../protocol/errors.ts';
import { Counter } from './counter.ts';
import { checkName } from './directory.ts';
import { readText } from './files.ts';
import { algorithmOf, algorithms, type KeyAlgorithm, keyIdOf } from './trust-file.ts';

/** Signs commands with one key of a directory. */
export class CommandSigner {
  readonly keyId: Uint8Array;
  readonly #privateKey: KeyObject;
  readonly #algorithm: KeyAlgorithm;
  readonly #counter: Counter;

  private constructor(privateKey: KeyObject, algorithm: KeyAlgorithm, counter: Counter) {
    this.keyId = keyIdOf(createPublicKey(privateKey));
    this.#privateKey = privateKey;
    this.#algorithm = algorithm;
    this.#counter = counter;
  }

  /**
   * Reads the private key `name`. Throws `input.unreadable` if it does not exist, `input.malformed` if it is not a
   * key for signing commands, `configuration.wrong` if other users can read it, each with the path and the remedy.
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
    const privateKey = parse(text, path);
    const algorithm = algorithmOf(privateKey);
    if (algorithm === undefined) {
      throw new VigieError('input.malformed', 'must be a key of P-256 or Ed25519; make a new one', { where: path });
    }
    return new CommandSigner(privateKey, algorithm, new Counter(directory, name, now));
  }

  /**
   * Returns the signed command (COSE_Sign1). `payload` creates the command with the counter passed to it, which is then
   * on disk and never reused, even if the command is not sent. Rejects with `store.failed` if the counter cannot be
   * stored, and with the errors of `payload`.
   */
  async sign(payload: (counter: number) => Uint8Array): Promise<Uint8Array> {
    return this.seal(payload(await this.#counter.next()));
  }

  /** Returns the signed command (COSE_Sign1) of a payload whose counter the caller manages. */
  seal(payload: Uint8Array): Uint8Array {
    const header = { algorithm: algorithms[this.#algorithm], keyId: this.keyId };
    return encodeSigned(payload, header, (toBeSigned) =>
      this.#algorithm === 'ES256'
        ? sign('sha256', toBeSigned, { key: this.#privateKey, dsaEncoding: 'ieee-p1363' })
        : sign(null, toBeSigned, this.#privateKey),
    );
  }
}

function parse(text: string, path: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const what = `is not a private key in PEM: ${(cause as Error).message}; restore it or make a new one`;
    throw new VigieError('input.malformed', what, { where: path, cause });
  }
}
