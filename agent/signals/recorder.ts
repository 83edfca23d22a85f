import { type Deflate, portableDeflate } from '../../protocol/columns/deflate.ts';
import type { Condition, CustomSignal } from '../../protocol/profile.ts';
import { type TimeResolution, telemetryBounds } from '../../protocol/schema/telemetry.ts';
import { hexOf } from '../../protocol/signals/hash.ts';
import { type SignalReading, telemetryFromSignals } from '../../protocol/signals/telemetry.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import { PARTS, type Patience, type Recorder, unchanged } from '../recorders/recorder.ts';
import type { Records } from '../records.ts';
import { Conditions } from './conditions.ts';
import type { NumberedCatalog } from './numbers.ts';
import type { Signals } from './signals.ts';

/** Readings may arrive out of order by this many ms; a larger step back is a step of the clock. */
const STEP = 10_000;
/** Number of readings after which a batch is closed. */
const READINGS = 1_000;
/** Longest duration of a batch in ms: each second is a part of the state. */
const LONGEST = PARTS * 1_000 - 4_000;

export interface SignalRecorderOptions {
  readonly deflate?: Deflate | undefined;
  /** Longest time in ms for which readings are collected into one message. */
  readonly batch?: number | undefined;
  readonly patience?: Patience | undefined;
}

/** Persisted second of an open batch: the catalog, and number, time, count of each reading in a row. */
type Draft = readonly [catalog: string, readings: readonly number[]];

/**
 * Records readings of custom signals by the rules of telemetry: on change, at most one per interval (the last of the
 * interval is stored), beyond the dead-band, and a heartbeat while readings repeat the same value. The last records are
 * not stored across a restart: each signal is recorded again then.
 */
export class SignalRecorder implements Recorder {
  readonly name = 'signals';
  readonly watches: readonly Slot[];
  readonly #signals: Signals;
  readonly #numbers: NumberedCatalog;
  readonly #records: Pick<Records, 'append'>;
  readonly #deflate: Deflate;
  readonly #age: number;
  readonly #patience: Patience;
  readonly #interval: Float64Array;
  readonly #heartbeat: Float64Array;
  /** Smallest change that is recorded, in counts. */
  readonly #band: Float64Array;
  readonly #conditions: Conditions;
  /** Index of each signal's condition, or -1. */
  readonly #condition: Int16Array;
  readonly #timeResolution: ReadonlyMap<number, TimeResolution>;
  /** Last recorded count, or NaN. Its time is in whole ms. */
  readonly #count: Float64Array;
  readonly #at: Float64Array;
  /** Changes that the interval holds back. */
  readonly #held = new Map<number, { count: number; at: number }>();
  readonly #hidden: Uint8Array;
  #seconds: SignalReading[][] = [[]];
  #readings = 0;
  #written = 0;

