/** Certificates of a throw-away authority, made by openssl. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

export class Authority {
  readonly #folder: string;
  readonly #name: string;

  /** Makes the authority's own certificate in `folder`. */
  constructor(folder: string, name = 'ca') {
    this.#folder = folder;
    this.#name = name;
    openssl('req', '-x509', ...newKey(this.#path('key')), '-out', this.certFile, '-days', '2', '-subj', `/CN=${name}`);
  }

  get certFile(): string {
    return this.#path('pem');
  }

  get cert(): Uint8Array {
    return readFileSync(this.certFile);
  }

  /** A certificate with this CN, valid for 127.0.0.1 when it is a server's. */
  issue(commonName: string): Certificate {
    const base = join(this.#folder, `${this.#name}-${commonName}`);
    const [certFile, keyFile, request, extensions] = [`${base}.pem`, `${base}.key`, `${base}.csr`, `${base}.ext`];
    writeFileSync(extensions, 'subjectAltName=IP:127.0.0.1\n');
    openssl('req', ...newKey(keyFile), '-out', request, '-subj', `/CN=${commonName}`);
    const signer = ['-CA', this.certFile, '-CAkey', this.#path('key'), '-CAcreateserial'];
    openssl('x509', '-req', '-in', request, ...signer, '-out', certFile, '-days', '2', '-extfile', extensions);
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }

  #path(extension: string): string {
    return join(this.#folder, `${this.#name}.${extension}`);
  }
}

function newKey(file: string): readonly string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file];
}

function openssl(...parameters: readonly string[]): void {
  execFileSync('openssl', parameters, { stdio: ['ignore', 'ignore', 'pipe'] });
}
