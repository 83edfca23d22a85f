import { decodeMessage } from '../protocol/cbor/message.ts';
import { classOf } from '../protocol/classes.ts';
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
  return { topic, seq, at, body: message.kind === 'telemetry' ? telemetryJson(message.body) : message.body };
}

/** Numbers further below the highest are not remembered: the car numbers on for ever. */
const REMEMBERED = 100_000;

/**
 * The receiver's half of exactly-once: every class of a car is numbered without a hole, so what was seen is a
 * duplicate and what is missing is known. Messages of a class may arrive out of order after an outage.
 */
export class Ledger {
  readonly #seen = new Map<number, { numbers: Set<number>; from: number; highest: number }>();

  /**
   * False when this message was seen before. A `retained` one is as old as it is: what came between it and the first
   * live message was never sent to this receiver, so it does not count as missing.
   */
  admit(payload: Uint8Array, retained = false): boolean {
    const { kind, seq } = decodeMessage(payload);
    if (retained) return true;
    const priority = classOf(kind);
    const seen = this.#seen.get(priority) ?? { numbers: new Set<number>(), from: seq, highest: seq };
    this.#seen.set(priority, seen);
    if (seen.numbers.has(seq) || seq <= seen.highest - REMEMBERED) return false;
    seen.numbers.add(seq);
    seen.from = Math.min(seen.from, seq);
    seen.highest = Math.max(seen.highest, seq);
    if (seen.numbers.size > 2 * REMEMBERED) {
      for (const number of seen.numbers) if (number <= seen.highest - REMEMBERED) seen.numbers.delete(number);
      seen.from = Math.max(seen.from, seen.highest - REMEMBERED + 1);
    }
    return true;
  }

  /** Numbers between the first and the last seen that have not arrived. */
  get missing(): number {
    let missing = 0;
    for (const { numbers, from, highest } of this.#seen.values()) missing += highest - from + 1 - numbers.size;
    return missing;
  }
}
