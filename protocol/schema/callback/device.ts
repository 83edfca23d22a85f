/** A device that receives push notifications: PushSubscription of the Push API, RFC 8030 §2, RFC 8291 §2.1. */
import { Member, malformed } from '../monitor/input.ts';
import { readTarget } from './target.ts';

/** One subscription in the form of `PushSubscription.toJSON()`. */
export interface Device {
  /** Push resource to which notifications are sent. */
  readonly endpoint: string;
  readonly keys: {
    /** Public key of the receiver, P-256, uncompressed, base64url. */
    readonly p256dh: string;
    /** Authentication secret, 16 bytes, base64url. */
    readonly auth: string;
  };
}

/**
 * Reads an entry of `devices`: the JSON text of a subscription, or the subscription itself.
 * @throws VigieError `input.malformed`
 */
export function readDevice(member: Member): Device {
  const { value, where } = member;
  const subscription = new Member(typeof value === 'string' ? parsed(member.text(4096), where) : value, where);
  const keys = subscription.member('keys');
  return {
    endpoint: readTarget(subscription.member('endpoint'), ['https', 'http']),
    // 65 bytes: 0x04 and two coordinates (SEC 1 §2.3.3).
    keys: { p256dh: readKey(keys.member('p256dh'), 87), auth: readKey(keys.member('auth'), 22) },
  };
}

/** Returns the string in which a device is stored and shown. */
export function deviceText({ endpoint, keys }: Device): string {
  return JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(where, 'must be the JSON of a PushSubscription: {"endpoint": …, "keys": {"p256dh": …, "auth": …}}');
  }
}

function readKey(member: Member, length: number): string {
  const text = member.text(256).replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
  if (text.length === length && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  throw malformed(member.where, `must be base64url of ${Math.floor((length * 3) / 4)} bytes`);
}
