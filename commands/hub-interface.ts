/** Client for the HTTP interface of a hub, for commands of the user. */
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { readSecret } from '../config/credentials.ts';
import { certificateFault } from '../protocol/certificate-faults.ts';
import { defined } from '../protocol/defined.ts';
import { type ErrorCode, VigieError } from '../protocol/errors.ts';
import { pemOf } from './broker.ts';

interface HubAddress {
  readonly url: string;
  readonly token?: string | undefined;
  /** Certificates (PEM) of the authorities that may sign the hub's certificate. If omitted, the system's. */
  readonly ca?: Uint8Array;
  /** Time in ms to wait for a response. */
  readonly timeout?: number;
}

/** Options of a command that reads a hub over HTTP. */
export interface HubAccess {
  readonly url: string;
  readonly tokenFile?: string | undefined;
  readonly ca?: string | undefined;
}

/** @throws VigieError for a file that cannot be read, and as the constructor of {@link HubInterface} */
export function hubInterfaceOf({ url, tokenFile, ca }: HubAccess, more: Partial<HubAddress> = {}): HubInterface {
  const token = tokenFile === undefined ? undefined : readSecret(tokenFile);
  return new HubInterface({ ...more, url, ...defined({ token, ca: ca === undefined ? undefined : pemOf(ca) }) });
}

/** Default longest time in ms to wait for a response of the hub. */
const ANSWER_TIMEOUT_MS = 10_000;

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'input.malformed',
  401: 'request.unauthenticated',
  403: 'request.forbidden',
  404: 'request.unknown',
  429: 'request.rate',
};

export class HubInterface {
  readonly #address: HubAddress;
  readonly #base: URL;

  /** @throws VigieError `usage.wrong` for a URL that is not HTTP(S) */
  constructor(address: HubAddress) {
    const base = URL.canParse(address.url) ? new URL(address.url) : undefined;
    if (base === undefined || !['http:', 'https:'].includes(base.protocol)) {
      throw new VigieError(
        'usage.wrong',
        `"${address.url}" is not the address of a hub, such as http://127.0.0.1:8080`,
      );
    }
    if (base.protocol === 'http:' && address.ca !== undefined) {
      throw new VigieError('usage.wrong', 'certificates are for TLS, and --hub has none: write https://');
    }
    this.#address = address;
    this.#base = base;
  }

  /** Resolves with the response. Rejects with the hub's error, or with `link.lost` if the hub does not respond. */
  ask<T>(path: string): Promise<T> {
    return this.#request<T>('GET', path);
  }

  /** Same as {@link ask}, with a body. Requests with the same `key` are executed once. */
  submit<T>(path: string, body: object, key: string): Promise<T> {
    return this.#request<T>('POST', path, { body: JSON.stringify(body), key });
  }

  async #request<T>(method: string, path: string, sent?: { body: string; key: string }): Promise<T> {
    const url = new URL(path, this.#base);
    const { token, ca, timeout = ANSWER_TIMEOUT_MS } = this.#address;
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': sent.key }),
    };
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    const certificates = ca === undefined ? {} : { ca: Buffer.from(ca) };
    let answer: { readonly status: number; readonly text: string };
    try {
      answer = await new Promise((resolve, reject) => {
        const asked = send(url, { method, headers, ...certificates, timeout }, (response) => {
          textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
        });
        asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeout / 1000} s`)));
        asked.on('error', reject);
        asked.end(sent?.body);
      });
    } catch (error) {
      const cause = error as NodeJS.ErrnoException;
      const fault = certificateFault(cause, { server: 'the hub', authority: '--ca' });
      const reason = fault ?? (cause.message || cause.code);
      throw new VigieError('link.lost', `the hub does not answer: ${reason}`, { where: this.#base.origin, cause });
    }
    if (answer.status < 300) return JSON.parse(answer.text) as T;
    throw this.#refusal(answer);
  }

  #refusal({ status, text }: { readonly status: number; readonly text: string }): VigieError {
    const code = codes[status] ?? 'link.refused';
    const hint = status === 401 ? ' (--token-file names a file with a token, which `vigie hub token` prints)' : '';
    return new VigieError(code, `the hub refuses: ${messageIn(text) ?? `HTTP ${status}`}${hint}`, {
      where: this.#base.origin,
    });
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

/** Returns the message of an error response of the interface. */
function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
