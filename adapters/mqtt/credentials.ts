/** Certificates, keys and certificate authorities for TLS, renewed while the agent runs. */

import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Log } from '../../agent/ports.ts';
import { DAY } from '../../protocol/calendar.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { asBuffer } from './bytes.ts';

/** Certificates as PEM bytes. If `ca` is omitted, the system's certificate authorities are trusted. */
export interface TlsFiles {
  readonly ca?: Uint8Array;
  /** The client's certificate. A broker may take the vehicle's identity from its CN. */
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
  /**
   * Revocation lists (RFC 5280 clause 5) of all authorities between `ca` and the broker's certificate. If present, a
   * broker with a revoked certificate is rejected, and every broker is rejected if a list is past its next update.
   */
  readonly crl?: Uint8Array;
  /** Paths of the files, for error messages. */
  readonly paths?: Readonly<Partial<Record<Part, string>>>;
}

const parts = ['ca', 'cert', 'key', 'crl'] as const;
type Part = (typeof parts)[number];

/** The files, or a function that reads them for each connection; it may throw a VigieError that names the file. */
export type TlsSource = TlsFiles | (() => TlsFiles);

/** Time in ms before the expiry of the vehicle's certificate at which warnings start. */
const NOTICE = 30 * DAY;

/** Reads the source for each connection. If the source is unusable, the previous credentials, if any, stay in use. */
export class BrokerCredentials {
  readonly #source: TlsSource;
  readonly #log: Log;
  #files: TlsFiles = {};
  #context: SecureContext | undefined;
  #expires: number | undefined;
  /** Reason why the source is unusable; set once it has been logged. */
  #fault: string | undefined;

  /** Throws `configuration.wrong` for unusable files, unless a function reads them again for each connection. */
  constructor(source: TlsSource, log: Log) {
    this.#source = source;
    this.#log = log;
    if (typeof source !== 'function') this.#take(source);
  }

  /** Expiry of the client's certificate in UTC ms; undefined if there is none. */
  get expires(): number | undefined {
    return this.#expires;
  }

  /** Returns the next connection's TLS context. Without usable files, throws as they do or `configuration.wrong`. */
  context(): SecureContext {
    const before = this.#context;
    if (typeof this.#source !== 'function' && before !== undefined) return before;
    try {
      const files = typeof this.#source === 'function' ? this.#source() : this.#source;
      const context = before === undefined || !same(files, this.#files) ? this.#take(files) : before;
      if (context !== before && before !== undefined) {
        this.#log.info('link.certificates.renewed', this.#dates());
      }
      this.#fault = undefined;
      return context;
    } catch (error) {
      if (before === undefined) throw error;
      // Certificate and key are two files. While they are being replaced they do not match, and the previous pair
      // remains in use.
      const fault = reasonOf(error);
      if (fault !== this.#fault) this.#log.warn('link.certificates.kept', { reason: fault });
      this.#fault = fault;
      return before;
    }
  }

  #take(files: TlsFiles): SecureContext {
    const context = secureContext(files);
    this.#context = context;
    this.#files = files;
    this.#noteExpiry();
    return context;
  }

  #noteExpiry(): void {
    const { cert } = this.#files;
    this.#expires = cert === undefined ? undefined : Date.parse(new X509Certificate(cert).validTo);
    if (this.#expires !== undefined && this.#expires - Date.now() < NOTICE) {
      this.#log.warn('link.certificate', { ...this.#dates(), todo: 'renew it; the files are read at each connection' });
    }
  }

  #dates(): { readonly expires?: string } {
    return this.#expires === undefined ? {} : { expires: new Date(this.#expires).toISOString() };
  }
}

function same(one: TlsFiles, other: TlsFiles): boolean {
  return parts.every((name) => {
    const [a, b] = [one[name], other[name]];
    return a === undefined || b === undefined ? a === b : asBuffer(a).equals(b);
  });
}

function secureContext(tls: TlsFiles): SecureContext {
  for (const part of parts) usable(part, tls);
  return context(tls, `${named('key', tls)} does not belong to ${named('cert', tls)}`);
}

/** @throws VigieError `configuration.wrong` naming the file, if its content is not of the expected kind */
function usable(part: Part, tls: TlsFiles): void {
  const file = tls[part];
  if (file === undefined) return;
  const fault = `${named(part, tls)} is damaged, or is not PEM`;
  context({ [part]: file }, fault);
  if (part !== 'ca') return;
  try {
    // node:tls accepts unreadable authorities without an error, and then trusts none.
    new X509Certificate(file);
  } catch (cause) {
    throw wrong(fault, cause);
  }
}

function context({ ca, cert, key, crl }: TlsFiles, fault: string): SecureContext {
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca: asBuffer(ca) }),
      ...(cert === undefined ? {} : { cert: asBuffer(cert) }),
      ...(key === undefined ? {} : { key: asBuffer(key) }),
      ...(crl === undefined ? {} : { crl: asBuffer(crl) }),
    });
  } catch (cause) {
    throw wrong(fault, cause);
  }
}

function named(part: Part, { paths }: TlsFiles): string {
  const path = paths?.[part];
  return path === undefined ? part : `${part} (${path})`;
}

function wrong(fault: string, cause: unknown): VigieError {
  const text = reasonOf(cause);
  return new VigieError('configuration.wrong', `the certificates for the broker cannot be used: ${fault}: ${text}`, {
    cause,
  });
}
