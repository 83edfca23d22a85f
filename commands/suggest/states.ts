/** Checks whether the values of a signal can be those of a path with names or booleans, and finds the map. */
import { holds } from './codes.ts';
import type { StateRule } from './rule.ts';
import type { SignalFacts } from './signals.ts';
import { type Word, wordsOf } from './words.ts';

export type StateFit =
  | { readonly kind: 'fits'; readonly map: ReadonlyMap<number, string>; readonly by: string; readonly certain: boolean }
  | { readonly kind: 'asks'; readonly question: string };

/** Length in bits of the largest state. A longer signal is a number. */
const MOST_BITS = 8;

/** Length in bits of the largest unlabelled signal that may be a state: nothing shows that a longer one is one. */
const MOST_ASKED = 4;

/** Letters of a gear lever; in other names they may have any meaning. */
const letters: Readonly<Record<string, string>> = { r: 'reverse', n: 'neutral', p: 'park', d: 'drive', b: 'drive' };

/** Words that negate the following words; {@link negationsBehind} also negate the preceding ones. */
const negations: ReadonlySet<string> = new Set([
  'not',
  'no',
  'non',
  'nicht',
  'kein',
  'keine',
  'pas',
  'without',
  'aucun',
  'aucune',
]);

const negationsBehind: ReadonlySet<string> = new Set(['nicht', 'pas']);

/** A rule, with the names of the path's values. A flag has no names. */
interface NamedStates extends StateRule {
  readonly names?: readonly string[] | undefined;
}

/** Returns how the signal fits the rule; undefined if it is not such a state. */
export function stateFit(rule: NamedStates, facts: SignalFacts): StateFit | undefined {
  const { signal, observed } = facts;
  if (signal.length > MOST_BITS || signal.type === 'float') return undefined;
  const choices = new Map([...(signal.choices ?? [])].filter(([raw]) => holds(signal, raw)));
  if (choices.size < 2) return withoutLabels(rule, facts);
  const map = new Map<number, string>();
  const identity = identityOf(rule, [...choices.values()]);
  const bit = bitOf(rule, facts.own);
  const { only } = rule;
  const limited = only !== undefined && says(facts.own, only.when) && !says(facts.own, only.unless);
  const admitted = limited ? only.values : undefined;
  for (const [raw, label] of [...choices].sort(([one], [other]) => one - other)) {
    const polarity = bit === undefined ? undefined : polarityOf(label, facts.own);
    const polar = polarity === undefined ? undefined : bit?.[polarity ? 1 : 0];
    const value = identity?.get(plain(label)) ?? polar ?? valueOfLabel(rule, label);
    if (value !== undefined && (admitted === undefined || admitted.includes(value))) map.set(raw, value);
  }
  const given = new Set(map.values());
  if (!rule.enough.every((value) => given.has(value))) return undefined;
  const strange = [...(observed?.raws ?? [])].filter((raw) => !choices.has(raw));
  const by = `values by its labels${strange.length === 0 ? '' : ` (the log also has ${strange.slice(0, 4).join(', ')})`}`;
  return { kind: 'fits', map, by, certain: true };
}

/** Returns the values for 0 and 1 according to the words of the name; undefined if these are ambiguous. */
function bitOf({ bit, bitNeeds, turnedBy }: StateRule, own: readonly Word[]): readonly [string, string] | undefined {
  if (bit === undefined || (bitNeeds !== undefined && !says(own, bitNeeds))) return undefined;
  return says(own, turnedBy) ? [bit[1], bit[0]] : bit;
}

function says(words: readonly Word[], concepts: string | undefined): boolean {
  return (
    concepts?.split(' ').some((concept) => words.some((word) => word.concepts.includes(concept as never))) === true
  );
}

const affirming: ReadonlySet<string> = new Set(['yes', 'on', 'active']);
const denying: ReadonlySet<string> = new Set(['no', 'off', 'inactive']);

