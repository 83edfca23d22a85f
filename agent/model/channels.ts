import { type Channel, channels } from '../../protocol/channels.ts';
import type { SlotValue } from '../../protocol/slots.ts';

/** Observes the values of the channels. */
export interface ChannelObserver {
  /** Called when the channel's value changes. `at` is the time of the reading, UTC ms. */
  channel(channel: Channel, value: SlotValue, at: number): void;
  /** Called once when the car reports that the channel has no value, even if it had none before. */
  channelAbsent?(channel: Channel, at: number): void;
  /** Called for each reading of a sampled channel, changed or not. Sampled channels cause no other call. */
  sample?(channel: Channel, value: SlotValue, at: number): void;
}

/** The present value of each channel. Only the mapping writes it. */
export class Channels {
  readonly #values: (SlotValue | undefined)[] = new Array(channels.length).fill(undefined);
  readonly #seenAt = new Float64Array(channels.length).fill(Number.NEGATIVE_INFINITY);
  readonly #timeout = new Float64Array(channels.length).fill(Number.POSITIVE_INFINITY);
  readonly #observers: ChannelObserver[] = [];
  /** Observers of samples: hundreds of calls a second. */
  readonly #samplers: Required<ChannelObserver>[] = [];

  observe(observer: ChannelObserver): void {
    this.#observers.push(observer);
    if (takesSamples(observer)) this.#samplers.push(observer);
  }

  value(channel: Channel): SlotValue | undefined {
    return this.#values[channel.index];
  }

  /** Returns the time of the channel's last reading, UTC ms, changed or not; -Infinity if there was none. */
  seenAt(channel: Channel): number {
    return this.#seenAt[channel.index] as number;
  }

  /** Sets the time-out of a channel: a value older than `timeout` ms is no longer fresh. */
  expireAfter(channel: Channel, timeout: number): void {
    this.#timeout[channel.index] = timeout;
  }

  /** Returns true if the channel was read within its time-out before `now`, UTC ms. */
  fresh(channel: Channel, now: number): boolean {
    const age = now - this.seenAt(channel);
    // As in Status: a reading from the future has no known age.
    return age >= -1000 && age !== Number.POSITIVE_INFINITY && age <= (this.#timeout[channel.index] as number);
  }

  /** Writes a reading that is already quantised and within the channel's range. */
  write(channel: Channel, value: SlotValue, at: number): void {
    const { index } = channel;
    this.#seenAt[index] = at;
    if (channel.sampled) {
      this.#values[index] = value;
      for (const observer of this.#samplers) observer.sample(channel, value, at);
    } else if (this.#values[index] !== value) {
      this.#values[index] = value;
      for (const observer of this.#observers) observer.channel(channel, value, at);
    }
  }

  /** Call when the car reports that the channel has no value: the next value counts as a change. */
  clear(channel: Channel, at: number): void {
    const { index } = channel;
    const known = this.#values[index] !== undefined || this.#seenAt[index] === Number.NEGATIVE_INFINITY;
    this.#seenAt[index] = at;
    if (!known) return;
    this.#values[index] = undefined;
    for (const observer of this.#observers) observer.channelAbsent?.(channel, at);
  }

  /** Records that a channel that is not sampled repeats its value. Returns false if the value differs. */
  confirm(index: number, value: SlotValue, at: number): boolean {
    if (this.#values[index] !== value) return false;
    this.#seenAt[index] = at;
    return true;
  }

  /** Does the same as {@link seen} for the channels with these indexes, none of them sampled. */
  seenAll(indexes: Int32Array, at: number): void {
    const seenAt = this.#seenAt;
    for (let i = 0; i < indexes.length; i++) {
      const index = indexes[i] as number;
      if (this.#values[index] !== undefined) seenAt[index] = at;
    }
  }

  /** Call after the clock was stepped forward by `by` ms. Shifts the times, or old values would count as fresh. */
  stepped(by: number): void {
    for (const [index, at] of this.#seenAt.entries()) this.#seenAt[index] = at + by;
  }

  /** Call when the channel's source repeated its value: in a sampled channel this is a sample. */
  seen(channel: Channel, at: number): void {
    const value = this.#values[channel.index];
    if (value !== undefined) this.write(channel, value, at);
  }
}

function takesSamples(observer: ChannelObserver): observer is Required<ChannelObserver> {
  return observer.sample !== undefined;
}
