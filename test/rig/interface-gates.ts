/** Access to an interface as configured in a car: one fleet user and one user with a token. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CryptoKey, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { HttpConfiguration } from '../../config/http.ts';
import { scopes } from '../../protocol/interface/operations/scopes.ts';
import { hashCheaply } from './cheap-password.ts';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'vigie';
export const PASSWORD = 'a long password';

/** Credentials in a request. */
export interface Credentials {
  /** Appended to the query. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

export class Gates {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-gates-'));
  readonly #privateKey: CryptoKey;
  readonly http: HttpConfiguration;

  private constructor(hash: string, publicKey: string, privateKey: CryptoKey) {
    this.#privateKey = privateKey;
    const passwordFile = join(this.#folder, 'password');
    const key = join(this.#folder, 'issuer.pem');
    writeFileSync(passwordFile, hash, { mode: 0o600 });
    writeFileSync(key, publicKey);
    this.http = {
      host: '127.0.0.1',
      port: 0,
      fleet: [{ name: 'operator', passwordFile, clientId: 'app-1', fleets: ['f1'] }],
      user: { issuer: ISSUER, audience: AUDIENCE, keys: [key] },
      vehicle: {},
      perDay: 1_000_000,
      perSecond: 100_000,
      maxBodyBytes: 2 ** 20,
    };
  }

  static async make(): Promise<Gates> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    return new Gates(await hashCheaply(PASSWORD), await exportSPKI(publicKey), privateKey);
  }

  get fleet(): Credentials {
    const basic = Buffer.from(`operator:${PASSWORD}`).toString('base64');
    return { query: { client_id: 'app-1' }, headers: { authorization: `Basic ${basic}` } };
  }

  /** A token with these scopes. Default: all scopes. */
  async user(
    granted: readonly string[] = Object.keys(scopes),
    expires = new Date('2040-01-01T00:00:00Z'),
  ): Promise<Credentials> {
    const token = await new SignJWT({ scope: granted.join(' ') })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject('anna')
      .setExpirationTime(expires)
      .sign(this.#privateKey);
    return { query: {}, headers: { authorization: `Bearer ${token}` } };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