/** Returns true or false for a label that only affirms or denies the signal's name; undefined for any other. */
function polarityOf(label: string, own: readonly Word[]): boolean | undefined {
  const named = new Set(own.flatMap(({ concepts }) => concepts.filter((concept) => concept !== '')));
  const is = (word: Word, set: ReadonlySet<string>): boolean => word.concepts.some((concept) => set.has(concept));
  const rest = wordsOf(label).filter((word) => {
    const repeats = word.concepts.some((concept) => concept === '' || concept === 'lamp' || named.has(concept));
    return !repeats || is(word, affirming) || is(word, denying);
  });
  const negated = rest.some(({ text }) => negations.has(text));
  const [word, ...others] = rest.filter(({ text }) => !negations.has(text) || text === 'no');
  if (word === undefined || others.length > 0 || negated)
    return word?.text === 'no' && others.length === 0 ? false : undefined;
  return is(word, affirming) ? true : is(word, denying) ? false : undefined;
}

function withoutLabels(rule: StateRule, { signal, own, observed }: SignalFacts): StateFit | undefined {
  const seen = observed === undefined ? '' : `; the log has ${listed([...observed.raws])}`;
  const bit = bitOf(rule, own);
  if (signal.length === 1 && bit !== undefined) {
    const [zero, one] = bit;
    const map = new Map([
      [0, zero],
      [1, one],
    ]);
    const word = says(own, rule.turnedBy) ? ', and the name turns it round' : '';
    return { kind: 'fits', map, by: `one bit without labels: 1 taken for ${one}${word}${seen}`, certain: false };
  }
  const ambiguous = signal.length === 1 && rule.bit !== undefined;
  if (rule.labelled === true || signal.length > MOST_ASKED || (signal.length === 1 && !ambiguous)) return undefined;
  const wanted = [...new Set(rule.values.map(([value]) => value))].join(', ');
  return { kind: 'asks', question: `no labels in the DBC: which raw values are ${wanted}${seen}?` };
}

/** Returns the map if every label is the name of one of the path's values and so needs no interpretation. */
function identityOf(rule: NamedStates, labels: readonly string[]): ReadonlyMap<string, string> | undefined {
  const names = new Map(rule.names?.map((name) => [plain(name), name]));
  const usable = labels.filter((label) => !meaningsOf(label).has('unusable'));
  return usable.length > 1 && usable.every((label) => names.has(plain(label))) ? names : undefined;
}

function plain(label: string): string {
  return label.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Returns the value that a label of the DBC means; undefined if the map must omit the raw value. */
function valueOfLabel(rule: StateRule, label: string): string | undefined {
  if (rule.plain === true && wordsOf(label).some(isUnknown)) return undefined;
  const meant = meaningsOf(label);
  for (const [value, pattern] of rule.values) {
    if (pattern.split(' ').every((group) => group.split('/').some((concept) => meant.has(concept)))) {
      // "Error" and "not available" are values only if the path has a value for them.
      if (!meant.has('unusable') || pattern.split('/').includes('fault')) return value;
    }
  }
  return undefined;
}

function meaningsOf(label: string): Set<string> {
  const meant = new Set<string>();
  const words = wordsOf(label);
  let negated = false;
  for (const [index, { text, concepts, isNumber }] of words.entries()) {
    // L2 is a lever position that allows the first two gears.
    if (isNumber && !['l', 'low'].includes(words[index - 1]?.text ?? '')) meant.add(`digit${Number(text)}`);
    const letter = letters[text];
    if (letter !== undefined) meant.add(letter);
    const denied = negated || words.slice(index).some((word) => negationsBehind.has(word.text));
    for (const concept of concepts) {
      if (concept !== '') meant.add(denied && concept !== 'unusable' ? `not-${concept}` : concept);
    }
    negated ||= negations.has(text);
  }
  // "Not installed" is not one of the states. A label means `none` only if it contains no unknown word.
  if (negated && !words.some(isUnknown)) meant.add('none');
  return meant;
}

function isUnknown({ text, concepts, isNumber }: Word): boolean {
  return concepts.length === 0 && !isNumber && text.length > 3 && !negations.has(text);
}

function listed(raws: readonly number[]): string {
  const shown = [...raws].sort((one, other) => one - other).slice(0, 8);
  return `${shown.join(', ')}${raws.length > shown.length ? ', …' : ''}`;
}
