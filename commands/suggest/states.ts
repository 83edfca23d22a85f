/** Whether the values of a signal can be those of a path that takes names or truth, and by which map. */
import type { StateRule } from './rule.ts';
import type { SignalFacts } from './signals.ts';
import { wordsOf } from './words.ts';

export type StateFit =
  | { readonly kind: 'fits'; readonly map: ReadonlyMap<number, string>; readonly by: string; readonly certain: boolean }
  | { readonly kind: 'asks'; readonly question: string };

/** More bits are a number. */
const MOST_BITS = 8;

/** Of more bits without labels nothing says that they are a state. */
const MOST_ASKED = 4;

/** Letters of a gear lever; in a name they may be anything. */
const letters: Readonly<Record<string, string>> = { r: 'reverse', n: 'neutral', p: 'park', d: 'drive', b: 'drive' };

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

/** Undefined: the signal is no such state. */
export function stateFit(rule: StateRule, facts: SignalFacts): StateFit | undefined {
  const { signal, observed } = facts;
  if (signal.length > MOST_BITS || signal.type === 'float') return undefined;
  const { choices } = signal;
  if (choices === undefined || choices.size < 2) return withoutLabels(rule, facts);
  const map = new Map<number, string>();
  for (const [raw, label] of [...choices].sort(([one], [other]) => one - other)) {
    const value = valueOfLabel(rule, label);
    if (value !== undefined) map.set(raw, value);
  }
  const given = new Set(map.values());
  if (!rule.enough.every((value) => given.has(value))) return undefined;
  const strange = [...(observed?.raws ?? [])].filter((raw) => !choices.has(raw));
  const by = `values by its labels${strange.length === 0 ? '' : ` (the log also has ${strange.slice(0, 4).join(', ')})`}`;
  return { kind: 'fits', map, by, certain: true };
}

function withoutLabels(rule: StateRule, { signal, own, observed }: SignalFacts): StateFit | undefined {
  const seen = observed === undefined ? '' : `; the log has ${listed([...observed.raws])}`;
  const has = (concepts: string | undefined): boolean => {
    return (
      concepts?.split(' ').some((concept) => own.some((word) => word.concepts.includes(concept as never))) === true
    );
  };
  const needy = rule.bitNeeds !== undefined && !has(rule.bitNeeds);
  if (signal.length > 1 || rule.bit === undefined || needy) {
    if (rule.labelled === true || signal.length > MOST_ASKED || (signal.length === 1 && !needy)) return undefined;
    const wanted = [...new Set(rule.values.map(([value]) => value))].join(', ');
    return { kind: 'asks', question: `no labels in the DBC: which raw values are ${wanted}${seen}?` };
  }
  const turned = has(rule.turnedBy);
  const [zero, one] = turned ? [...rule.bit].reverse() : rule.bit;
  const map = new Map([
    [0, zero as string],
    [1, one as string],
  ]);
  const word = turned ? ', and the name turns it round' : '';
  return { kind: 'fits', map, by: `one bit without labels: 1 taken for ${one}${word}${seen}`, certain: false };
}

/** The value that a label of the DBC stands for; undefined: none, so the raw value stays out of the map. */
export function valueOfLabel(rule: StateRule, label: string): string | undefined {
  const meant = meaningsOf(label);
  for (const [value, pattern] of rule.values) {
    if (pattern.split(' ').every((group) => group.split('/').some((concept) => meant.has(concept)))) {
      // "Error" and "not available" are values only where a path has one for them.
      if (!meant.has('unusable') || pattern.split('/').includes('fault')) return value;
    }
  }
  return undefined;
}

function meaningsOf(label: string): Set<string> {
  const meant = new Set<string>();
  let negated = false;
  for (const { text, concepts, isNumber } of wordsOf(label)) {
    if (isNumber) meant.add(`digit${Number(text)}`);
    const letter = letters[text];
    if (letter !== undefined) meant.add(letter);
    for (const concept of concepts) if (concept !== '') meant.add(negated ? `not-${concept}` : concept);
    if (negations.has(text)) {
      negated = true;
      meant.add('none');
    }
  }
  return meant;
}

function listed(raws: readonly number[]): string {
  const shown = [...raws].sort((one, other) => one - other).slice(0, 8);
  return `${shown.join(', ')}${raws.length > shown.length ? ', …' : ''}`;
}
