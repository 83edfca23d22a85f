/**
 * The page of a bench in the local network: a token that is printed lets one browser in, which then shows a cookie (RFC
 * 6265). A browser that shows neither gets nothing, not even the page.
 */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../call.ts';
import { type Gate, sameText } from './credentials.ts';

/** Browsers that are let in at a time; the oldest is forgotten. */
const BROWSERS = 64;
const COOKIE = '__Host-vigie-bench';
/** Tells the page's script, which must not read the other cookie, that its requests need cookies. */
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

/** `in`: it shows the cookie. `out`: it shows nothing right. Else it goes to the page with these cookies. */
type LanAnswer = 'in' | 'out' | { readonly cookies: readonly string[] };

export class LanDoor {
  /** Behind the door everybody is admitted. */
  readonly gate: Gate = { challenge: 'Basic realm="vigie"', admit: (): Caller => ({ name: 'local' }) };
  readonly #renewed: (token: string) => void;
  readonly #browsers: string[] = [];
  #token = newSecret();

  /** @param renewed is given the next token when one was used */
  constructor(renewed: (token: string) => void) {
    this.#renewed = renewed;
  }

  /** Good for one browser. */
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
    // The printed address once more, in the browser that used it.
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
