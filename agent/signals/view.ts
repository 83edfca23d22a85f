/** Custom signals as readers see them: what they are, say, and said. */
import type { CustomSignal } from '../../protocol/profile.ts';
import type { SignalDefinition } from '../../protocol/schema/catalog.ts';
import type { Telemetry } from '../../protocol/schema/telemetry.ts';
import { signalSeries } from '../../protocol/signals/telemetry.ts';
import { type SignalValue, valuesOf } from '../../protocol/signals/values.ts';
import type { RecordStore } from '../ports.ts';
import { definitionOf, type SignalNumbers } from './numbers.ts';
import type { SignalRecorder } from './recorder.ts';
import type { Signals } from './signals.ts';

/** No piece spans more: a minute, and what a reading may come late. ms */
const PIECE = 120_000;

/** A signal as it stands now. */
export interface PresentSignal {
  readonly definition: SignalDefinition;
  /** It says where the car is. */
  readonly position: boolean;
  /** Undefined: it has none, or privacy hides it. */
  readonly value: SignalValue | undefined;
  /** UTC ms of the reading that made the value what it is; undefined without a value. */
  readonly changedAt: number | undefined;
  readonly stale: boolean;
}

export interface SignalSample {
  /** UTC ms. */
  readonly at: number;
  readonly value: SignalValue;
}

/** What an interface reads of custom signals. */
export interface SignalView {
  /** In the order of the profile. */
  all(now: number): Iterable<PresentSignal>;
  get(name: string, now: number): PresentSignal | undefined;
  /** What was recorded with `from` ≤ at < `to`, UTC ms, ascending; also under earlier profiles, by the same name. */
  history(name: string, from: number, to: number): SignalSample[];
  /** Calls `changed` at each change, until the result is called. */
  follow(changed: (name: string, at: number) => void): () => void;
}

export class RecordedSignals implements SignalView {
  readonly #custom: readonly CustomSignal[];
  readonly #signals: Signals;
  readonly #numbers: SignalNumbers;
  readonly #records: Pick<RecordStore, 'list'>;
  readonly #recorder: Pick<SignalRecorder, 'gathered'>;
  readonly #places: ReadonlyMap<string, number>;
  readonly #values: readonly ((count: number) => SignalValue)[];
  readonly #followers = new Set<(name: string, at: number) => void>();

  constructor(
    custom: readonly CustomSignal[],
    signals: Signals,
    numbers: SignalNumbers,
    records: Pick<RecordStore, 'list'>,
    recorder: Pick<SignalRecorder, 'gathered'>,
  ) {
    this.#custom = custom;
    this.#signals = signals;
    this.#numbers = numbers;
    this.#records = records;
    this.#recorder = recorder;
    this.#places = new Map(custom.map(({ name }, place) => [name, place]));
    this.#values = custom.map(valuesOf);
    const tell = (place: number, at: number): void => {
      const { name } = custom[place] as CustomSignal;
      for (const follower of this.#followers) follower(name, at);
    };
    signals.observe({ changed: (place, _count, at) => tell(place, at), absent: tell });
  }

  *all(now: number): Generator<PresentSignal> {
    for (let place = 0; place < this.#custom.length; place++) yield this.#present(place, now);
  }

  get(name: string, now: number): PresentSignal | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#present(place, now);
  }

  history(name: string, from: number, to: number): SignalSample[] {
    const samples: SignalSample[] = [];
    for (const { record } of this.#records.list('signals', from - PIECE, to)) {
      const telemetry = record as Telemetry;
      const entries = telemetry.signals === undefined ? [] : (this.#numbers.entriesOf(telemetry.signals.catalog) ?? []);
      const entry = entries.find((one) => one.name === name);
      if (entry === undefined) continue;
      const series = signalSeries(telemetry).find(({ slot }) => slot === entry.number);
      const value = valuesOf(entry);
      for (const [i, at] of (series?.times ?? []).entries()) {
        if (at >= from && at < to) samples.push({ at, value: value(series?.values[i] as number) });
      }
    }
    const place = this.#places.get(name);
    if (place !== undefined) {
      const value = this.#values[place] as (count: number) => SignalValue;
      // What was recorded under an earlier profile is in pieces: a batch is closed when the profile changes.
      for (const { at, count } of this.#recorder.gathered(this.#numbers.numbers[place] as number)) {
        if (at >= from && at < to) samples.push({ at, value: value(count) });
      }
    }
    // Pieces may overlap by what came late.
    return samples.sort((a, b) => a.at - b.at);
  }

  follow(changed: (name: string, at: number) => void): () => void {
    this.#followers.add(changed);
    return () => this.#followers.delete(changed);
  }

  #present(place: number, now: number): PresentSignal {
    const custom = this.#custom[place] as CustomSignal;
    const count = this.#signals.count(place);
    const known = !Number.isNaN(count);
    return {
      definition: definitionOf(custom),
      position: custom.position,
      value: known ? this.#values[place]?.(count) : undefined,
      changedAt: known ? this.#signals.changedAt(place) : undefined,
      stale: known && !this.#signals.fresh(place, now),
    };
  }
}
