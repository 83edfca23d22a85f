/** Reading what the day left. */
import type { StoredRecord } from '../../agent/ports.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Body, BodyKind, Message } from '../../protocol/schema/message.ts';
import { MIDNIGHT } from '../rig/day.ts';
import type { DayOutcome, Published } from '../rig/day-run.ts';

export function recordsOf<K extends BodyKind>(outcome: DayOutcome, kind: K): Body<K>[] {
  return (outcome.records[kind] ?? []).map(({ record }: StoredRecord) => record as Body<K>);
}

export function messagesOf(outcome: DayOutcome): (Published & { readonly message: Message })[] {
  return outcome.published.map((published) => ({ ...published, message: decodeMessage(published.payload) }));
}

/** ms since midnight of a moment that the unit knew. */
export function timeOf(at: number | undefined): number {
  return (at ?? Number.NaN) - MIDNIGHT;
}

/** Every object in a value, however deep. */
export function* objectsIn(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

/** The first message of which topic or payload is not the same in both runs, as it is in the one. */
export function firstDifference(one: DayOutcome, other: DayOutcome): Message | { count: number } | undefined {
  if (one.published.length !== other.published.length) return { count: one.published.length };
  const found = one.published.find(({ topic, payload }, index) => {
    const twin = other.published[index];
    return topic !== twin?.topic || Buffer.compare(payload, twin.payload) !== 0;
  });
  return found && decodeMessage(found.payload);
}
