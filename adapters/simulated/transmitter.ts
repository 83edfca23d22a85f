import type { FrameBatch, MessageCodec } from '../../agent/ports.ts';
import { type CyclicMessage, transmissions, type Values } from './messages.ts';
import type { SimulatedVehicle } from './vehicle.ts';

/** Interval in ms of the batches of frames; every cycle time divides it or is a multiple of it. */
export const TICK = 20;
/** Largest number of frames in a tick. */
const CAPACITY = transmissions.reduce((sum, { cycle }) => sum + Math.max(1, TICK / cycle), 0);

/** Returns the longest duration in ms of a classic frame of `length` bytes (11-bit identifier, 500 kbit/s). */
function onBus(length: number): number {
  return (55 + 10 * length) / 500;
}

/** Sends the car's messages on the bus: cycle times, counters, checksums, and one frame after the other. */
export class SimulatedTransmitter {
  readonly #senders: readonly Sender[];
  readonly #batch: FrameBatch = {
    count: 0,
    at: new Float64Array(CAPACITY),
    id: new Uint32Array(CAPACITY),
    bus: new Uint8Array(CAPACITY),
    flags: new Uint8Array(CAPACITY),
    length: new Uint8Array(CAPACITY),
    offset: new Uint32Array(CAPACITY),
    data: new Uint8Array(CAPACITY * 8),
  };

  constructor(codec: MessageCodec) {
    this.#senders = transmissions.map((transmission, index) => new Sender(codec, transmission, phaseOf(index)));
  }

  /**
   * Returns the frames of tick number `tick` since power-on. The tick begins at `at` in UTC ms. The batch is valid
   * until the next call.
   */
  frames(car: SimulatedVehicle, tick: number, at: number): FrameBatch {
    this.#batch.count = 0;
    let free = at;
    for (const sender of this.#senders) {
      if (sender.due(car, tick)) free = this.#put(sender.frame(car, 0), sender, free);
    }
    // A message that is due more than once in a tick is sent again later in the tick.
    for (const sender of this.#senders) {
      const { cycle } = sender.transmission;
      if (cycle >= TICK || !sender.due(car, tick)) continue;
      for (let later = cycle; later < TICK; later += cycle) {
        free = this.#put(sender.frame(car, later), sender, Math.max(free, at + later));
      }
    }
    return this.#batch;
  }

  /** Appends a frame that is sent when the bus is free. Returns the time when it is free again. */
  #put(data: Uint8Array, { id }: Sender, free: number): number {
    const batch = this.#batch;
    const place = batch.count++;
    const offset = place * 8;
    const end = free + onBus(data.length);
    batch.at[place] = end;
    batch.id[place] = id;
    batch.length[place] = data.length;
    batch.offset[place] = offset;
    batch.data.fill(0, offset, offset + 8);
    batch.data.set(data, offset);
    return end;
  }
}

/** Returns the phase of a message: messages of one cycle start in different ticks, to spread the load of the bus. */
function phaseOf(index: number): number {
  // GNSS follows GNSS_FIX within the tick: the receiver sends the quality of the fix, then the position.
  return transmissions[index]?.message === 'GNSS' ? index - 1 : index;
}

/** Sends one message repeatedly. */
class Sender {
  readonly transmission: CyclicMessage;
  readonly id: number;
  readonly #codec: MessageCodec;
  /** Period in ticks, and the tick within the period. */
  readonly #ticks: number;
  readonly #phase: number;
  readonly #guard: Guard | undefined;
  #sent = 0;
  /** Values sent last, and their frame with counter and checksum 0. */
  #values: Values = {};
  #names: readonly string[] = [];
  #data: Uint8Array;

  constructor(codec: MessageCodec, transmission: CyclicMessage, phase: number) {
    this.transmission = transmission;
    this.#codec = codec;
    this.#ticks = Math.max(1, transmission.cycle / TICK);
    this.#phase = phase % this.#ticks;
    const { id, data } = codec.encode(transmission.message, {});
    this.id = id;
    this.#data = data;
    this.#guard = transmission.secured === true ? guardOf(codec, transmission.message) : undefined;
  }

  due({ scene }: SimulatedVehicle, tick: number): boolean {
    if (tick % this.#ticks !== this.#phase || scene.network === 'Asleep') return false;
    if (scene.silent.includes(this.transmission.message)) return false;
    const { while: condition } = this.transmission;
    if (scene.network === 'Charging') return condition === 'Charging';
    return condition !== 'Ignition' || scene.ignition !== 'Stop';
  }

  /** Returns the frame that is sent `later` ms after the start of the tick. Valid until the next call. */
  frame(car: SimulatedVehicle, later: number): Uint8Array {
    const count = this.#sent++;
    const values = this.transmission.values(car, count, later);
    // Most messages repeat their last values; encoding them again would be most of the work.
    if (count === 0 || this.#names.some((name) => values[name] !== this.#values[name])) {
      this.#values = values;
      this.#names = Object.keys(values);
      this.#data = this.#codec.encode(this.transmission.message, values).data;
    }
    return this.#guard === undefined ? this.#data : guarded(this.#data, this.#guard, count % 16);
  }
}

/** Position of a message's counter and checksum: the bytes, and the lowest bit of the counter. */
interface Guard {
  readonly counter: number;
  readonly shift: number;
  readonly checksum: number;
}

function guardOf(codec: MessageCodec, message: string): Guard {
  const counted = codec.encode(message, { Counter: 1 }).data;
  const checked = codec.encode(message, { Checksum: 255 }).data;
  const counter = counted.findIndex((byte) => byte !== 0);
  return { counter, shift: Math.log2(counted[counter] as number), checksum: checked.indexOf(255) };
}

/** Returns the frame with its counter and its checksum: the exclusive or of all other bytes. */
function guarded(data: Uint8Array, { counter, shift, checksum }: Guard, count: number): Uint8Array {
  const frame = data.slice();
  frame[counter] = (frame[counter] as number) | (count << shift);
  frame[checksum] = frame.reduce((sum, byte) => sum ^ byte, 0);
  return frame;
}
