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

  /**
   * A certificate with this CN, valid for 127.0.0.1 and `names` when it is a server's, and for `days` from now: 0 has
   * expired.
   */
  issue(commonName: string, days = 2, names: readonly string[] = []): Certificate {
    const base = join(this.#folder, `${this.#name}-${commonName}`);
    const [certFile, keyFile, request, extensions] = [`${base}.pem`, `${base}.key`, `${base}.csr`, `${base}.ext`];
    const subjects = ['IP:127.0.0.1', ...names.map((name) => `DNS:${name}`)];
    writeFileSync(extensions, `subjectAltName=${subjects.join(',')}\n`);
    openssl('req', ...newKey(keyFile), '-out', request, '-subj', `/CN=${commonName}`);
    const signer = ['-CA', this.certFile, '-CAkey', this.#path('key'), '-CAcreateserial'];
    openssl('x509', '-req', '-in', request, ...signer, '-out', certFile, '-days', String(days), '-extfile', extensions);
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }

  /** A revocation list of this authority, for a day, that names these certificates. */
  revoke(...certificates: readonly Certificate[]): Uint8Array {
    const [index, settings, list] = ['index', 'crl.conf', 'crl'].map((extension) => this.#path(extension)) as [
      string,
      string,
      string,
    ];
    // The columns of openssl-ca(1): revoked, expires, since when, serial number, file, name.
    const lines = certificates.map(({ certFile }) => {
      const serial = openssl('x509', '-in', certFile, '-noout', '-serial').trim().replace('serial=', '');
      return `R\t491231235959Z\t240101000000Z\t${serial}\tunknown\t/CN=revoked\n`;
    });
    writeFileSync(index, lines.join(''));
    writeFileSync(settings, `[ca]\ndefault_ca = own\n[own]\ndatabase = ${index}\ndefault_md = sha256\n`);
    const signer = ['-cert', this.certFile, '-keyfile', this.#path('key')];
    openssl('ca', '-gencrl', '-config', settings, ...signer, '-crldays', '1', '-out', list);
    return readFileSync(list);
  }

  #path(extension: string): string {
    return join(this.#folder, `${this.#name}.${extension}`);
  }
}

function newKey(file: string): readonly string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file];
}

function openssl(...parameters: readonly string[]): string {
  return execFileSync('openssl', parameters, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
}
