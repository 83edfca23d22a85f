import { createHmac } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import { defined } from '../../protocol/defined.ts';
import type { Addresses } from './addresses.ts';
import type { NotificationChannel, WebhookRequest } from './channel.ts';
import { connectorTo } from './dial.ts';
import { failure } from './failures.ts';

/** Interface 3.18.0 and 4.16.0: time without an answer after which a delivery has failed, ms. */
export const TIMEOUT = 10_000;
/** Time for which an idle connection stays open for the next notification, ms. */
const KEPT = 30_000;
/** Bytes of an answer that are read so that the connection can be reused; a longer answer closes it. */
const ANSWER = 16_384;

export interface HttpOptions {
  readonly addresses: Addresses;
  /** Authorities (PEM) of receivers' certificates; if omitted, those of Node. */
  readonly ca?: string;
  /** See {@link TIMEOUT}, ms. */
  readonly timeout?: number;
  /** Returns UTC ms. */
  readonly now: () => number;
}

/** Posts notifications. Does not follow redirects: they could lead to an address that is not permitted. */
export class WebhookChannel implements NotificationChannel<WebhookRequest> {
  readonly #options: HttpOptions;
  readonly #agent: Agent;

  constructor(options: HttpOptions) {
    const { addresses, ca, timeout = TIMEOUT } = options;
    this.#options = options;
    this.#agent = new Agent({
      connect: connectorTo(addresses, { timeout, ...defined({ ca }) }),
      maxHeaderSize: ANSWER,
      // Ignore longer offers of a receiver: while a connection is open, timers wake the process.
      keepAliveMaxTimeout: KEPT,
    });
  }

  check(url: string, where: string): void {
    this.#options.addresses.check(url, where);
  }

  async deliver({ url, headers, ids, body, secret }: WebhookRequest): Promise<Receipt> {
    const { addresses, timeout = TIMEOUT, now } = this.#options;
    const signal = AbortSignal.timeout(timeout);
    try {
      addresses.check(url, 'target');
      const signature = secret === undefined ? {} : { 'vigie-signature': sign(secret, now(), body) };
      const { statusCode } = await post(this.#agent, url, {
        signal,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Vigie',
          ...headers,
          'vigie-event-id': ids.join(', '),
          ...signature,
        },
        body,
      });
      if (statusCode >= 200 && statusCode < 300) return { outcome: 'delivered' };
      return { outcome: 'failed', reason: `the receiver answered ${statusCode}` };
    } catch (error) {
      if (signal.aborted) return { outcome: 'failed', reason: `no answer within ${timeout} ms` };
      return failure(error);
    }
  }

  /** Ends open requests. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Posts to a URL. The result depends on status and headers only, not on the body of the answer. */
export async function post(
  agent: Agent,
  url: string,
  request: Pick<Dispatcher.RequestOptions, 'body' | 'headers'> & { readonly signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  const answer = await agent.request({ origin, path: `${pathname}${search}`, method: 'POST', ...request });
  answer.body.dump({ limit: ANSWER }).catch(() => undefined);
  return answer;
}

/**
 * Returns `t=SECONDS,v1=HEX`: HMAC-SHA256 (RFC 2104) with the secret of the callback over the time (UTC seconds), a
 * full stop, and the raw body. The time lets a receiver refuse replayed requests.
 */
export function sign(secret: string, now: number, body: string): string {
  const time = Math.floor(now / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
