/** Conditions of a data trigger on a custom signal: the operators of a path of Status with such values. */
import type { SignalDefinition } from '../catalog.ts';
import { type DataRule, dataOperators } from './data.ts';

export interface SignalRule extends DataRule {
  /** It contains the position of the car. */
  readonly position: boolean;
}

/** The custom signals that a car has. */
export interface SignalRules {
  /** Undefined: the car has no such signal. */
  rule(name: string): SignalRule | undefined;
  readonly names: Iterable<string>;
}

/** A car with a profile without custom signals. */
export const noSignals: SignalRules = { rule: () => undefined, names: [] };

/** A signal of a car with a profile that is unknown here: the car itself checks the trigger. */
export const anySignal: SignalRule = {
  operators: dataOperators,
  values: undefined,
  path: undefined,
  occurrence: false,
  position: true,
};

type Watchable = SignalDefinition & { readonly position: boolean };

/** By name; the rules of a signal are made when somebody asks for them. */
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
