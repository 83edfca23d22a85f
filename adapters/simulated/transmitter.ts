import type { FrameBatch, MessageCodec, NamedFrame } from '../../agent/ports.ts';
import { type Transmission, transmissions, type Values } from './messages.ts';
import type { Vehicle } from './vehicle.ts';

/** The period that frames are handed over in, ms; every cycle time is a multiple of it. */
export const TICK = 20;

/** Longest time that a classic frame of `length` bytes with 11-bit identifier takes at 500 kbit/s, ms (stuff bits). */
function onBus(length: number): number {
  return (55 + 10 * length) / 500;
}

/** Puts the car's messages on the bus: cycle times, counters, checksums, and one frame after the other. */
export class Transmitter {
  readonly #codec: MessageCodec;
  /** Frames sent so far, per transmission. */
  readonly #sent = new Float64Array(transmissions.length);
  readonly #batch: FrameBatch = {
    count: 0,
    at: new Float64Array(transmissions.length),
    id: new Uint32Array(transmissions.length),
    bus: new Uint8Array(transmissions.length),
    flags: new Uint8Array(transmissions.length),
    length: new Uint8Array(transmissions.length),
    offset: new Uint32Array(transmissions.length),
    data: new Uint8Array(transmissions.length * 8),
  };

  constructor(codec: MessageCodec) {
    this.#codec = codec;
  }

  /**
   * The frames of the tick that is the `tick`-th since power-on and begins at `at`, UTC ms. The batch is valid
   * until the next call.
   */
  frames(car: Vehicle, tick: number, at: number): FrameBatch {
    const batch = this.#batch;
    batch.count = 0;
    let free = at;
    transmissions.forEach((transmission, index) => {
      if (!due(transmission, index, tick)) return;
      const frame = this.#encode(transmission, index, car);
      free += onBus(frame.data.length);
      const place = batch.count++;
      const offset = place * 8;
      batch.at[place] = free;
      batch.id[place] = frame.id;
      batch.length[place] = frame.data.length;
      batch.offset[place] = offset;
      batch.data.fill(0, offset, offset + 8);
      batch.data.set(frame.data, offset);
    });
    return batch;
  }

  #encode(transmission: Transmission, index: number, car: Vehicle): NamedFrame {
    const sent = this.#sent[index] as number;
    this.#sent[index] = sent + 1;
    const values: Values = transmission.values(car, sent);
    if (transmission.secured === undefined) return this.#codec.encode(transmission.message, values);
    values['Counter'] = sent % 16;
    const bare = this.#codec.encode(transmission.message, values);
    values['Checksum'] = bare.data.reduce((sum, byte) => sum ^ byte, 0);
    return this.#codec.encode(transmission.message, values);
  }
}

/** Messages of the same cycle start in different ticks, so that the bus is loaded evenly. */
function due(transmission: Transmission, index: number, tick: number): boolean {
  const ticks = transmission.cycle / TICK;
  // GNSS follows GNSS_FIX within the tick: the receiver says how good the fix is, then where.
  const phase = transmission.message === 'GNSS' ? index - 1 : index;
  return tick % ticks === phase % ticks;
}
