/** Memory that recvmmsg(2) fills, and the conversion of its messages into columns. */
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, FD, type FrameBatch, SENT } from '../../../agent/ports.ts';
import { createBatch, nextOffset, span } from '../frames.ts';
import {
  CAN_MTU,
  CANFD_BRS,
  CANFD_ESI,
  CANFD_MTU,
  MSG_CONFIRM,
  MSG_TRUNC,
  SO_RXQ_OVFL,
  SO_TIMESTAMPNS_NEW,
  SO_TIMESTAMPNS_OLD,
  SOL_SOCKET,
} from './constants.ts';
import type { ErrorCounts } from './error-frames.ts';
import { cmsgAlign, cmsgSpace, layoutFor, type StructLayout } from './layouts.ts';
import type { Libc } from './libc.ts';

/** Payload offset in `struct can_frame` and `struct canfd_frame`, after identifier, length, flags and two bytes. */
const PAYLOAD = 8;

/**
 * One memory block for `slots` messages, with their addresses, so that a batch costs one call and no allocation:
 *
 *     [ mmsghdr × slots | iovec × slots | control data × slots | frames × slots ]
 */
export class ReceiveRing {
  /** Result of the last {@link receive}. */
  readonly batch: FrameBatch;
  readonly slots: number;
  /** Number of frames that the socket has dropped since it was opened, as last reported (SO_RXQ_OVFL). */
  dropped = 0;
  /** Number of messages that are not frames according to the kernel's documentation. They are not delivered. */
  malformed = 0;
  /** Identifiers, with EXTENDED bit, of this socket's own frames among the last messages. */
  readonly echoes: number[] = [];
  readonly memory: Uint8Array;
  /** Offsets of the parts of slot 0 in `memory`, and the distances between slots. */
  readonly places: {
    readonly control: number;
    readonly controlSpace: number;
    readonly frames: number;
  };
  readonly layout: StructLayout;
  readonly #libc: Pick<Libc, 'receiveMany'>;
  readonly #words: Uint32Array;
  readonly #errors: ErrorCounts;
  readonly #own: boolean;
  /** Number of slots whose header the kernel has changed. */
  #used = 0;

  /** @param own true to add this socket's own frames to the batch, flagged SENT */
  constructor(
    libc: Pick<Libc, 'pointerSize' | 'address' | 'receiveMany'>,
    errors: ErrorCounts,
    own: boolean,
    slots = 256,
  ) {
    const layout = layoutFor(libc.pointerSize);
    const { mmsghdr, iovec } = layout;
    // Room for two control messages, rounded up to 8 bytes so that every part is aligned.
    const controlSpace = (cmsgSpace(layout, 16) + cmsgSpace(layout, 4) + 7) & ~7;
    const control = slots * (mmsghdr.size + iovec.size);
    const frames = control + slots * controlSpace;
    const buffer = new ArrayBuffer(frames + slots * CANFD_MTU);
    this.#libc = libc;
    this.#errors = errors;
    this.#own = own;
    this.layout = layout;
    this.slots = slots;
    this.places = { control, controlSpace, frames };
    this.memory = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.batch = createBatch(slots, slots * 64);
    this.#address(libc.address(buffer), slots);
    this.#used = slots;
    this.#reset();
  }

  /**
   * Reads up to {@link slots} messages from the socket into {@link batch}.
   * @param now UTC ms, for messages without a time stamp
   * @returns the number of messages, or a negative errno (the batch is then empty)
   */
  receive(descriptor: number, now: number): number {
    this.#reset();
    const count = this.#libc.receiveMany(descriptor, this.memory, this.slots);
    this.take(Math.max(0, count), now);
    return count;
  }

  /** Converts the first `count` messages in memory into {@link batch}. */
  take(count: number, now: number): void {
    const { mmsghdr } = this.layout;
    const words = this.#words;
    this.batch.count = 0;
    this.echoes.length = 0;
    this.#used = count;
    for (let i = 0; i < count; i++) {
      const header = i * mmsghdr.size;
      const at = this.#control(i, words[(header + mmsghdr.controllen) >> 2] as number);
      const length = words[(header + mmsghdr.len) >> 2] as number;
      const flags = words[(header + mmsghdr.flags) >> 2] as number;
      this.#frame(this.places.frames + i * CANFD_MTU, length, flags, at === 0 ? now : at);
    }
  }

