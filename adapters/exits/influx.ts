/** Writes lines to InfluxDB over HTTP: version 1 (`/write`), or versions 2 and 3 (`/api/v2/write`). */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Agent } from 'undici';
import { defined } from '../../protocol/defined.ts';
import { reasonOf, shortened, VigieError } from '../../protocol/errors.ts';

/** Database of version 1, or bucket of versions 2 and 3. */
export type InfluxTarget =
  | { readonly database: string; readonly username?: string }
  | { readonly org: string; readonly bucket: string };

export interface InfluxOptions {
  readonly url: string;
  readonly target: InfluxTarget;
  /** Returns the password of version 1, or the token. Called for each request, so that a new one needs no restart. */
  readonly secret?: () => string;
  /** Certificate authorities (PEM). If omitted, Node's are used. */
  readonly ca?: () => Uint8Array;
}

/** Time in ms without a response after which a request has failed. */
const TIMEOUT_MS = 30_000;
/** Time in ms for which an idle connection stays open. */
const IDLE_MS = 30_000;
const MAX_ANSWER_BYTES = 16_384;
const MAX_REASON_LENGTH = 200;
const zipped = promisify(gzip);

export class InfluxClient {
  readonly #options: InfluxOptions;
  readonly #path: string;
  readonly #agent: Agent;

  constructor(options: InfluxOptions) {
    const { target, url, ca } = options;
    this.#options = options;
    const [path, query] =
      'database' in target
        ? ['/write', { db: target.database, precision: 'ns' }]
        : ['/api/v2/write', { org: target.org, bucket: target.bucket, precision: 'ns' }];
    this.#path = `${new URL(url).pathname.replace(/\/$/, '')}${path}?${new URLSearchParams(query)}`;
    this.#agent = new Agent({
      connect: { timeout: TIMEOUT_MS, ...defined({ ca: ca && Buffer.from(ca()) }) },
      maxHeaderSize: MAX_ANSWER_BYTES,
      keepAliveMaxTimeout: IDLE_MS,
    });
  }

  /**
   * Resolves when InfluxDB has written all lines. Rejects with `message.malformed` or `message.unbounded` if it refuses
   * them for good, with `link.refused` or `link.lost` if they should be sent again.
   */
  async write(lines: readonly string[], closing: AbortSignal): Promise<void> {
    if (lines.length === 0) return;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const { statusCode, body } = await this.#agent.request({
        origin: new URL(this.#options.url).origin,
        path: this.#path,
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8', 'content-encoding': 'gzip', ...this.#credentials() },
        body: await zipped(lines.join('\n')),
        signal: AbortSignal.any([timeout, closing]),
      });
      // Any other success comes from something else, for example the sign-in page of a network.
      if (statusCode === 204) {
        await body.dump({ limit: MAX_ANSWER_BYTES });
        return;
      }
      throw refusal(statusCode, await firstBytes(body));
    } catch (error) {
      if (error instanceof VigieError) throw error;
      const reason = timeout.aborted ? `no answer within ${TIMEOUT_MS} ms` : reasonOf(error);
      throw new VigieError('link.lost', `InfluxDB is away: ${reason}`, { cause: error });
    }
  }

  /** Resolves if InfluxDB takes lines. A comment writes nothing, but needs the database and the right to write. */
  async test(): Promise<void> {
    await this.write(['# test'], new AbortController().signal);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #credentials(): Readonly<Record<string, string>> {
    const { target, secret } = this.#options;
    if (!('database' in target)) return secret === undefined ? {} : { authorization: `Token ${secret()}` };
    if (target.username === undefined) return {};
    const login = Buffer.from(`${target.username}:${secret?.() ?? ''}`).toString('base64');
    return { authorization: `Basic ${login}` };
  }
}

async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, MAX_ANSWER_BYTES);
}

/** Only InfluxDB's own refusal of the content is final: its JSON has `error` (version 1) or `message`. */
function refusal(status: number, answer: string): VigieError {
  const said = errorIn(answer);
  const text = `InfluxDB answered ${status}${said === undefined ? '' : `: ${shortened(said, MAX_REASON_LENGTH)}`}`;
  if (status === 413) return new VigieError('message.unbounded', text);
  const isFinal = said !== undefined && (status === 400 || status === 422);
  return new VigieError(isFinal ? 'message.malformed' : 'link.refused', text);
}

function errorIn(answer: string): string | undefined {
  try {
    const { error, message } = JSON.parse(answer) as { readonly error?: unknown; readonly message?: unknown };
    return [message, error].find((one) => typeof one === 'string');
  } catch {
    return undefined;
  }
}
