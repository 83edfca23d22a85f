import type { FrameBatch, ReadingSink } from '../../../../agent/ports.ts';

export interface TestFrame {
  /** Identifier with EXTENDED, REMOTE and ERROR bits. */
  readonly id: number;
  readonly data: Uint8Array;
  readonly bus?: number;
  readonly at?: number;
}

/** A batch in the format of the port: payloads at multiples of 8, padded with zeros. */
export function batchOf(frames: readonly TestFrame[]): FrameBatch {
  const offsets: number[] = [];
  let end = 0;
  for (const { data } of frames) {
    offsets.push(end);
    end += (data.length + 7) & ~7;
  }
  const data = new Uint8Array(end);
  frames.forEach((frame, i) => {
    data.set(frame.data, offsets[i]);
  });
  return {
    count: frames.length,
    at: Float64Array.from(frames, (frame, i) => frame.at ?? i),
    id: Uint32Array.from(frames, (frame) => frame.id),
    bus: Uint8Array.from(frames, (frame) => frame.bus ?? 0),
    flags: new Uint8Array(frames.length),
    length: Uint8Array.from(frames, (frame) => frame.data.length),
    offset: Uint32Array.from(offsets),
    data,
  };
}

export type Delivery =
  | { readonly signal: number; readonly value: number; readonly raw: number; readonly at: number }
  | { readonly settled: number }
  | { readonly alive: readonly number[]; readonly at: number };

/** Records the deliveries of a decoder. */
export class Recorder implements ReadingSink {
  readonly deliveries: Delivery[] = [];

  reading(signal: number, value: number, raw: number, at: number): void {
    this.deliveries.push({ signal, value, raw, at });
  }
  settled(at: number): void {
    this.deliveries.push({ settled: at });
  }
  alive(signals: readonly number[], at: number): void {
    this.deliveries.push({ alive: [...signals], at });
  }

  /** Returns the values by signal since the last call. */
  take(): Map<number, number> {
    const found = this.deliveries
      .splice(0)
      .flatMap((one) => ('signal' in one ? [[one.signal, one.value] as const] : []));
    return new Map(found);
  }
}

export const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

/** Bytes of a network description: a header and the given statements. */
export const text = (statements: string): Uint8Array =>
  new TextEncoder().encode(`VERSION ""\n\nNS_ :\n\tCM_\n\tBA_\n\nBS_:\n\nBU_: A B\n\n${statements}\n`);
