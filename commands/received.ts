import { decodeMessage } from '../protocol/cbor/message.ts';
import { classOf } from '../protocol/classes.ts';
import type { Message } from '../protocol/schema/message.ts';
import { telemetryJson } from '../protocol/schema/telemetry.ts';

/** A message as `watch` and `replay` print it: the body as JSON by schema names. */
export interface Received {
  readonly topic: string;
  readonly seq: number;
  readonly at: number;
  readonly body: unknown;
}

export function toLine(topic: string, payload: Uint8Array): Received {
  const message = decodeMessage(payload);
  const { seq, at } = message;
  return { topic, seq, at, body: readable(message) };
}

/** The body with readings as paths, times and values. */
function readable(message: Message): unknown {
  if (message.kind === 'telemetry') return telemetryJson(message.body);
  if (message.kind !== 'collision' || message.body.readings === undefined) return message.body;
  return { ...message.body, readings: telemetryJson(message.body.readings) };
}

/** Numbers further below the highest are not remembered: the car numbers on for ever. */
const REMEMBERED = 100_000;

interface Seen {
  /** By number, the starts of the agent it came from. A number is used twice only when a disk failed in between. */
  readonly boots: Map<number, number[]>;
  from: number;
  highest: number;
}

/**
 * The receiver's half of exactly-once: every class of a car is numbered without a hole, so what was seen is a
 * duplicate and what is missing is known. Messages of a class may arrive out of order after an outage.
 */
export class Ledger {
  readonly #seen = new Map<number, Seen>();
  readonly #retained = new Set<string>();

  /**
   * False when this message was seen before. A `retained` one is as old as it is: what came between it and the first
   * live message was never sent to this receiver, so it does not count as missing.
   */
  admit(payload: Uint8Array, retained = false): boolean {
    const { kind, seq, boot } = decodeMessage(payload);
    const priority = classOf(kind);
    const identity = `${priority}/${boot}/${seq}`;
    const seen = this.#seen.get(priority);
    const before = seen?.boots.get(seq) ?? [];
    if (before.includes(boot) || this.#retained.has(identity)) return false;
    if (retained) {
      this.#retained.add(identity);
      return true;
    }
    if (seen === undefined) {
      this.#seen.set(priority, { boots: new Map([[seq, [boot]]]), from: seq, highest: seq });
      return true;
    }
    if (seq <= seen.highest - REMEMBERED) return false;
    seen.boots.set(seq, [...before, boot]);
    seen.from = Math.min(seen.from, seq);
    seen.highest = Math.max(seen.highest, seq);
    if (seen.boots.size > 2 * REMEMBERED) {
      for (const number of seen.boots.keys()) if (number <= seen.highest - REMEMBERED) seen.boots.delete(number);
      seen.from = Math.max(seen.from, seen.highest - REMEMBERED + 1);
    }
    return true;
  }

  /** Numbers between the first and the last seen that have not arrived. */
  get missing(): number {
    let missing = 0;
    for (const { boots, from, highest } of this.#seen.values()) missing += highest - from + 1 - boots.size;
    return missing;
  }
}
