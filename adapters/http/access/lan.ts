/**
 * Access to the bench's page from the local network: a printed token admits one browser, which then sends a cookie (RFC
 * 6265). Without token or cookie, a browser gets nothing, not even the page.
 */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../call.ts';
import { type Gate, sameText } from './credentials.ts';

/** Maximum number of admitted browsers; beyond it the oldest is removed. */
const BROWSERS = 64;
const COOKIE = '__Host-vigie-bench';
/** Cookie that tells the page's script to send cookies with its requests. The script cannot read COOKIE (HttpOnly). */
const MARK = 'vigie-lan';
const ATTRIBUTES = 'Path=/; Secure; SameSite=Strict';

/** Credentials of a request. */
interface LanRequest {
  readonly method: string;
  readonly path: string;
  /** Token in the query of the request. */
  readonly token: string | undefined;
  readonly cookies: string | undefined;
}

/** `in`: valid cookie. `out`: no valid cookie or token. Otherwise the browser is admitted with these cookies. */
type LanAnswer = 'in' | 'out' | { readonly cookies: readonly string[] };

export class LanDoor {
  /** Admits every request, since the door has already checked it. */
  readonly gate: Gate = { challenge: 'Basic realm="vigie"', admit: (): Caller => ({ name: 'local' }) };
  readonly #renewed: (token: string) => void;
  readonly #browsers: string[] = [];
  #token = newSecret();

  /** @param renewed receives the next token each time one was used */
  constructor(renewed: (token: string) => void) {
    this.#renewed = renewed;
  }

  /** The token that admits the next browser. */
  get token(): string {
    return this.#token;
  }

  open({ method, path, token, cookies = '' }: LanRequest): LanAnswer {
    const shown = cookies
      .split(/; */)
      .find((one) => one.startsWith(`${COOKIE}=`))
      ?.slice(COOKIE.length + 1);
    const known = shown !== undefined && this.#browsers.some((one) => sameText(one, shown));
    if (token === undefined) return known ? 'in' : 'out';
    // An admitted browser has opened the printed address again.
    if (known && path === '/') return { cookies: [] };
    if (method !== 'GET' || path !== '/' || !sameText(token, this.#token)) return 'out';
    const browser = newSecret();
    this.#browsers.push(browser);
    if (this.#browsers.length > BROWSERS) this.#browsers.shift();
    this.#token = newSecret();
    this.#renewed(this.#token);
    return { cookies: [`${COOKIE}=${browser}; ${ATTRIBUTES}; HttpOnly`, `${MARK}=1; ${ATTRIBUTES}`] };
  }
}

function newSecret(): string {
  return randomBytes(16).toString('base64url');
}
