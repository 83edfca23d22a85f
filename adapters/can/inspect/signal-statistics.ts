/** Statistics of the signals of a network description in recordings. */
import type { FrameBatch, ReadingSink } from '../../../agent/ports.ts';
import type { DbcMessage, Signal } from '../dbc/database.ts';
import { DbcDecoder } from '../dbc/decoding/decoder.ts';
import { readable } from '../dbc/layout.ts';
import type { BoundDatabase } from '../dbc/matching.ts';

/** Maximum number of different raw values counted per signal. */
export const MOST_VALUES = 256;

/** Statistics of one signal, on all buses together. */
export class SignalStatistics {
  readonly message: DbcMessage;
  readonly signal: Signal;
  /** Number of frames with the signal. */
  count = 0;
  /** Physical values, NaN left out; infinite before the first. */
  minimum = Number.POSITIVE_INFINITY;
  maximum = Number.NEGATIVE_INFINITY;
  first = Number.NaN;
  last = Number.NaN;
  /** UTC milliseconds of the first and the latest frame that had it. */
  firstAt = Number.NaN;
  lastAt = Number.NaN;
  /** Number of changes of the value, and number of decreases. */
  changes = 0;
  falls = 0;
  /** How often each raw value was seen: the first {@link MOST_VALUES} different ones. */
  readonly raws: Map<number, number> = new Map();
  /** True if more raw values were seen than {@link raws} contains. */
  more = false;
  #raw = Number.NaN;

  constructor(message: DbcMessage, signal: Signal) {
    this.message = message;
    this.signal = signal;
  }

  add(value: number, raw: number, at: number): void {
    if (this.count === 0) {
      this.first = value;
      this.firstAt = at;
    } else if (!Object.is(raw, this.#raw)) {
      this.changes++;
      if (value < this.last) this.falls++;
    }
    if (value < this.minimum) this.minimum = value;
    if (value > this.maximum) this.maximum = value;
    this.last = value;
    this.#raw = raw;
    this.again(at);
  }

  /** Counts a frame that repeats the value. */
  again(at: number): void {
    this.count++;
    this.lastAt = at;
    const seen = this.raws.get(this.#raw);
    if (seen !== undefined || this.raws.size < MOST_VALUES) this.raws.set(this.#raw, (seen ?? 0) + 1);
    else this.more = true;
  }
}

export interface SignalOfMessage {
  readonly message: DbcMessage;
  readonly signal: Signal;
}

/** Returns the signals that frames can contain: all signals of the databases, or the chosen ones. */
export function signalsOf(
  databases: readonly BoundDatabase[],
  chosen?: ReadonlyMap<DbcMessage, readonly Signal[]>,
): SignalOfMessage[] {
  const names = new Set<string>();
  return databases
    .flatMap(({ database }) => database.messages)
    .filter(({ onBus }) => onBus)
    .flatMap((message) => {
      const signals = chosen === undefined ? message.signals : (chosen.get(message) ?? []);
      return signals.filter(readable).flatMap((signal) => {
        const name = `${message.name}.${signal.name}`;
        // If two databases have the same name, the decoder reads both.
        if (names.has(name)) return [];
        names.add(name);
        return [{ message, signal }];
      });
    });
}

/** Decodes frames and keeps {@link SignalStatistics}. */
export class SignalObserver implements ReadingSink {
  readonly statistics: readonly SignalStatistics[];
  readonly #databases: readonly BoundDatabase[];
  #decoder: DbcDecoder | undefined;

  /** @param chosen messages and their signals; if omitted, all of the databases */
  constructor(databases: readonly BoundDatabase[], chosen?: ReadonlyMap<DbcMessage, readonly Signal[]>) {
    this.#databases = databases;
    this.statistics = signalsOf(databases, chosen).map(({ message, signal }) => new SignalStatistics(message, signal));
  }

  /** @param buses names that {@link FrameBatch.bus} indexes in this log */
  add(batch: FrameBatch, buses: readonly string[]): void {
    this.#decoder ??= new DbcDecoder(
      this.statistics.map(({ message, signal }) => ({ message: message.name, signal: signal.name })),
      this.#databases,
      buses,
    );
    this.#decoder.decode(batch, this);
  }

  /** Call before the frames of another log. */
  endLog(): void {
    this.#decoder = undefined;
  }

  reading(signal: number, value: number, raw: number, at: number): void {
    this.statistics[signal]!.add(value, raw, at);
  }

  alive(signals: readonly number[], at: number): void {
    for (const signal of signals) this.statistics[signal]!.again(at);
  }

  settled(): void {
    // Nothing remains to be done: each reading was counted when it arrived.
  }
}
