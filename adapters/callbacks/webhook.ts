import { createHmac } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import { defined } from '../../protocol/defined.ts';
import type { Addresses } from './addresses.ts';
import type { NotificationChannel, WebhookRequest } from './channel.ts';
import { connectorTo } from './dial.ts';
import { failure } from './failures.ts';

/** Time in ms without a response after which a delivery has failed (interface 3.18.0 and 4.16.0). */
export const TIMEOUT = 10_000;
/** Time in ms for which an idle connection stays open for the next notification. */
const KEPT = 30_000;
/** Number of bytes of a response that are read to reuse the connection; a longer response closes it. */
const ANSWER = 16_384;

export interface HttpOptions {
  readonly addresses: Addresses;
  /** Certificate authorities (PEM) of receivers. If omitted, Node's are used. */
  readonly ca?: string;
  /** See {@link TIMEOUT}. */
  readonly timeout?: number;
  /** Returns the time in UTC ms. */
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
      // Ignore receivers that offer longer times: while a connection is open, timers wake the process.
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

  /** Aborts open requests. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Posts to a URL. The result depends only on status and headers, not on the response body. */
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
 * Returns `t=SECONDS,v1=HEX`: an HMAC-SHA256 (RFC 2104), keyed with the callback's secret, over the time (UTC seconds),
 * a full stop, and the raw body. The time lets receivers reject replayed requests.
 */
export function sign(secret: string, now: number, body: string): string {
  const time = Math.floor(now / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
