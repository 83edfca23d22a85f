/** What is trusted and shown in TLS, renewed while the agent runs. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { asBuffer } from './bytes.ts';

/** Certificates as PEM bytes. Without `ca` the system's authorities are trusted. */
export interface TlsFiles {
  readonly ca?: Uint8Array;
  /** The client's certificate; a broker rule may take the vehicle's identity from its CN. */
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
  /**
   * Revocation lists (RFC 5280 clause 5) of every authority between `ca` and the broker's certificate. With them a
   * broker whose certificate was revoked is refused, and so is every broker once a list is past its next update.
   */
  readonly crl?: Uint8Array;
}

/** The files, or where to read them again at each connection; may throw as files do. */
export type TlsSource = TlsFiles | (() => TlsFiles);

/** Before the vehicle's certificate expires it is spoken of for so long, ms. */
const NOTICE = 30 * 86_400_000;

/** Reads the source at each connection; what cannot be used leaves what was used before. */
export class Credentials {
  readonly #source: TlsSource;
  readonly #log: Log;
  #files: TlsFiles;
  #context: SecureContext;
  #expires: number | undefined;
  /** Why the source cannot be used, once it was said. */
  #fault: string | undefined;

  /** Throws `configuration.wrong` when the files cannot be used, and what `source` throws. */
  constructor(source: TlsSource, log: Log) {
    this.#source = source;
    this.#log = log;
    this.#files = typeof source === 'function' ? source() : source;
    this.#context = secureContext(this.#files);
    this.#noteExpiry();
  }

  /** When our own certificate expires, UTC ms; undefined without one. */
  get expires(): number | undefined {
    return this.#expires;
  }

  /** For the next connection. */
  context(): SecureContext {
    if (typeof this.#source !== 'function') return this.#context;
    try {
      const files = this.#source();
      if (!same(files, this.#files)) {
        this.#context = secureContext(files);
        this.#files = files;
        this.#noteExpiry();
        this.#log.info('link.certificates', { renewed: true, ...this.#dates() });
      }
      this.#fault = undefined;
    } catch (error) {
      // Certificate and key are two files: between their replacement they do not fit, and the former still does.
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== this.#fault) this.#log.warn('link.certificates', { kept: 'those of before', reason: fault });
      this.#fault = fault;
    }
    return this.#context;
  }

  #noteExpiry(): void {
    const { cert } = this.#files;
    this.#expires = cert === undefined ? undefined : Date.parse(new X509Certificate(cert).validTo);
    if (this.#expires !== undefined && this.#expires - Date.now() < NOTICE) {
      this.#log.warn('link.certificate', { ...this.#dates(), todo: 'renew it; the files are read at each connection' });
    }
  }

  #dates(): Record<string, unknown> {
    return this.#expires === undefined ? {} : { expires: new Date(this.#expires).toISOString() };
  }
}

function same(one: TlsFiles, other: TlsFiles): boolean {
  const names = ['ca', 'cert', 'key', 'crl'] as const;
  return names.every((name) => {
    const [a, b] = [one[name], other[name]];
    return a === undefined || b === undefined ? a === b : asBuffer(a).equals(b);
  });
}

function secureContext(tls: TlsFiles): SecureContext {
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(tls.ca === undefined ? {} : { ca: asBuffer(tls.ca) }),
      ...(tls.cert === undefined ? {} : { cert: asBuffer(tls.cert) }),
      ...(tls.key === undefined ? {} : { key: asBuffer(tls.key) }),
      ...(tls.crl === undefined ? {} : { crl: asBuffer(tls.crl) }),
    });
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new VigieError(
      'configuration.wrong',
      `the certificates for the broker cannot be used: ${text} (ca, cert, key and crl must be PEM, and key belong to cert)`,
      { cause },
    );
  }
}
