/** Signals over time as CSV, for spreadsheets and data frames. */

import { type BoundDatabase, DbcDecoder } from '../../adapters/can/dbc/index.ts';
import type { SignalOfMessage } from '../../adapters/can/inspect/index.ts';
import type { FrameBatch, ReadingSink } from '../../agent/ports.ts';
import type { FrameConsumer } from './read-log.ts';
import { valuesOf } from './value-text.ts';

/** Receiver of finished lines. */
interface LineSink {
  line(text: string): void;
}

/**
 * Writes one column with seconds since 1970 and one for each signal. Writes a row when a value changes. The other
 * columns repeat their last value and are empty before the first one, so that each row contains all values known at its
 * time.
 */
export class CsvExport implements ReadingSink, FrameConsumer {
  readonly #signals: readonly SignalOfMessage[];
  readonly #databases: readonly BoundDatabase[];
  readonly #sink: LineSink;
  readonly #texts: ((value: number) => number | string)[];
  readonly #values: string[];
  #decoder: DbcDecoder | undefined;
  /** Time of the row that is being collected, and of the latest frame. */
  #rowAt = Number.NaN;
  #latest = Number.NaN;
  #changed = false;

  constructor(signals: readonly SignalOfMessage[], databases: readonly BoundDatabase[], sink: LineSink) {
    this.#signals = signals;
    this.#databases = databases;
    this.#sink = sink;
    this.#texts = signals.map(({ signal }) => valuesOf(signal));
    this.#values = signals.map(() => '');
    sink.line(['time', ...signals.map(titleOf)].map(quoted).join());
  }

  add(batch: FrameBatch, buses: readonly string[]): void {
    this.#decoder ??= new DbcDecoder(
      this.#signals.map(({ message, signal }) => ({ message: message.name, signal: signal.name })),
      this.#databases,
      buses,
    );
    this.#decoder.decode(batch, this);
  }

  /** Writes the last row of a log. The next frames belong to another log, in which no value is known yet. */
  endLog(): void {
    this.#write();
    if (this.#latest > this.#rowAt) {
      this.#begin(this.#latest);
      this.#write();
    }
    this.#decoder = undefined;
    this.#values.fill('');
    this.#rowAt = Number.NaN;
    this.#latest = Number.NaN;
  }

  reading(signal: number, value: number, _raw: number, at: number): void {
    const text = String(this.#texts[signal]!(value));
    if (this.#values[signal] === text) return;
    if (this.#changed && at !== this.#rowAt) this.#write();
    this.#begin(at);
    this.#values[signal] = text;
  }

  settled(at: number): void {
    this.#latest = at;
  }

  alive(_signals: readonly number[], at: number): void {
    this.#latest = at;
  }

  #begin(at: number): void {
    this.#rowAt = at;
    this.#changed = true;
  }

  #write(): void {
    if (!this.#changed) return;
    this.#sink.line(`${(this.#rowAt / 1000).toFixed(6)},${this.#values.join()}`);
    this.#changed = false;
  }
}

function titleOf({ message, signal }: SignalOfMessage): string {
  return `${message.name}.${signal.name}${signal.unit === '' ? '' : ` [${signal.unit}]`}`;
}

/** Quotes a field if needed (RFC 4180 §2). */
function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
