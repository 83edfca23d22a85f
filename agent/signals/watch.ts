/** Custom signals as monitors see them. */
import type { CustomSignal } from '../../protocol/profile.ts';
import { type SignalRule, type SignalRules, signalRulesOf } from '../../protocol/schema/monitor/signals.ts';
import { valuesOf } from '../../protocol/signals/values.ts';
import type { MonitorSignals, WatchedSignal } from '../monitors/custom-signals.ts';
import type { CustomSignalObserver, Signals } from './signals.ts';

/** Observes the signals only while a monitor watches one: a unit without such monitors has no cost. */
export class WatchedSignals implements MonitorSignals {
  readonly #custom: readonly CustomSignal[];
  readonly #signals: Signals;
  /** Created at the first use. */
  #known: { readonly rules: SignalRules; readonly places: ReadonlyMap<string, number> } | undefined;
  /** Listeners by index of the signal. */
  readonly #watchers = new Map<number, (at: number) => void>();
  #ignore: (() => void) | undefined;

  constructor(custom: readonly CustomSignal[], signals: Signals) {
    this.#custom = custom;
    this.#signals = signals;
  }

  get names(): Iterable<string> {
    return this.#index().rules.names;
  }

  rule(name: string): SignalRule | undefined {
    return this.#index().rules.rule(name);
  }

  watch(name: string, changed: (at: number) => void): WatchedSignal | undefined {
    const place = this.#index().places.get(name);
    if (place === undefined) return undefined;
    const value = valuesOf(this.#custom[place] as CustomSignal);
    this.#ignore ??= this.#signals.observe(this.#observer);
    this.#watchers.set(place, changed);
    return {
      hidden: () => this.#signals.hidden(place),
      read: () => {
        const count = this.#signals.count(place);
        return Number.isNaN(count) ? undefined : compared(this.#custom[place] as CustomSignal, value(count));
      },
      end: () => {
        this.#watchers.delete(place);
        if (this.#watchers.size > 0) return;
        this.#ignore?.();
        this.#ignore = undefined;
      },
    };
  }

  readonly #observer: CustomSignalObserver = {
    changed: (place, _count, at) => this.#watchers.get(place)?.(at),
    // Monitors already treat a hidden value as unknown.
    absent: (place, at) => {
      if (!this.#signals.hidden(place)) this.#watchers.get(place)?.(at);
    },
  };

  #index() {
    this.#known ??= {
      rules: signalRulesOf(this.#custom),
      places: new Map(this.#custom.map(({ name }, place) => [name, place])),
    };
    return this.#known;
  }
}

/** Returns a number for a quantity, and a string for a flag or an enumeration, because triggers name these values. */
function compared({ kind }: CustomSignal, value: number | boolean | string): number | string {
  return kind === 'quantity' ? (value as number) : String(value);
}
