/** A message from a car in the hub: its unchanged bytes, and the columns for queries. */
import { DAY } from '../../protocol/calendar.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import { VigieError } from '../../protocol/errors.ts';
import { factsOf, type RecordFacts } from '../../protocol/interface/record-filter.ts';
import { type Kind, recordKinds } from '../../protocol/schema/kind.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { parseTopic } from '../../protocol/topics.ts';
import { isCounted, lifeOf } from './lives.ts';

export interface CarMessage {
  readonly vin: string;
  /** Priority class (protocol/classes.ts). */
  readonly class: number;
  readonly message: Message;
  /** Bytes as received. */
  readonly payload: Uint8Array;
  /** UTC ms of the hub. */
  readonly received: number;
  /** True if the broker retained the message: the car may have sent it long ago. */
  readonly retained?: true;
  /** Arrival in UTC ms of the hub. Set if the message was kept aside until its car was registered. */
  readonly heard?: number;
}

/** A message that the hub cannot read. If the car sends it again, the bytes are the same. */
export interface RefusedMessage {
  readonly topic: string;
  readonly reason: string;
  readonly payload: Uint8Array;
  /** UTC ms of the hub. */
  readonly received: number;
}

/** Message numbers are below this one: it takes 68 years at a message a second. */
const SEQ_NUMBERS = 2 ** 31;

/** @throws VigieError `message.malformed`, `message.unbounded` if the bytes are not the message of the topic */
export function readMessage(topic: string, payload: Uint8Array, received: number, retained = false): CarMessage {
  const parsed = parseTopic(topic);
  if (parsed?.direction !== 'up') {
    throw new VigieError('message.malformed', 'the topic is not vigie/1/{VIN}/up/{kind} of this protocol version');
  }
  const message = decodeMessage(payload);
  if (message.kind !== parsed.kind) {
    throw new VigieError('message.malformed', `the topic announces ${parsed.kind}, the message is ${message.kind}`);
  }
  if (message.seq >= SEQ_NUMBERS) {
    throw new VigieError('message.unbounded', `the number ${message.seq} is not below 2^31`);
  }
  return { vin: parsed.vin, class: classOf(message.kind), message, payload, received, ...(retained && { retained }) };
}

/** Returns the arrival of a message at the hub in UTC ms. */
export function heardAt({ heard, received }: CarMessage): number {
  return heard ?? received;
}

/**
 * Returns the time in UTC ms of the last activity of a car that is known only from a retained message. Uses the time in
 * the message, because the arrival of a retained message shows nothing about the car.
 */
export function heardBefore(one: CarMessage): number {
  return Math.max(0, Math.min(Math.round(one.message.at), heardAt(one)));
}

/** Returns the VIN level of a topic of this protocol. */
export function vinIn(topic: string): string {
  return topic.split('/')[2] ?? '';
}

/**
 * Kinds of messages that are pieces of series, or are needed to read them. They are read by time through the view
 * `series` and have no row in `records`.
 */
export const seriesKinds: readonly Kind[] = ['telemetry', 'waypoint', 'catalog', 'text'];
export const isSeries = (collection: string): collection is Kind =>
  (seriesKinds as readonly string[]).includes(collection);

const records: ReadonlySet<Kind> = new Set(recordKinds);

/** Position of a record in its collection, as in the car. */
export interface RecordPlace {
  readonly collection: string;
  readonly id: string;
  /** Time of the record in UTC ms, according to the clock that the car had then. */
  readonly at: number;
  /** Columns for filters of lists. Pieces of series have none. */
  readonly facts?: RecordFacts;
}

/** Id of a piece of a series. */
function pieceId({ boot, seq }: MessageOrder): string {
  return `${boot.toString(16)}-${seq.toString(16)}`;
}

/** Inverse of `pieceId`. Returns undefined for an invalid id. */
export function pieceOf(id: string): MessageOrder | undefined {
  const [, boot = '', seq = ''] = /^([0-9a-f]{1,14})-([0-9a-f]{1,8})$/.exec(id) ?? [];
  const piece = { boot: Number.parseInt(boot, 16), seq: Number.parseInt(seq, 16) };
  const isKnown = piece.boot <= Number.MAX_SAFE_INTEGER && piece.seq < SEQ_NUMBERS;
  return isKnown && pieceId(piece) === id ? piece : undefined;
}

/** Returns the record of a message: a record with an id, or a piece of a series, which is its own record. */
export function recordPlaceOf({ kind, seq, boot, at, body }: Message): RecordPlace | undefined {
  const piece = pieceId({ boot, seq });
  if (kind === 'catalog') return { collection: kind, id: piece, at: Math.round(at) };
  if (kind === 'text') return { collection: kind, id: piece, at: Math.round(body.at) };
  if (kind === 'telemetry') return { collection: kind, id: piece, at: Math.round(body.start) };
  if (kind === 'waypoint') {
    const [first] = body.points;
    return first === undefined ? undefined : { collection: kind, id: piece, at: Math.round(first.at) };
  }
  if (!records.has(kind)) return undefined;
  const { id, createdAt } = body as { readonly id: string; readonly createdAt: number };
  return { collection: kind, id, at: Math.round(createdAt), facts: factsOf(kind, body) };
}

/** Largest correction in ms. A clock that is not set starts in 1970 or later, so no hello corrects it by a century. */
const MOST_BEHIND = 36_500 * DAY;

/** Returns the correction in ms in a `hello` for all times of its start. Undefined if missing or impossible. */
export function correctionIn({ kind, body }: Message): number | undefined {
  if (kind !== 'hello' || body.behind === undefined || Math.abs(body.behind) > MOST_BEHIND) return undefined;
  return Math.round(body.behind);
}

/**
 * Order in which a car made its messages of one class: by counted start, then by number. A start that the car could
 * not record has a random number. Its place then follows from its first number, or from the numbers if that is unknown.
 */
export interface MessageOrder {
  /** Number of the start at the hub ({@link ./lives.ts}). */
  readonly boot: number;
  readonly seq: number;
  /** Distance from the first number of the start in the class. Undefined if unknown. */
  readonly offset?: number | undefined;
}

/** Returns true if `a`, which arrives, was made after `b`, which is known, or may have been. */
export function isAfter(a: MessageOrder, b: MessageOrder): boolean {
  if (lifeOf(a.boot) !== lifeOf(b.boot)) return a.boot > b.boot;
  const [isOneCounted, isOtherCounted] = [isCounted(a.boot), isCounted(b.boot)];
  if (isOneCounted && isOtherCounted && a.boot !== b.boot) return a.boot > b.boot;
  if (isOneCounted !== isOtherCounted && a.offset !== undefined && b.offset !== undefined) {
    // The next start begins with the same number if the disk took no message of the uncounted one.
    const later = a.seq - a.offset - (b.seq - b.offset);
    if (later > 0 || (later === 0 && isOneCounted)) return true;
  }
  // A message sent from memory in an uncounted start may have its number reused by the next start.
  return a.seq > b.seq || (a.seq === b.seq && isOneCounted && !isOtherCounted);
}
