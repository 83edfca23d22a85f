import { defined } from '../../protocol/defined.ts';
/** Conditions under which a signal feeds a path: one entry of the tables in rules/. */

/**
 * Required meanings (vocabulary.ts); `a/b` means either. Their words may be in the name of the signal or its message;
 * a meaning with `!` must be in the signal's own name.
 */
export type Pattern = string;

/** List of alternative meanings, separated by blanks. */
export type Concepts = string;

export interface Rule {
  /** Path of Status, or a channel such as `alerts.FuelLevelLow`. */
  readonly path: string;
  /** Accepted patterns of the name, any of them. A signal that also names another topic does not match. */
  readonly names: readonly Pattern[];
  /** Additional allowed words of its own name. */
  readonly besides?: Concepts;
  /** Additional allowed words of the message's name, which do not indicate another topic. */
  readonly around?: Concepts;
  /** Forbidden words, also in the name of the message. */
  readonly never?: Concepts;
  /** True if an unknown word indicates another topic, because it abbreviates one. */
  readonly strict?: boolean;
  readonly number?: NumberRule;
  readonly states?: StateRule;
  /** Replaces `states` if no signal was found for another path. */
  readonly alone?: { readonly path: string; readonly states: StateRule; readonly note: string };
  /** If the names contain a word of `when` and none of `unless`, a person must answer the question first. */
  readonly doubt?: { readonly when: Concepts; readonly unless: Concepts; readonly question: string };
  /** Hint for the reader of the line. With `when`, only if the name has such a word. */
  readonly note?: string;
  readonly when?: Concepts;
}

/** Rule for a path with a number. All values in the unit of the path. */
export interface NumberRule {
  /** Range that the signal must be able to represent; otherwise it measures a smaller quantity. */
  readonly covers: readonly [low: number, high: number];
  /** Largest range that its description may have: a larger range means another unit. */
  readonly within: readonly [low: number, high: number];
  /** Range of real values of a car. A log with other values (except codes for "not available") contradicts the rule. */
  readonly usual: readonly [low: number, high: number];
  /** True for a value that never decreases, such as a total. */
  readonly rises?: boolean;
  /** Set if the file must name the unit, since several have such ranges. A text names one that the path cannot have. */
  readonly unitNeeded?: string | true;
  /** Units that the profile cannot convert, separated by blanks, each with a question to the user. */
  readonly asks?: Readonly<Record<string, string>>;
}

/** Value of a path, and the meaning of its label. */
export type LabelRule = readonly [value: string, label: Pattern];

/** Rule for a path with names, or true and false. */
export interface StateRule {
  /** Values with their labels. The first match applies. */
  readonly values: readonly LabelRule[];
  /** Values that the labels must include; otherwise they describe another topic. */
  readonly enough: readonly string[];
  /** True to ignore labels with an unknown word, since they may have another meaning. */
  readonly plain?: boolean;
  /** True if the signal is not suggested without labels: the name alone is not sufficient. */
  readonly labelled?: boolean;
  /** Values for 0 and 1 of a single bit without labels. */
  readonly bit?: readonly [zero: string, one: string];
  /** Words of which the signal's name must contain one for `bit`; otherwise the bit could have the opposite meaning. */
  readonly bitNeeds?: Concepts;
  /** If its name contains a word of `when` and none of `unless`, the signal has only these values. */
  readonly only?: { readonly when: Concepts; readonly unless: Concepts; readonly values: readonly string[] };
  /** Words in the signal's name that invert the bit. */
  readonly turnedBy?: Concepts;
}

/** Returns a table row: the path, the names of its signals, and further conditions. */
export function rule(path: string, names: readonly Pattern[], rest: Omit<Rule, 'path' | 'names'>): Rule {
  return { path, names, ...rest };
}

/** Labels for on and off. */
export const onOff: readonly LabelRule[] = [
  ['false', 'off/inactive/no/none/released/standby/not-active/not-on'],
  ['true', 'on/active/yes/pressed/engaged/progress/running/warning'],
];

/** Returns a rule for two states by their labels; a signal must have both. `bit` as in {@link StateRule}. */
export function twoStates(labels: Readonly<Record<string, Pattern>>, bit?: StateRule['bit']): StateRule {
  return { values: Object.entries(labels), enough: Object.keys(labels), ...defined({ bit }) };
}
