/** Content of a push message: data, and the notification that the device shows. docs/callbacks.md, "Push". */
import { defined } from '../../protocol/defined.ts';
import { PUSH_PAYLOAD, type Urgency, urgencies } from './channel.ts';

type Members = Readonly<Record<string, unknown>>;

/** Default (as long as the car retries) and maximum time in s that a push service keeps a message (RFC 8030 §5.2). */
const TTL = 259_200;
const LONGEST_TTL = 2_419_200;

/** Fields of `notification`, named as in NotificationOptions of the Notifications API. */
const shown = ['title', 'body', 'image', 'icon', 'badge', 'tag', 'sound', 'lang'] as const;

interface PushContent {
  readonly payload: string;
  readonly urgency: Urgency;
  readonly ttl: number;
}

/** Returns the content. `keywords`: attributes by lower-case key; `title`: used if `keywords` contain no title. */
export function pushContent(
  id: string,
  message: Members,
  keywords: Readonly<Record<string, string>>,
  title: string | undefined,
): PushContent {
  const { deliverypriority, timetolive, ttl = timetolive } = keywords;
  const notification = notificationOf(keywords, title);
  const mutable = keywords['mutable'] === 'true' ? { mutable: true } : {};
  const payload = fitting({ id, ...defined({ notification }), ...mutable }, message);
  const seconds = ttl === undefined || !/^\d{1,9}$/.test(ttl) ? TTL : Number(ttl);
  return {
    payload,
    urgency: urgencies.find((urgency) => urgency === deliverypriority?.toLowerCase()) ?? 'normal',
    ttl: Math.min(LONGEST_TTL, seconds),
  };
}

/** Returns undefined if the device is to show nothing: its app gets the message in the background. */
function notificationOf(keywords: Readonly<Record<string, string>>, title: string | undefined): Members | undefined {
  const quiet = ['disablenotificationpayload', 'contentavailable'].some((name) => keywords[name] === 'true');
  if (quiet) return undefined;
  const members: Record<string, unknown> = defined({ title });
  for (const name of shown) if (keywords[name] !== undefined) members[name] = keywords[name];
  if (keywords['silent'] === 'true') members['silent'] = true;
  return members;
}

/** Returns JSON with as much of the message as fits into a push message; HTTP returns the rest. */
function fitting(head: Members, message: Members): string {
  const { monitorEvent, ...rest } = message;
  const { extensions: _, ...lean } = (monitorEvent ?? {}) as Members;
  const { values: __, ...bare } = lean;
  const short = (event: Members): Members => ({
    ...rest,
    ...(monitorEvent === undefined ? {} : { monitorEvent: event }),
  });
  const { attributes: ___, ...least } = short(bare);
  const whole = JSON.stringify({ ...head, message });
  if (bytes(whole) <= PUSH_PAYLOAD) return whole;
  for (const candidate of [short(lean), short(bare), least]) {
    const payload = JSON.stringify({ ...head, message: candidate, shortened: true });
    if (bytes(payload) <= PUSH_PAYLOAD) return payload;
  }
  const { id } = head;
  return JSON.stringify({ id, message: least, shortened: true });
}

const encoder = new TextEncoder();
const bytes = (text: string): number => encoder.encode(text).length;
