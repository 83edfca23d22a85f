/** Reads the records of a day. */
import type { StoredRecord } from '../../agent/ports.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { Body, BodyKind, Message } from '../../protocol/schema/message.ts';
import { readingsFromTelemetry } from '../../protocol/schema/telemetry.ts';
import { MIDNIGHT } from '../rig/day.ts';
import type { DayOutcome, Published } from '../rig/day-run.ts';

type Kept = Pick<DayOutcome, 'records'>;

export function recordsOf<K extends BodyKind>(outcome: Kept, kind: K): Body<K>[] {
  return (outcome.records[kind] ?? []).map(({ record }: StoredRecord) => record as Body<K>);
}

/** All readings, piece by piece, as text. */
export function readingsIn(outcome: Kept): string[][] {
  return recordsOf(outcome, 'telemetry').map((piece) =>
    readingsFromTelemetry(piece).map(({ slot, at, value }) => `${slot.path} ${new Date(at).toISOString()} ${value}`),
  );
}

export function messagesOf(outcome: DayOutcome): (Published & { readonly message: Message })[] {
  return outcome.published.map((published) => ({ ...published, message: decodeMessage(published.payload) }));
}

/** Time of day of a known time, ms since midnight. */
export function timeOf(at: number | undefined): number {
  return (at ?? Number.NaN) - MIDNIGHT;
}

/** Every object in a value, at any depth. */
export function* objectsIn(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

/** The first message that differs between the runs, as in `one`. */
export function firstDifference(one: DayOutcome, other: DayOutcome): Message | { count: number } | undefined {
  if (one.published.length !== other.published.length) return { count: one.published.length };
  const found = one.published.find(({ topic, payload }, index) => {
    const twin = other.published[index];
    return topic !== twin?.topic || Buffer.compare(payload, twin.payload) !== 0;
  });
  return found && decodeMessage(found.payload);
}

/** Monitor events at a receiver that drops duplicates. */
export function eventsIn(outcome: DayOutcome): MonitorEvent[] {
  const seen = new Map<number, MonitorEvent>();
  for (const { message } of messagesOf(outcome)) {
    if (message.kind === 'event') seen.set(message.seq, message.body);
  }
  return [...seen.entries()].sort(([a], [b]) => a - b).map(([, body]) => body);
}
