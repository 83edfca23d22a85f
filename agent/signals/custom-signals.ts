import type { CustomSignal, TextSignal } from '../../protocol/profile.ts';
import type { ColumnSink } from '../model/column-intake.ts';
import type { SourceGroup } from '../model/mapping.ts';
import type { CustomSignalsPart, SignalParts } from '../options.ts';
import type { OutboxStore, Publisher, ReadingSink, WantedSignal } from '../ports.ts';
import { announceCatalog, announceEarlier } from './announcement.ts';
import { definitionOf, SignalNumbers } from './numbers.ts';
import { SignalRecorder } from './recorder.ts';
import { Signals } from './signals.ts';
import { Texts } from './texts.ts';
import { RecordedSignals, type SignalView } from './view.ts';
import { WatchedSignals } from './watch.ts';

interface SplitGroup {
  readonly mapped: SourceGroup;
  readonly custom: Int32Array;
}

/** The custom signals of a car: their values, their numbers, and their recorder. */
export class CustomSignals implements CustomSignalsPart {
  readonly wanted: readonly WantedSignal[];
  readonly signals: Signals;
  readonly texts: Texts;
  readonly numbers: SignalNumbers;
  readonly recorder: SignalRecorder;
  readonly view: SignalView;
  readonly watched: WatchedSignals;

  constructor(custom: readonly CustomSignal[], parts: SignalParts, texts: readonly TextSignal[] = []) {
    const { status, records, memory, log, clock, quality } = parts;
    const wantedOf = ({ bus, message, signal }: TextSignal): WantedSignal =>
      bus === undefined ? { message, signal } : { bus, message, signal };
    this.wanted = [...custom.map(wantedOf), ...texts.map((one) => ({ ...wantedOf(one), text: true as const }))];
    this.signals = new Signals(custom, parts.privacy);
    this.texts = new Texts(texts, records, parts.privacy);
    const now = quality() === 'none' ? undefined : clock.now();
    this.numbers = new SignalNumbers(custom.map(definitionOf), memory, log, now);
    this.recorder = new SignalRecorder(
      custom,
      { signals: this.signals, numbers: this.numbers, status, records },
      parts,
    );
    const { signals, numbers, recorder } = this;
    this.view = new RecordedSignals(custom, { signals, numbers, recorder, kept: parts.kept }, texts, this.texts);
    this.watched = new WatchedSignals(custom, this.signals);
  }

  announce(publisher: Pick<Publisher, 'put'>, store: Pick<OutboxStore, 'entries'>): void {
    announceEarlier(this.numbers, publisher, store);
    // A car that has only text signals has no catalog.
    if (this.numbers.entries.length > 0) announceCatalog(this.numbers.entries, publisher);
  }

  states(): Iterable<readonly [key: string, value: unknown]> {
    return this.numbers.states();
  }

  stepped(by: number): void {
    this.signals.stepped(by);
    this.texts.stepped(by);
  }

  get readings(): number {
    return this.signals.readings;
  }

  get rejected(): number {
    return this.signals.rejected;
  }

  /** Returns a sink for the readings of {@link wanted}, which follow the `first` signals of `mapping`. */
  behind(mapping: ColumnSink<SourceGroup>, first: number): ColumnSink<SplitGroup> {
    const { signals, texts } = this;
    const firstText = first + signals.size;
    const split = (all: readonly number[]): SplitGroup & { readonly own: readonly number[] } => {
      const own = all.filter((signal) => signal < first);
      const custom = Int32Array.from(all.filter((signal) => signal >= first).map((signal) => signal - first));
      return { own, mapped: mapping.group(own), custom };
    };
    const alive: ReadingSink['alive'] = (all, at) => {
      const { own, custom } = split(all);
      if (own.length > 0) mapping.alive(own, at);
      signals.seen(custom, at);
    };
    return {
      reading(signal, value, raw, at) {
        if (signal < first) mapping.reading(signal, value, raw, at);
        else signals.reading(signal - first, value, raw, at);
      },
      text(signal, text, at) {
        texts.take(signal - firstText, text, at);
      },
      settled: (at) => mapping.settled(at),
      alive,
      group: split,
      aliveTogether({ mapped, custom }, at) {
        mapping.aliveTogether(mapped, at);
        signals.seen(custom, at);
      },
    };
  }
}
