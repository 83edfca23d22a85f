import { ECDH } from 'node:crypto';
import { Agent } from 'undici';
import webPush from 'web-push';
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import { defined } from '../../protocol/defined.ts';
import type { NotificationChannel, PushRequest } from './channel.ts';
import { connectorTo } from './dial.ts';
import { failure } from './failures.ts';
import type { VapidKeys } from './vapid.ts';
import { type HttpOptions, post, TIMEOUT } from './webhook.ts';

interface PushOptions extends HttpOptions {
  readonly vapid: VapidKeys;
}

/** Sends push messages (RFC 8030), encrypted according to RFC 8291; the sender identifies itself by RFC 8292. */
export class PushChannel implements NotificationChannel<PushRequest> {
  readonly #options: PushOptions;
  readonly #agent: Agent;

  /** @param options `vapid` must be keys that `checkPair` has accepted */
  constructor(options: PushOptions) {
    const { addresses, ca, timeout = TIMEOUT } = options;
    this.#options = options;
    this.#agent = new Agent({
      // Push services use HTTP/2 (RFC 8030 §3); others accept HTTP/1.1.
      allowH2: true,
      connect: connectorTo(addresses, { timeout, allowH2: true, ...defined({ ca }) }),
    });
  }

  check(url: string, where: string): void {
    this.#options.addresses.check(url, where);
  }

  async deliver(message: PushRequest): Promise<Receipt> {
    const { addresses, timeout = TIMEOUT } = this.#options;
    const signal = AbortSignal.timeout(timeout);
    try {
      addresses.check(message.device.endpoint, 'endpoint');
      if (!isOnCurve(message.device.keys.p256dh)) {
        return { outcome: 'gone', reason: 'nothing can be encrypted for the key of the device' };
      }
      const encrypted = this.#encrypt(message);
      const answer = await post(this.#agent, message.device.endpoint, { signal, ...encrypted });
      return outcomeOf(answer.statusCode, answer.headers['retry-after']);
    } catch (error) {
      if (signal.aborted) return { outcome: 'failed', reason: `no answer within ${timeout} ms` };
      return failure(error);
    }
  }

  /** Ends open requests. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #encrypt({ device, payload, urgency, ttl }: PushRequest): { headers: Record<string, string>; body: Buffer } {
    const { headers, body } = webPush.generateRequestDetails(device, payload, {
      vapidDetails: this.#options.vapid,
      TTL: ttl,
      urgency,
      contentEncoding: 'aes128gcm',
    });
    const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
    return { headers: Object.fromEntries(lowered), body: body as Buffer };
  }
}

function isOnCurve(key: string): boolean {
  try {
    ECDH.convertKey(key, 'prime256v1', 'base64url');
    return true;
  } catch {
    // A retry cannot succeed, so treat the subscription as ended.
    return false;
  }
}

/** 404 and 410 mean that the subscription has ended (RFC 8030 §5 and §7.3). */
function outcomeOf(status: number, retryAfter: string | string[] | undefined): Receipt {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const reason = `the push service answered ${status}`;
  if (status === 404 || status === 410) return { outcome: 'gone', reason };
  const seconds = Number(retryAfter ?? 0);
  return { outcome: 'failed', reason, ...(seconds > 0 ? { after: seconds * 1000 } : {}) };
}
