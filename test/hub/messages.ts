/** Messages of cars as the bytes that arrive at a hub. */

import { type CarMessage, readMessage } from '../../hub/core/message.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';
import { defined } from '../../protocol/defined.ts';
import type { Body, BodyKind, ClockQuality } from '../../protocol/schema/message.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import { upTopic } from '../../protocol/topics.ts';

export const ONE = 'VF3VGEHVB00000001';
export const OTHER = 'VF3VGEHVB00000002';
/** 10 November 2026, noon, UTC ms. */
export const NOON = Date.UTC(2026, 10, 10, 12);

export interface MessageOptions {
  readonly vin?: string;
  readonly seq?: number;
  readonly boot?: number;
  readonly offset?: number;
  readonly at?: number;
  readonly clock?: ClockQuality;
  readonly received?: number;
}

export function payloadOf<K extends BodyKind>(kind: K, body: Body<K>, options: MessageOptions = {}): Uint8Array {
  const { seq = 0, boot = 1, at = NOON, clock = 'gnss', offset } = options;
  return encodeMessage({ version: 1, kind, seq, boot, at, clock, body, ...defined({ offset }) });
}

export function received<K extends BodyKind>(kind: K, body: Body<K>, options: MessageOptions = {}): CarMessage {
  const { vin = ONE, at = NOON, received: when = at } = options;
  return readMessage(upTopic(vin, kind), payloadOf(kind, body, options), when);
}

export function trip(id: string, more: Partial<Trip> = {}): Trip {
  return { id, createdAt: NOON - 60_000, startedAt: NOON - 60_000, ...more } as Trip;
}
