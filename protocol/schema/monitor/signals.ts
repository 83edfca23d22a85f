/** Conditions of a data trigger on a custom signal: the operators are those of a Status path with such values. */
import type { SignalDefinition } from '../catalog.ts';
import { type DataRule, dataOperators } from './data.ts';

export interface SignalRule extends DataRule {
  /** True if it contains the position of the car. */
  readonly position: boolean;
}

/** The custom signals of a car. */
export interface SignalRules {
  /** Returns undefined if the car has no such signal. */
  rule(name: string): SignalRule | undefined;
  readonly names: Iterable<string>;
}

/** Rules for a car whose profile has no custom signals. */
export const noSignals: SignalRules = { rule: () => undefined, names: [] };

/** Rule for a signal of a car whose profile is unknown here: the car itself checks the trigger. */
export const anySignal: SignalRule = {
  operators: dataOperators,
  values: undefined,
  path: undefined,
  occurrence: false,
  position: true,
};

type Watchable = SignalDefinition & { readonly position: boolean };

/** Returns the rules of signals by name; each rule is created on request. */
export function signalRulesOf(signals: readonly Watchable[]): SignalRules {
  const byName = new Map(signals.map((signal) => [signal.name, signal]));
  return {
    names: byName.keys(),
    rule: (name) => {
      const signal = byName.get(name);
      return signal === undefined ? undefined : ruleOf(signal);
    },
  };
}

function ruleOf({ kind, names = [], position }: Watchable): SignalRule {
  const common = { path: undefined, occurrence: false, position };
  if (kind === 'quantity') {
    return { ...common, operators: ['equalsTo', 'greaterThan', 'lowerThan'], values: 'number' };
  }
  if (kind === 'flag') return { ...common, operators: ['onChange', 'equalsTo'], values: ['true', 'false'] };
  const named = new Set(names.map(({ count }) => String(count)));
  return {
    ...common,
    operators: ['onChange', 'equalsTo', 'includedIn'],
    values: names.map(({ name }) => name),
    unnamed: (value) => /^(0|-?[1-9]\d*)$/.test(value) && !named.has(value),
  };
}
