import type { CustomSignal } from '../../protocol/profile.ts';
import type { CollectOrder } from '../../protocol/schema/collect.ts';
import { type ColumnSink, intakeOf } from '../model/column-intake.ts';
import type { ObservedStatus, StatusObserver } from '../model/status.ts';
import type { FrameBatch, FrameDecoder } from '../ports.ts';
import type { RecorderParts } from '../recorders/recorder.ts';
import { holds } from '../remotes/interlocks.ts';
import type { NumberedCatalog } from '../signals/numbers.ts';
import { SignalRecorder, type SignalRecorderOptions } from '../signals/recorder.ts';
import { Signals } from '../signals/signals.ts';

/** Signals of a command, resolved in the network descriptions of the profile. */
export interface PreparedCollection {
  readonly signals: readonly CustomSignal[];
  /** Returns a decoder of these signals, in this order, for a source of these buses. */
  decoder(buses: readonly string[]): FrameDecoder;
}

interface RunningParts extends SignalRecorderOptions {
  readonly status: RecorderParts['status'];
  readonly records: Pick<RecorderParts['records'], 'append'>;
  readonly privacy: RecorderParts['privacy'];
}

/** A running collection: its own values and recorder, and a decoder for each source of frames. */
export class RunningCollection {
  readonly order: CollectOrder;
  readonly until: number;
  readonly prepared: PreparedCollection;
  readonly catalog: NumberedCatalog;
  readonly #signals: Signals;
  readonly #recorder: SignalRecorder;
  /** Changes of the condition while a batch was applied to Status, in the order of the readings. */
  readonly #turns: { readonly does: boolean; readonly at: number }[] = [];
  readonly #ignore: () => void;
  /** Functions that process the batches of a source, by the bus names of the source. */
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
    this.#ignore = this.#observeCondition(parts.status);
  }

  /** Collects frames that were applied to Status. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    if (batch.count === 0) return;
    let intake = this.#intakes.get(buses);
    if (intake === undefined) {
      intake = intakeOf(this.prepared.decoder(buses), this.#sink);
      this.#intakes.set(buses, intake);
    }
    intake(batch);
    this.#turn(batch.at[batch.count - 1] as number);
  }

  /** Evaluates the condition. */
  look(now: number): void {
    this.#recorder.look(now);
  }

  tick(now: number): void {
    this.#turn(Number.POSITIVE_INFINITY);
    this.#recorder.tick(now);
  }

  /** Ends the collection. */
  close(): void {
    this.#ignore();
    this.flush();
  }

  flush(): void {
    this.#recorder.flush();
  }

  correct(by: number, latest: number): void {
    // Readings from before the time was known are recorded now.
    this.#signals.stepped(by);
    this.#recorder.correct(by, latest);
  }

  /** Returns the parts of the recorder's state, by key. */
  parts(): Iterable<readonly [key: number, value: unknown]> {
    return this.#recorder.parts();
  }

  restoreParts(parts: readonly unknown[]): void {
    this.#recorder.restoreParts(parts);
  }

  /** Status is updated before the same batch is collected, so this records the condition at each change. */
  #observeCondition(status: ObservedStatus): () => void {
    // All signals of a collection have the condition of its command.
    const condition = this.prepared.signals[0]?.while;
    if (condition === undefined) return () => undefined;
    const note = (at: number): void => void this.#turns.push({ does: holds(condition, { status, now: at }), at });
    const observer: StatusObserver = {
      watches: this.#recorder.watches,
      changed: (_slot, _value, _previous, at) => note(at),
      removed: (slot, _previous, at) => {
        if (this.#recorder.watches.includes(slot)) note(at);
      },
    };
    status.observe(observer);
    return () => status.unobserve(observer);
  }

  /** Sets the condition to the state that it had at `at`. */
  #turn(at: number): void {
    for (let next = this.#turns[0]; next !== undefined && next.at <= at; next = this.#turns[0]) {
      this.#turns.shift();
      this.#recorder.turn(next.does, next.at);
    }
  }

  readonly #sink: ColumnSink<Int32Array> = {
    // Readings at the end or later do not belong to the collection, even if the end is detected later.
    reading: (place, value, raw, at) => {
      if (at >= this.until) return;
      if (this.#turns.length > 0) this.#turn(at);
      this.#signals.reading(place, value, raw, at);
    },
    settled: () => undefined,
    alive: (places, at) => this.#signals.seen(Int32Array.from(places), at),
    group: (places) => Int32Array.from(places),
    aliveTogether: (places, at) => this.#signals.seen(places, at),
  };
}
