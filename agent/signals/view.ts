/** Custom signals as clients read them: definitions, present values and history. */
import type { CustomSignal, TextSignal } from '../../protocol/profile.ts';
import type { Telemetry } from '../../protocol/schema/telemetry.ts';
import type { SignalText } from '../../protocol/schema/text.ts';
import { signalSeries } from '../../protocol/signals/telemetry.ts';
import { type ShownDefinition, type SignalValue, valuesOf } from '../../protocol/signals/values.ts';
import type { RecordStore } from '../ports.ts';
import { definitionOf, type SignalNumbers } from './numbers.ts';
import type { SignalRecorder } from './recorder.ts';
import type { Signals } from './signals.ts';
import type { Texts } from './texts.ts';

/** Longest time span in ms of a piece: a minute, and the longest delay of a reading. */
const PIECE = 120_000;

/** A signal with its present value. */
export interface PresentSignal {
  readonly definition: ShownDefinition;
  /** True if the signal contains the position of the car. */
  readonly position: boolean;
  /** Undefined if the signal has none, or privacy hides it. */
  readonly value: SignalValue | undefined;
  /** Time of the reading that last changed the value, UTC ms. Undefined without a value. */
  readonly changedAt: number | undefined;
  readonly stale: boolean;
}

export interface SignalSample {
  /** UTC ms. */
  readonly at: number;
  readonly value: SignalValue;
}

/** Reader of custom signals for the interfaces. */
export interface SignalView {
  /** Returns all signals in the order of the profile. */
  all(now: number): Iterable<PresentSignal>;
  get(name: string, now: number): PresentSignal | undefined;
  /** Returns records with `from` ≤ at < `to`, UTC ms, ascending, also those of earlier profiles with the same name. */
  history(name: string, from: number, to: number): SignalSample[];
  /** Calls `changed` at each change, until the returned function is called. */
  follow(changed: (name: string, at: number) => void): () => void;
}

interface RecordedParts {
  readonly signals: Signals;
  readonly numbers: SignalNumbers;
  readonly kept: Pick<RecordStore, 'list'>;
  readonly recorder: Pick<SignalRecorder, 'gathered'>;
}

/** Reads recorded signals. Indexes from that of the first text signal on belong to text signals. */
export class RecordedSignals implements SignalView {
  readonly #custom: readonly CustomSignal[];
  readonly #signals: Signals;
  readonly #numbers: SignalNumbers;
  readonly #records: Pick<RecordStore, 'list'>;
  readonly #recorder: Pick<SignalRecorder, 'gathered'>;
  readonly #textual: readonly TextSignal[];
  readonly #texts: Texts;
  readonly #places: ReadonlyMap<string, number>;
  readonly #values: readonly ((count: number) => SignalValue)[];
  readonly #followers = new Set<(name: string, at: number) => void>();

  constructor(
    custom: readonly CustomSignal[],
    { signals, numbers, kept, recorder }: RecordedParts,
    textual: readonly TextSignal[],
    texts: Texts,
  ) {
    this.#custom = custom;
    this.#signals = signals;
    this.#numbers = numbers;
    this.#records = kept;
    this.#recorder = recorder;
    this.#textual = textual;
    this.#texts = texts;
    this.#places = new Map([...custom, ...textual].map(({ name }, place) => [name, place]));
    this.#values = custom.map(valuesOf);
    const tell = (place: number, at: number): void => {
      const { name } = (custom[place] ?? textual[place - custom.length]) as TextSignal;
      for (const follower of this.#followers) follower(name, at);
    };
    signals.observe({ changed: (place, _count, at) => tell(place, at), absent: tell });
    texts.observe((place, at) => tell(custom.length + place, at));
  }

  *all(now: number): Generator<PresentSignal> {
    for (let place = 0; place < this.#places.size; place++) yield this.#present(place, now);
  }

  get(name: string, now: number): PresentSignal | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#present(place, now);
  }

  history(name: string, from: number, to: number): SignalSample[] {
    if ((this.#places.get(name) ?? 0) >= this.#custom.length) return this.#textHistory(name, from, to);
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
      // Records of an earlier profile are in pieces: a batch is closed when the profile changes.
      for (const { at, count } of this.#recorder.gathered(this.#numbers.numbers[place] as number)) {
        if (at >= from && at < to) samples.push({ at, value: value(count) });
      }
    }
    // Pieces may overlap because of late readings.
    return samples.sort((a, b) => a.at - b.at);
  }

  follow(changed: (name: string, at: number) => void): () => void {
    this.#followers.add(changed);
    return () => this.#followers.delete(changed);
  }

  #textHistory(name: string, from: number, to: number): SignalSample[] {
    const texts = [...this.#records.list('text', from, to)].map(({ record }) => record as SignalText);
    return texts.filter((one) => one.name === name).map(({ at, text }) => ({ at, value: text }));
  }

  #present(place: number, now: number): PresentSignal {
    const custom = this.#custom[place];
    if (custom === undefined) return this.#presentText(place - this.#custom.length, now);
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

  #presentText(place: number, now: number): PresentSignal {
    const { name, position } = this.#textual[place] as TextSignal;
    const value = this.#texts.text(place);
    return {
      definition: { name, kind: 'text' },
      position,
      value,
      changedAt: value === undefined ? undefined : this.#texts.changedAt(place),
      stale: value !== undefined && !this.#texts.fresh(place, now),
    };
  }
}
