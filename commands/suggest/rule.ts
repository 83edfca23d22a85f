import { defined } from '../../protocol/defined.ts';
/** Conditions under which a signal feeds a path: one entry of the tables in rules/. */

/**
 * Required meanings (see vocabulary.ts); `a/b` means one of the two. Their words may be in the name of the signal or of
 * its message. A meaning with `!` must be in the signal's own name.
 */
export type Pattern = string;

/** List of alternative meanings, separated by spaces. */
export type Concepts = string;

export interface Rule {
  /** Path of Status, or a channel such as `alerts.FuelLevelLow`. */
  readonly path: string;
  /** Patterns of the name, of which one must match. A signal whose name also has another topic does not match. */
  readonly names: readonly Pattern[];
  /** Additional meanings that the signal's own name may have. */
  readonly besides?: Concepts;
  /** Additional meanings that the message's name may have without indicating another topic. */
  readonly around?: Concepts;
  /** Forbidden meanings, even in the name of the message. */
  readonly never?: Concepts;
  /** True if an unknown word indicates another topic, because it is probably an abbreviation of one. */
  readonly strict?: boolean;
  readonly number?: NumberRule;
  readonly states?: StateRule;
  /** Replaces `states` if no signal was found for `path`. */
  readonly alone?: { readonly path: string; readonly states: StateRule; readonly note: string };
  /** If the names contain a meaning of `when` and none of `unless`, a person must first answer the question. */
  readonly doubt?: { readonly when: Concepts; readonly unless: Concepts; readonly question: string };
  /** Hint for the reader of the line. If `when` is set, only if the name has such a meaning. */
  readonly note?: string;
  readonly when?: Concepts;
}

/** Rule for a path with a number. All values are in the unit of the path. */
export interface NumberRule {
  /** Range that the signal must be able to represent; otherwise it measures a smaller quantity. */
  readonly covers: readonly [low: number, high: number];
  /** Largest range that the description of the signal may state: a larger range means another unit. */
  readonly within: readonly [low: number, high: number];
  /** Range of real values of a car. A log with other values (except codes for "not available") contradicts the rule. */
  readonly usual: readonly [low: number, high: number];
  /** True if the value never decreases, such as a total. */
  readonly rises?: boolean;
  /** Set if the file must name the unit, since several have such ranges. A string is a unit the path cannot have. */
  readonly unitNeeded?: string | true;
  /** Units that the profile cannot convert, each with a question to the user. Several units are separated by spaces. */
  readonly asks?: Readonly<Record<string, string>>;
}

/** A value of a path, and the meaning of a label for it. */
export type LabelRule = readonly [value: string, label: Pattern];

/** Rule for a path whose values are names, or true and false. */
export interface StateRule {
  /** Values with their labels. The first match applies. */
  readonly values: readonly LabelRule[];
  /** Values for which there must be labels; otherwise the labels describe another topic. */
  readonly enough: readonly string[];
  /** True to ignore labels with an unknown word, since they may have another meaning. */
  readonly plain?: boolean;
  /** True if the signal is suggested only with labels: its name alone is not sufficient. */
  readonly labelled?: boolean;
  /** Values for 0 and 1 of a single bit without labels. */
  readonly bit?: readonly [zero: string, one: string];
  /** Meanings of which the signal's name must contain one for `bit`; otherwise the bit could mean the opposite. */
  readonly bitNeeds?: Concepts;
  /** If the signal's name contains a meaning of `when` and none of `unless`, the signal has only these values. */
  readonly only?: { readonly when: Concepts; readonly unless: Concepts; readonly values: readonly string[] };
  /** Meanings in the signal's name that invert the bit. */
  readonly turnedBy?: Concepts;
}

/** Returns a row of a table: the path, the names of its signals, and further conditions. */
export function rule(path: string, names: readonly Pattern[], rest: Omit<Rule, 'path' | 'names'>): Rule {
  return { path, names, ...rest };
}

/** Labels for on and off. */
export const onOff: readonly LabelRule[] = [
  ['false', 'off/inactive/no/none/released/standby/not-active/not-on'],
  ['true', 'on/active/yes/pressed/engaged/progress/running/warning'],
];

/** Returns a rule for two states that labels name; a signal must have both. `bit` is as in {@link StateRule}. */
export function twoStates(labels: Readonly<Record<string, Pattern>>, bit?: StateRule['bit']): StateRule {
  return { values: Object.entries(labels), enough: Object.keys(labels), ...defined({ bit }) };
}