  constructor(
    custom: readonly CustomSignal[],
    parts: { signals: Signals; numbers: NumberedCatalog; status: StatusReader; records: Pick<Records, 'append'> },
    { deflate = portableDeflate, batch = LONGEST, patience = unchanged }: SignalRecorderOptions,
  ) {
    this.#signals = parts.signals;
    this.#numbers = parts.numbers;
    this.#records = parts.records;
    this.#deflate = deflate;
    this.#age = Math.min(batch, LONGEST);
    this.#patience = patience;
    this.#interval = Float64Array.from(custom, ({ rule }) => rule.interval);
    this.#heartbeat = Float64Array.from(custom, ({ rule }) => rule.heartbeat);
    this.#band = Float64Array.from(custom, bandOf);
    const conditions = new Map<string, Condition>();
    this.#condition = Int16Array.from(custom, ({ while: condition }) => {
      if (condition === undefined) return -1;
      const text = JSON.stringify(condition);
      conditions.set(text, condition);
      return [...conditions.keys()].indexOf(text);
    });
    this.#conditions = new Conditions(parts.status, [...conditions.values()]);
    this.watches = this.#conditions.slots;
    this.#timeResolution = new Map(
      custom.map(({ rule }, place) => [this.#numbers.numbers[place] as number, rule.resolution ?? 1]),
    );
    this.#count = new Float64Array(custom.length).fill(Number.NaN);
    this.#at = new Float64Array(custom.length).fill(Number.NEGATIVE_INFINITY);
    this.#hidden = new Uint8Array(custom.length);
    this.#signals.observe({
      changed: (place, count, at) => this.#take(place, count, at),
      absent: (place) => this.#forget(place),
    });
  }

  /** Re-evaluates the conditions that use the slot. */
  changed(slot: Slot, _value: unknown, _previous: unknown, at: number): void {
    this.#turn(this.#conditions.look(at, slot), at);
  }

  removed(slot: Slot, _previous: unknown, at: number): void {
    this.#turn(this.#conditions.look(at, slot), at);
  }

  /** Sets the only condition, valid from `at` on, for callers that determine it for the time of a reading. */
  turn(does: boolean, at: number): void {
    this.#turn(this.#conditions.turn(0, does), at);
  }

  /** Evaluates the conditions again. */
  look(now: number): void {
    this.#turn(this.#conditions.look(now), now);
  }

  tick(now: number): void {
    this.look(now);
    for (const [place, { count, at }] of this.#held) {
      if (passed(this.#at[place] as number, now, this.#interval[place] as number)) this.#record(place, count, at);
    }
    for (let place = 0; place < this.#at.length; place++) {
      const at = this.#at[place] as number;
      const hidden = this.#signals.hidden(place) ? 1 : 0;
      if (hidden !== this.#hidden[place]) this.#hide(place, hidden, now);
      // The clock stepped back: the wait starts again.
      else if (now < at - STEP) this.#at[place] = Math.round(now);
      else if (passed(at, now, this.#heartbeat[place] as number) && this.#lives(place, at, now)) {
        this.#record(place, this.#signals.count(place), now);
      }
    }
    const first = this.#seconds[0]?.[0];
    if (first === undefined) return;
    const isOver = now - first.at >= this.#patience(this.#age) || now < first.at - STEP;
    if (this.#readings >= READINGS || isOver) this.#close();
    else if ((this.#seconds.at(-1) as SignalReading[]).length > 0) this.#seconds.push([]);
  }

  flush(): void {
    for (const [place, { count, at }] of this.#held) this.#record(place, count, at);
    this.#close();
  }

  *parts(): Generator<readonly [number, unknown]> {
    const catalog = hexOf(this.#numbers.catalog);
    const seconds = this.#seconds.filter((second) => second.length > 0);
    for (const [key, second] of seconds.entries()) {
      yield [key, [catalog, second.flatMap(({ number, at, count }) => [number, at, count])] satisfies Draft];
    }
    for (let key = seconds.length; key < this.#written; key++) yield [key, undefined];
    this.#written = seconds.length;
  }

  /** Readings of the signal with this number in the open batch, with the times that will be sent. */
  *gathered(number: number): Generator<SignalReading> {
    const step = this.#timeResolution.get(number) ?? 1;
    for (const second of this.#seconds) {
      for (const reading of second) {
        if (reading.number === number) yield { ...reading, at: Math.round(reading.at / step) * step };
      }
    }
  }

  /** Closes a batch of an earlier profile at once: its numbers are those of the earlier catalog. */
  restoreParts(parts: readonly unknown[]): void {
    this.#written = PARTS;
    const present = hexOf(this.#numbers.catalog);
    const earlier = new Map<string, SignalReading[]>();
    this.#seconds = [];
    for (const [catalog, numbers] of parts as readonly Draft[]) {
      const readings: SignalReading[] = [];
      for (let i = 0; i < numbers.length; i += 3) {
        readings.push({ number: numbers[i] as number, at: numbers[i + 1] as number, count: numbers[i + 2] as number });
      }
      if (catalog === present) {
        this.#seconds.push(readings);
        this.#readings += readings.length;
      } else earlier.set(catalog, [...(earlier.get(catalog) ?? []), ...readings]);
    }
    if (this.#seconds.length === 0) this.#seconds.push([]);
    for (const [catalog, readings] of earlier) this.#append(bytesOf(catalog), readings);
  }

  correct(by: number, latest: number): void {
    const later = (at: number): number => (at <= latest ? at + by : at);
    this.#seconds = this.#seconds.map((second) => second.map((reading) => ({ ...reading, at: later(reading.at) })));
    for (const [place, at] of this.#at.entries()) this.#at[place] = later(at);
    for (const held of this.#held.values()) held.at = later(held.at);
  }

  /** Records a change of value, if the rules allow it. */
  #take(place: number, count: number, at: number): void {
    // This observer is not called for a hidden signal, so the signal is visible.
    this.#hidden[place] = 0;
    if (!this.#wanted(place)) return;
    // A signal without a record has NaN, and no difference to NaN is less than a dead-band.
    if (Math.abs(count - (this.#count[place] as number)) < (this.#band[place] as number)) {
      this.#held.delete(place);
      return;
    }
    const interval = this.#interval[place] as number;
    // Times are stored in whole ms, so the previous reading may seem to be the later one.
    if (interval === 0 || passed(this.#at[place] as number, at, interval)) this.#record(place, count, at);
    else this.#held.set(place, { count, at: Math.round(at) });
  }

  /** Discards the record of a signal without a value, so that no heartbeat or held change follows. */
  #forget(place: number): void {
    this.#held.delete(place);
    this.#count[place] = Number.NaN;
    this.#at[place] = Number.NEGATIVE_INFINITY;
  }

  #wanted(place: number): boolean {
    const condition = this.#condition[place] as number;
    return condition < 0 || this.#conditions.hold(condition);
  }

  /** Returns true if the signal was read again since its record, and is fresh. */
  #lives(place: number, at: number, now: number): boolean {
    if (at === Number.NEGATIVE_INFINITY || !this.#wanted(place)) return false;
    return this.#signals.seenAt(place) > at && this.#signals.fresh(place, now);
  }

  /** Records the present values of newly admitted signals after a change of conditions. */
  #turn(conditions: readonly number[], at: number): void {
    if (conditions.length === 0) return;
    for (let place = 0; place < this.#condition.length; place++) {
      if (!conditions.includes(this.#condition[place] as number)) continue;
      this.#forget(place);
      if (this.#wanted(place) && this.#signals.fresh(place, at)) this.#record(place, this.#signals.count(place), at);
    }
  }

  /** Applies a change of privacy for a signal. */
  #hide(place: number, hidden: number, now: number): void {
    this.#hidden[place] = hidden;
    this.#forget(place);
    if (hidden === 0 && this.#wanted(place) && this.#signals.fresh(place, now)) {
      this.#record(place, this.#signals.count(place), now);
    }
  }

  #record(place: number, count: number, at: number): void {
    this.#held.delete(place);
    const when = Math.round(at);
    this.#count[place] = count;
    this.#at[place] = when;
    (this.#seconds.at(-1) as SignalReading[]).push({
      number: this.#numbers.numbers[place] as number,
      count,
      at: when,
    });
    this.#readings++;
    if (this.#readings >= telemetryBounds.readings) this.#close();
  }

  #close(): void {
    const readings = this.#seconds.flat();
    this.#seconds = [[]];
    this.#readings = 0;
    if (readings.length > 0) this.#append(this.#numbers.catalog, readings);
  }

  #append(catalog: Uint8Array, readings: readonly SignalReading[]): void {
    let from = Number.POSITIVE_INFINITY;
    for (const { at } of readings) if (at < from) from = at;
    const resolution = (number: number): TimeResolution => this.#timeResolution.get(number) ?? 1;
    this.#records.append(
      'signals',
      telemetryFromSignals(readings, { catalog, resolution, deflate: this.#deflate }),
      from,
    );
  }
}

/** Returns the dead-band as a number of counts: a value that changes by at least the band changes by this count. */
function bandOf({ kind, resolution = 1, rule }: CustomSignal): number {
  // The quotient of two decimals is not exact: 0.3 / 0.1 is less than 3.
  return kind === 'quantity' ? Math.ceil(rule.deadBand / Math.abs(resolution) - 1e-6) : 0;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Returns true if `span` ms have passed since `from`, or if the clock stepped back, so that this cannot be known. */
function passed(from: number, now: number, span: number): boolean {
  return now - from >= span || now < from - STEP;
}
