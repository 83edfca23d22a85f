/**
 * The page of a bench in the local network: a printed token admits one browser, which then sends a cookie (RFC 6265). A
 * browser with neither gets nothing, not even the page.
 */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../call.ts';
import { type Gate, sameText } from './credentials.ts';

/** Largest number of admitted browsers; above it the oldest is removed. */
const BROWSERS = 64;
const COOKIE = '__Host-vigie-bench';
/** Cookie for the page's script: requests need cookies. The script must not read the other cookie. */
const MARK = 'vigie-lan';
const ATTRIBUTES = 'Path=/; Secure; SameSite=Strict';

/** Credentials of a request. */
interface LanRequest {
  readonly method: string;
  readonly path: string;
  /** Token in the query. */
  readonly token: string | undefined;
  readonly cookies: string | undefined;
}

/** `in`: valid cookie. `out`: no valid cookie or token. Otherwise the page is sent with these cookies. */
type LanAnswer = 'in' | 'out' | { readonly cookies: readonly string[] };

export class LanDoor {
  /** Admits every request, since the door has already checked it. */
  readonly gate: Gate = { challenge: 'Basic realm="vigie"', admit: (): Caller => ({ name: 'local' }) };
  readonly #renewed: (token: string) => void;
  readonly #browsers: string[] = [];
  #token = newSecret();

  /** @param renewed receives the next token after one was used */
  constructor(renewed: (token: string) => void) {
    this.#renewed = renewed;
  }

  /** Token for one browser. */
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
    // The browser that used the token opens the printed address again.
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