  #frame(place: number, size: number, messageFlags: number, at: number): void {
    const { batch, memory } = this;
    const words = this.#words;
    const length = memory[place + 4] as number;
    const flexible = size === CANFD_MTU;
    if ((!flexible && size !== CAN_MTU) || (messageFlags & MSG_TRUNC) !== 0 || length > size - PAYLOAD) {
      this.malformed++;
      return;
    }
    const id = words[place >> 2] as number;
    if ((id & ERROR) !== 0) this.#errors.count(id, memory[place + PAYLOAD + 1] as number);
    else this.#errors.isOff = false;
    let flags = 0;
    if ((messageFlags & MSG_CONFIRM) !== 0) {
      this.echoes.push(id);
      if (!this.#own) return;
      flags = SENT;
    }
    if (flexible) {
      const flagByte = memory[place + 5] as number;
      flags |=
        FD | ((flagByte & CANFD_BRS) === 0 ? 0 : BIT_RATE_SWITCH) | ((flagByte & CANFD_ESI) === 0 ? 0 : ERROR_STATE);
    }
    const offset = nextOffset(batch);
    const end = span(length);
    const { data } = batch;
    for (let i = 0; i < length; i++) data[offset + i] = memory[place + PAYLOAD + i] as number;
    // Clear the sender's bytes after the payload: they are not part of it.
    for (let i = length; i < end; i++) data[offset + i] = 0;
    const n = batch.count;
    batch.at[n] = at;
    batch.id[n] = id;
    batch.bus[n] = 0;
    batch.flags[n] = flags;
    batch.length[n] = length;
    batch.offset[n] = offset;
    batch.count = n + 1;
  }

  /** Reads the control messages of a slot. Returns the time of reception in UTC ms, or 0 if they contain no time. */
  #control(slot: number, length: number): number {
    const { layout } = this;
    const { cmsghdr } = layout;
    const words = this.#words;
    let at = 0;
    let place = this.places.control + slot * this.places.controlSpace;
    const end = place + Math.min(length, this.places.controlSpace);
    while (place + cmsghdr.size <= end) {
      const size = words[(place + cmsghdr.len) >> 2] as number;
      if (size < cmsghdr.size || place + size > end) break;
      const data = (place + cmsghdr.size) >> 2;
      if (words[(place + cmsghdr.level) >> 2] === SOL_SOCKET) {
        const type = words[(place + cmsghdr.type) >> 2];
        if (type === SO_TIMESTAMPNS_NEW) at = this.#time(data, 8);
        else if (type === SO_TIMESTAMPNS_OLD) at = this.#time(data, layout.oldNanoseconds);
        else if (type === SO_RXQ_OVFL) this.dropped = words[data] as number;
      }
      place += cmsgAlign(layout, size);
    }
    return at;
  }

  /** Returns the time in ms. `nanoseconds` is the offset of the nanoseconds, and thus the size of the seconds. */
  #time(seconds: number, nanoseconds: number): number {
    const words = this.#words;
    const high = nanoseconds === 8 ? (words[seconds + 1] as number) : 0;
    const low = words[seconds] as number;
    return (high * 2 ** 32 + low) * 1000 + (words[seconds + (nanoseconds >> 2)] as number) / 1e6;
  }

  /** Writes the addresses of all parts. Called once, because the memory never moves. */
  #address(base: bigint, slots: number): void {
    const { mmsghdr, iovec, pointerSize } = this.layout;
    const view = new DataView(this.memory.buffer);
    const pointer = (at: number, target: number): void => {
      if (pointerSize === 8) view.setBigUint64(at, base + BigInt(target), true);
      else view.setUint32(at, Number(base) + target, true);
    };
    for (let i = 0; i < slots; i++) {
      const vector = slots * mmsghdr.size + i * iovec.size;
      pointer(i * mmsghdr.size + mmsghdr.iov, vector);
      view.setUint32(i * mmsghdr.size + mmsghdr.iovlen, 1, true);
      pointer(i * mmsghdr.size + mmsghdr.control, this.places.control + i * this.places.controlSpace);
      pointer(vector + iovec.base, this.places.frames + i * CANFD_MTU);
      view.setUint32(vector + iovec.len, CANFD_MTU, true);
    }
  }

  /** Restores the capacity of the control data: the kernel has replaced it by the used size. */
  #reset(): void {
    const { mmsghdr } = this.layout;
    const words = this.#words;
    for (let i = 0; i < this.#used; i++) {
      words[(i * mmsghdr.size + mmsghdr.controllen) >> 2] = this.places.controlSpace;
    }
    this.#used = 0;
  }
}
