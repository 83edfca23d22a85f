/**
 * Writes messages into a ring's memory like the kernel. Written from the C declarations, without the code under test.
 */
import type { ReceiveRing } from '../../../../adapters/can/socketcan/ring.ts';

export interface Control {
  readonly level: number;
  readonly type: number;
  readonly data: Uint8Array;
}

export interface Message {
  /** `struct can_frame` or `struct canfd_frame`. */
  readonly frame: Uint8Array;
  readonly flags?: number;
  readonly control?: readonly Control[];
}

/** @param dirt bytes after the payload, which a sender may have left there */
export function frameBytes(id: number, flexible: boolean, flags: number, payload: Uint8Array, dirt = 0): Uint8Array {
  const bytes = new Uint8Array(flexible ? 72 : 16).fill(dirt, 8);
  new DataView(bytes.buffer).setUint32(0, id, true);
  bytes[4] = payload.length;
  bytes[5] = flags;
  bytes.set(payload, 8);
  return bytes;
}

export function bytesOfInts(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}

export function writeMessages(ring: ReceiveRing, messages: readonly Message[]): void {
  const { memory, slots } = ring;
  const view = new DataView(memory.buffer);
  const wide = ring.layout.pointerSize === 8;
  // A size_t below 2^32: its upper half is already 0.
  const [headerSize, word, vectorSize] = wide ? [64, 8, 16] : [32, 4, 8];
  for (const [i, { frame, flags = 0, control = [] }] of messages.entries()) {
    const header = i * headerSize;
    let place = Number(view.getUint32(header + (wide ? 32 : 16), true));
    const begin = place;
    for (const { level, type, data } of control) {
      view.setUint32(place, word + 8 + data.length, true);
      view.setInt32(place + word, level, true);
      view.setInt32(place + word + 4, type, true);
      memory.set(data, place + word + 8);
      place += Math.ceil((word + 8 + data.length) / word) * word;
    }
    view.setUint32(header + (wide ? 40 : 20), place - begin, true);
    view.setUint32(header + (wide ? 48 : 24), flags, true);
    view.setUint32(header + (wide ? 56 : 28), frame.length, true);
    const target = view.getUint32(slots * headerSize + i * vectorSize, true);
    memory.set(frame.subarray(0, 72), target);
  }
}
