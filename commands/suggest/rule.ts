import { defined } from '../../protocol/defined.ts';
/** Conditions for a signal to become a path: one entry of the tables in rules/. */

/**
 * Meanings (vocabulary.ts) that must all be said, `a/b` being either. They may be in the name of the signal or of its
 * message; one with `!` must be in the signal's own.
 */
export type Pattern = string;

/** Meanings, any of them, separated by blanks. */
export type Concepts = string;

export interface Rule {
  /** Path of Status, or a channel such as `alerts.FuelLevelLow`. */
  readonly path: string;
  /** Accepted words of the name, any of them. A signal that also names another matter does not match. */
  readonly names: readonly Pattern[];
  /** Further allowed words of its own name. */
  readonly besides?: Concepts;
  /** Further allowed words of the message's name, which do not point to another matter. */
  readonly around?: Concepts;
  /** Forbidden words, also in the name of the message. */
  readonly never?: Concepts;
  /** A word that no dictionary has makes it another matter: it is the abbreviation of one. */
  readonly strict?: boolean;
  readonly number?: NumberRule;
  readonly states?: StateRule;
  /** Takes the place of `states` when no signal was found for another path. */
  readonly alone?: { readonly path: string; readonly states: StateRule; readonly note: string };
  /** With one of the words `when` and none of `unless` in the names, a person must answer the question first. */
  readonly doubt?: { readonly when: Concepts; readonly unless: Concepts; readonly question: string };
  /** Hint for a person who reads the line. With `when`, only if the name has such a word. */
  readonly note?: string;
  readonly when?: Concepts;
}

/** For a path with a number. All in the unit of the path. */
export interface NumberRule {
  /** Values that the signal must be able to have, or it measures something smaller. */
  readonly covers: readonly [low: number, high: number];
  /** Values that it may have at most by its description: more is another unit. */
  readonly within: readonly [low: number, high: number];
  /** Values that a car really shows; a log with others (save codes for "not available") speaks against it. */
  readonly usual: readonly [low: number, high: number];
  /** It never falls, such as a total. */
  readonly rises?: boolean;
  /** The file must name the unit, as several have such ranges; the text tells of one that is not a unit of the path. */
  readonly unitNeeded?: string | true;
  /** Units that the profile cannot convert by itself, separated by blanks, and what to ask for. */
  readonly asks?: Readonly<Record<string, string>>;
}

/** Value of a path, and the meaning of its label. */
export type LabelRule = readonly [value: string, label: Pattern];

/** For a path with names, or true and false. */
export interface StateRule {
  /** The first that fits a label counts. */
  readonly values: readonly LabelRule[];
  /** Values that the labels must give, or they are of something else. */
  readonly enough: readonly string[];
  /** Labels with a word that no dictionary has are left out: they may well say something else. */
  readonly plain?: boolean;
  /** Without labels it is not suggested: the name alone is not sufficient. */
  readonly labelled?: boolean;
  /** Values of 0 and 1 of one bit without labels. */
  readonly bit?: readonly [zero: string, one: string];
  /** Words of which the signal's name must have one for that, since the bit could mean the opposite as well. */
  readonly bitNeeds?: Concepts;
  /** With one of the words `when` in its name and none of `unless`, a signal has these values only. */
  readonly only?: { readonly when: Concepts; readonly unless: Concepts; readonly values: readonly string[] };
  /** Words in the signal's name that turn the bit round. */
  readonly turnedBy?: Concepts;
}

/** A row of a table: the path, the names of its signals, and what else must hold. */
export function rule(path: string, names: readonly Pattern[], rest: Omit<Rule, 'path' | 'names'>): Rule {
  return { path, names, ...rest };
}

/** Labels of what is on or off. */
export const onOff: readonly LabelRule[] = [
  ['false', 'off/inactive/no/none/released/standby/not-active/not-on'],
  ['true', 'on/active/yes/pressed/engaged/progress/running/warning'],
];

/** Two states by the labels of each, both of which a signal must give; `bit` as in {@link StateRule}. */
export function twoStates(labels: Readonly<Record<string, Pattern>>, bit?: StateRule['bit']): StateRule {
  return { values: Object.entries(labels), enough: Object.keys(labels), ...defined({ bit }) };
}
