import type { CustomSignal } from '../../protocol/profile.ts';
import type { CollectOrder } from '../../protocol/schema/collect.ts';
import { type ColumnSink, intakeOf } from '../column-intake.ts';
import type { FrameBatch, FrameDecoder } from '../ports.ts';
import type { RecorderParts } from '../recorders/recorder.ts';
import type { NumberedCatalog } from '../signals/numbers.ts';
import { SignalRecorder, type SignalRecorderOptions } from '../signals/recorder.ts';
import { Signals } from '../signals/signals.ts';

/** What a command asks for, found in the network descriptions of the profile. */
export interface PreparedCollection {
  readonly signals: readonly CustomSignal[];
  /** A decoder of these signals, in this order, for a source of these buses. */
  decoder(buses: readonly string[]): FrameDecoder;
}

export interface RunningParts extends SignalRecorderOptions {
  readonly status: RecorderParts['status'];
  readonly records: Pick<RecorderParts['records'], 'append'>;
  /** Level of privacy: 0 nothing is hidden, 1 positions, 2 all. */
  readonly privacy: () => number;
}

/** A collection that is running: its own values and recorder, and a decoder for each source of frames. */
export class RunningCollection {
  readonly order: CollectOrder;
  readonly until: number;
  readonly prepared: PreparedCollection;
  readonly catalog: NumberedCatalog;
  readonly #signals: Signals;
  readonly #recorder: SignalRecorder;
  /** By the names of the buses of a source. */
  readonly #intakes = new Map<readonly string[], (batch: FrameBatch) => void>();

  constructor(order: CollectOrder, prepared: PreparedCollection, catalog: NumberedCatalog, parts: RunningParts) {
    this.order = order;
    this.until = order.until ?? 0;
    this.prepared = prepared;
    this.catalog = catalog;
    this.#signals = new Signals(prepared.signals, parts.privacy);
    this.#recorder = new SignalRecorder(
      prepared.signals,
      { signals: this.#signals, numbers: catalog, status: parts.status, records: parts.records },
      parts,
    );
  }

  /** Takes frames that have become Status. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    if (batch.count === 0) return;
    if (this.order.while !== undefined) this.#recorder.look(batch.at[batch.count - 1] as number);
    let intake = this.#intakes.get(buses);
    if (intake === undefined) {
      intake = intakeOf(this.prepared.decoder(buses), this.#sink);
      this.#intakes.set(buses, intake);
    }
    intake(batch);
  }

  tick(now: number): void {
    this.#recorder.tick(now);
  }

  flush(): void {
    this.#recorder.flush();
  }

  correct(by: number, latest: number): void {
    this.#recorder.correct(by, latest);
  }

  /** As those of a recorder. */
  parts(): Iterable<readonly [key: number, value: unknown]> {
    return this.#recorder.parts();
  }

  restoreParts(parts: readonly unknown[]): void {
    this.#recorder.restoreParts(parts);
  }

  readonly #sink: ColumnSink<Int32Array> = {
    // What was read at the end or later is not a part of it, even if the end is noticed later.
    reading: (place, value, raw, at) => {
      if (at < this.until) this.#signals.reading(place, value, raw, at);
    },
    settled: () => undefined,
    alive: (places, at) => this.#signals.seen(Int32Array.from(places), at),
    group: (places) => Int32Array.from(places),
    aliveTogether: (places, at) => this.#signals.seen(places, at),
  };
}
