/** Decodes the signals of J1939 groups that consist of several packets, and delivers them like other signals. */

import type { FrameBatch, FrameDecoder, ReadingSink, WantedSignal } from '../../../agent/ports.ts';
import { reachesPowerOfTwo } from '../../../protocol/powers-of-two.ts';
import { type BoundDatabase, DbcDecoder } from '../dbc/index.ts';
import { append, createBatch, slice } from '../frames.ts';
import { J1939Transport } from './transport.ts';

/** Bytes of a frame of classic CAN: a longer group has several packets. */
const FRAME_BYTES = 8;

/** Bytes of a group that the decoder reads. `check` refuses signals beyond them. */
const MAX_READ_BYTES = 64;

/**
 * Limits in a car: the groups of the transport protocol for up to 1,785 bytes, from more control units than a bus has.
 * All of them take at most 130 kB.
 */
const CAR_LIMITS = { maxBytes: 1785, maxSessions: 64 };

/** Receives the number of lost groups since the start, at each power of two. */
export type GroupLossListener = (groups: number) => void;

/**
 * Returns a decoder of the wanted signals. It puts groups together only if a wanted signal is in one.
 * @param lost called when groups were lost; if omitted, their loss is not reported
 */
export function frameDecoder(
  wanted: readonly WantedSignal[],
  bound: readonly BoundDatabase[],
  buses: readonly string[],
  lost: GroupLossListener = () => undefined,
): FrameDecoder {
  const decoder = new DbcDecoder(wanted, bound, buses);
  const names = new Set(wanted.map(({ message }) => message));
  const inGroups = bound.some(({ database }) =>
    database.messages.some(
      ({ name, symbol, j1939, length }) => j1939 && length > FRAME_BYTES && (names.has(name) || names.has(symbol)),
    ),
  );
  return inGroups ? new GroupDecoder(decoder, lost) : decoder;
}

/** Decodes frames, and groups when their last packet arrives. */
class GroupDecoder implements FrameDecoder {
  readonly #decoder: FrameDecoder;
  readonly #transport = new J1939Transport(CAR_LIMITS);
  readonly #lost: GroupLossListener;
  /** Number of lost groups before the present batch. */
  #lostBefore = 0;
  readonly #group = createBatch(1, MAX_READ_BYTES);

  constructor(decoder: FrameDecoder, lost: GroupLossListener) {
    this.#decoder = decoder;
    this.#lost = lost;
  }

  decode(batch: FrameBatch, sink: ReadingSink): void {
    const { id, bus, at, data, offset, length } = batch;
    let decoded = 0;
    for (let i = 0; i < batch.count; i++) {
      const group = this.#transport.receive(id[i]!, bus[i]!, at[i]!, data, offset[i]!, length[i]!);
      if (group === undefined) continue;
      this.#decoder.decode(slice(batch, decoded, i + 1), sink);
      decoded = i + 1;
      this.#group.count = 0;
      append(this.#group, group.at, group.id, group.bus, 0, group.data, Math.min(group.data.length, MAX_READ_BYTES));
      this.#decoder.decode(this.#group, sink);
    }
    if (decoded === 0) this.#decoder.decode(batch, sink);
    else if (decoded < batch.count) this.#decoder.decode(slice(batch, decoded, batch.count), sink);
    const { lostCount } = this.#transport;
    if (lostCount === this.#lostBefore) return;
    if (reachesPowerOfTwo(this.#lostBefore, lostCount)) this.#lost(lostCount);
    this.#lostBefore = lostCount;
  }
}
