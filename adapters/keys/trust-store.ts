import { verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock, SignatureVerifier } from '../../agent/ports.ts';
import { unreadable } from './files.ts';
import { algorithms, parseTrust, type TrustedKey } from './trust-file.ts';

/** The keys of a trust file. A key outside its validity is as good as unknown. */
export class TrustStore implements SignatureVerifier {
  readonly #keys: ReadonlyMap<string, TrustedKey>;
  readonly #clock: Pick<Clock, 'now'>;

  private constructor(keys: readonly TrustedKey[], clock: Pick<Clock, 'now'>) {
    this.#keys = new Map(keys.map((key) => [key.kid, key]));
    this.#clock = clock;
  }

  /** Reads the trust file once. Throws `input.unreadable` or `configuration.wrong`, with the path and what to do. */
  static open(path: string, clock: Pick<Clock, 'now'>): TrustStore {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw unreadable(path, error, 'copy the trust.json that lies beside the signing keys, or make keys (vigie keys)');
    }
    return new TrustStore(parseTrust(text, path), clock);
  }

  key(id: Uint8Array): { readonly algorithm: number; readonly kinds: readonly string[] } | undefined {
    const key = this.#valid(id);
    return key && { algorithm: algorithms[key.algorithm], kinds: key.kinds };
  }

  /** Whether `signature` is that of the key over `message`; false also for an unknown key and for no signature at all. */
  verify(id: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    const key = this.#valid(id);
    // Both algorithms have signatures of 64 bytes (RFC 9053 section 2); others would make node:crypto throw.
    if (key === undefined || signature.length !== 64) return false;
    return key.algorithm === 'ES256'
      ? verify('sha256', message, { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature)
      : verify(null, message, key.publicKey, signature);
  }

  #valid(id: Uint8Array): TrustedKey | undefined {
    const key = this.#keys.get(Buffer.from(id).toString('hex'));
    if (key === undefined) return undefined;
    const { notBefore = -Infinity, notAfter = Infinity } = key;
    const now = this.#clock.now();
    return now >= notBefore && now <= notAfter ? key : undefined;
  }
}
