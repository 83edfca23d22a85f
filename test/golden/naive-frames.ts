/** Frames that exercise a DBC: bits all clear and all set, patterns, random payloads, every multiplexed page. */
import { bitsOf, messageOf, type NaiveMessage, type NaiveSignal, selectionOf } from './naive-dbc.ts';

export interface NaiveFrame {
  readonly id: number;
  readonly extended: boolean;
  readonly data: Uint8Array;
}

/** Random numbers from 0 to 255, equal in every run (Numerical Recipes, section 7.1). */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
}

/** Writes an unsigned raw value into a payload that is long enough. */
function place(signal: NaiveSignal, value: bigint, data: Uint8Array): void {
  for (const [power, bit] of bitsOf(signal).entries()) {
    const mask = 2 ** (bit % 8);
    const byte = Math.floor(bit / 8);
    const set = (value / 2n ** BigInt(power)) % 2n === 1n;
    data[byte] = set ? (data[byte] as number) | mask : (data[byte] as number) & ~mask;
  }
}

/** Payloads that contain the signal, one for each end of each of its ranges. */
function pages(signal: NaiveSignal, message: NaiveMessage, filler: () => Uint8Array): Uint8Array[] {
  const selection = selectionOf(signal, message);
  if (selection === undefined) return [filler()];
  const { multiplexor, ranges } = selection;
  return pages(multiplexor, message, filler).flatMap((above) =>
    ranges
      .flatMap(({ low, high }) => (low === high ? [low] : [low, high]))
      .map((value) => {
        const data = above.slice();
        place(multiplexor, value, data);
        return data;
      }),
  );
}

/** Frames of all messages. Consecutive frames differ. */
export function framesOf(messages: readonly NaiveMessage[], seed: number): NaiveFrame[] {
  const next = chance(seed);
  const frames: NaiveFrame[] = [];
  for (const message of messages) {
    if (message.nowhere) continue;
    const { id, extended, signals } = message;
    const length = Math.max(
      message.length,
      ...signals.flatMap((signal) => bitsOf(signal).map((bit) => (bit >> 3) + 1)),
    );
    const random = (): Uint8Array => Uint8Array.from({ length }, next);
    const payloads = [
      ...[0x00, 0xff, 0x55, 0xaa, 0x80, 0x01].map((byte) => new Uint8Array(length).fill(byte)),
      Uint8Array.from({ length }, (_, i) => ((2 * i) << 4) | (2 * i + 1)),
      ...Array.from({ length: 5 }, random),
      ...signals
        .filter((signal) => selectionOf(signal, message) !== undefined)
        .flatMap((signal) => pages(signal, message, random)),
      // Senders may truncate the payload.
      ...[length - 1, Math.floor(length / 2), 1, 0].map((cut) => random().subarray(0, Math.max(0, cut))),
    ];
    let before: Uint8Array | undefined;
    for (const data of payloads) {
      if (before !== undefined && Buffer.from(before).equals(data)) continue;
      before = data;
      frames.push({ id, extended, data });
      if (!message.j1939) continue;
      // Priority, source address and, if the group has one, the destination can vary (J1939-21 §5.2).
      const elsewhere = { id: 0x1c00_0000 | (id & 0x03ff_ff00) | next(), extended, data: random() };
      if (messageOf(messages, elsewhere.id, true) !== undefined) frames.push(elsewhere);
    }
  }
  return frames;
}
