/** A message from a car in the hub: its bytes unchanged, and the columns for queries. */
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
  /** The bytes as received. */
  readonly payload: Uint8Array;
  /** UTC ms of the hub. */
  readonly received: number;
  /** The broker had kept it: the car may have sent it long ago. */
  readonly retained?: true;
}

/** A message that the hub cannot read; a car that sends it again would send the same bytes. */
export interface RefusedMessage {
  readonly topic: string;
  readonly reason: string;
  readonly payload: Uint8Array;
  /** UTC ms of the hub. */
  readonly received: number;
}

/** @throws VigieError `message.malformed`, `message.unbounded` for bytes that are not the message its topic announces */
export function readMessage(topic: string, payload: Uint8Array, received: number, retained = false): CarMessage {
  const parsed = parseTopic(topic);
  if (parsed?.direction !== 'up') {
    throw new VigieError('message.malformed', 'the topic is not vigie/1/{VIN}/up/{kind} of this protocol version');
  }
  const message = decodeMessage(payload);
  if (message.kind !== parsed.kind) {
    throw new VigieError('message.malformed', `the topic announces ${parsed.kind}, the message is ${message.kind}`);
  }
  return { vin: parsed.vin, class: classOf(message.kind), message, payload, received, ...(retained && { retained }) };
}

/**
 * When a car was heard that the hub knows by a retained message only, UTC ms: as the message says, since its arrival says
 * nothing of the car.
 */
export function heardBefore({ message, received }: CarMessage): number {
  return Math.max(0, Math.min(Math.round(message.at), received));
}

/** The level of a topic at which the topics of this protocol have the VIN. */
export function vinIn(topic: string): string {
  return topic.split('/')[2] ?? '';
}

/**
 * Kinds whose messages are pieces of series, or what is needed to read these: they are read by time as the view `series`, and
 * no row of `records` names them.
 */
export const seriesKinds: readonly Kind[] = ['telemetry', 'waypoint', 'catalog', 'text'];
export const isSeries = (collection: string): collection is Kind =>
  (seriesKinds as readonly string[]).includes(collection);

const records: ReadonlySet<Kind> = new Set(recordKinds);

/** Where a record stands in its collection, as in the car. */
export interface RecordPlace {
  readonly collection: string;
  readonly id: string;
  /** UTC ms by the clock that the car had then. */
  readonly at: number;
  /** Columns that lists are filtered by. Pieces of series have none. */
  readonly facts?: RecordFacts;
}

/** Id of a piece of a series. */
function pieceId({ boot, seq }: MessageOrder): string {
  return `${boot.toString(16)}-${seq.toString(16)}`;
}

/** The other way round; undefined: no such id. */
export function pieceOf(id: string): MessageOrder | undefined {
  const [, boot = '', seq = ''] = /^([0-9a-f]{1,14})-([0-9a-f]{1,8})$/.exec(id) ?? [];
  const piece = { boot: Number.parseInt(boot, 16), seq: Number.parseInt(seq, 16) };
  const isKnown = piece.boot <= Number.MAX_SAFE_INTEGER && piece.seq < 2 ** 31;
  return isKnown && pieceId(piece) === id ? piece : undefined;
}

/** The record that a message carries: a record with an id, or a piece of a series, which is its own record. */
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

/** The clock of a car that does not know the time begins in 1970 or later: no hello corrects it by a century, ms. */
const MOST_BEHIND = 36_500 * DAY;

/** Correction in a `hello` for all times of its start of the agent, ms. Undefined for none or an impossible one. */
export function correctionIn({ kind, body }: Message): number | undefined {
  if (kind !== 'hello' || body.behind === undefined || Math.abs(body.behind) > MOST_BEHIND) return undefined;
  return Math.round(body.behind);
}

/**
 * The order in which a car made its messages of one class: starts of the agent are counted, numbers within them. A start
 * that the car could not write down has a random number: the numbers of its messages give its place.
 */
export interface MessageOrder {
  /** Number of the start at the hub ({@link ./lives.ts}). */
  readonly boot: number;
  readonly seq: number;
}

/** Whether `a` was made after `b`. */
export function isAfter(a: MessageOrder, b: MessageOrder): boolean {
  if (lifeOf(a.boot) !== lifeOf(b.boot)) return a.boot > b.boot;
  const [isOneCounted, isOtherCounted] = [isCounted(a.boot), isCounted(b.boot)];
  if (isOneCounted && isOtherCounted && a.boot !== b.boot) return a.boot > b.boot;
  // A message from memory of an uncounted start leaves its number to the next start.
  return a.seq > b.seq || (a.seq === b.seq && isOneCounted && !isOtherCounted);
}
