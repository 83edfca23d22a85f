/** Rates how well the name of a signal matches a rule of the tables in rules/. */
import type { Rule } from './rule.ts';
import type { SignalFacts } from './signals.ts';
import type { Word } from './words.ts';

export interface Match {
  /** Quality of the match, at least {@link ENOUGH}; higher is better. */
  readonly score: number;
  /** Words of the name that match, for the reason. */
  readonly said: readonly string[];
  /** True if the comment was needed for the match. */
  readonly byComment: boolean;
}

/** Weight of a meaning, by the place of its word: the signal's own name, the message's name, or a comment. */
const OWN = 2;
const AROUND = 1;
const COMMENT = 1;

/** Costs of words that the pattern does not explain: unknown words, abbreviations, numbers, the message's words. */
const UNKNOWN = 1;
const SHORT = 0.5;
/** With only one matching word, an abbreviation usually changes the meaning. */
const SHORT_BESIDE_ONE = 0.8;
const LETTER = 0.2;
const NUMBER = 0.1;
const ELSEWHERE = 0.3;
/** Cost of a word that indicates a displayed or estimated value instead of a measured one. */
const LESSER = 0.15;

/** Smallest score of a match; below it, a match would be a guess. */
const ENOUGH = 1.5;

const lesser: ReadonlySet<string> = new Set([
  'rough',
  'approx',
  'ungef',
  'raw',
  'est',
  'estimate',
  'estimated',
  'display',
  'anzeige',
  'angez',
  'shown',
  'hud',
]);

/** Meanings that show that a comment describes something other than the value. */
const twisting: ReadonlySet<string> = new Set([
  'request',
  'fault',
  'minimum',
  'maximum',
  'threshold',
  'average',
  'validity',
  'lead',
  'wheel',
]);

interface Prepared {
  readonly patterns: readonly { readonly groups: readonly Group[]; readonly expected: ReadonlySet<string> }[];
  readonly around: ReadonlySet<string>;
  readonly never: ReadonlySet<string>;
}

interface Group {
  readonly either: ReadonlySet<string>;
  readonly own: boolean;
}

const prepared = new WeakMap<Rule, Prepared>();

/** Returns how the signal's name matches the rule; undefined if it does not, or if it also names another topic. */
export function matchOf(rule: Rule, facts: SignalFacts): Match | undefined {
  const { patterns, around, never } = prepare(rule);
  let best: Match | undefined;
  for (const { groups, expected } of patterns) {
    const foreign = (word: Word): boolean => isForeign(word, expected);
    const near = (word: Word): boolean => !foreign(word) || isOf(word, around);
    if (facts.own.some((word) => word !== facts.prefix && foreign(word))) continue;
    const match = matchPattern(groups, facts);
    if (match === undefined) continue;
    const isAverse = (word: Word): boolean => isOf(word, never) && foreign(word);
    const averse = facts.around.filter(isAverse);
    // A message may have many topics. The signal's own name is then sufficient.
    if (facts.own.some(isAverse) || (averse.length > 0 && match.score < 2 * OWN)) continue;
    if (groups.length === 1 && facts.prefix !== undefined && !near(facts.prefix)) continue;
    const unknown = facts.own.filter(
      (word) => word !== facts.prefix && isUnknown(word) && !facts.frequent.has(word.text),
    );
    // If the topic comes from the message's name, an unknown word or the sender's name indicates another part of the
    // car.
    const long = unknown.filter(({ text }) => text.length > 3);
    if (match.shared && (long.length > 0 || (facts.prefix !== undefined && foreign(facts.prefix)))) continue;
    if (rule.strict === true && unknown.some(({ text }) => text.length > 1)) continue;
    const short = groups.length > 1 ? SHORT : SHORT_BESIDE_ONE;
    const far = [...facts.around, ...(facts.prefix === undefined ? [] : [facts.prefix])].filter((word) => !near(word));
    const cost =
      UNKNOWN * long.length +
      unknown.reduce((sum, { text }) => sum + (text.length > 3 ? 0 : text.length > 1 ? short : LETTER), 0) +
      NUMBER * facts.own.filter(({ isNumber }) => isNumber).length +
      LESSER * facts.own.filter(({ text }) => lesser.has(text)).length +
      ELSEWHERE * far.length +
      ELSEWHERE * averse.length;
    const score = match.score - cost;
    if (score >= ENOUGH && score > (best?.score ?? 0)) best = { score, said: match.said, byComment: match.byComment };
  }
  return best;
}

interface PatternMatch extends Match {
  /** True if a meaning was found only in the name of the message. */
  readonly shared: boolean;
}

function matchPattern(groups: readonly Group[], facts: SignalFacts): PatternMatch | undefined {
  const said: string[] = [];
  let score = 0;
  let owned = false;
  let shared = false;
  let byComment = false;
  for (const { either, own } of groups) {
    const means = (word: Word): boolean => isOf(word, either);
    const inName = facts.own.find(means);
    const inMessage = own ? undefined : facts.around.find(means);
    const word = inName ?? inMessage ?? facts.comment.find(means);
    if (word === undefined) return undefined;
    score += inName !== undefined ? OWN : inMessage !== undefined ? AROUND : COMMENT;
    owned ||= inName !== undefined;
    shared ||= inName === undefined && inMessage !== undefined;
    byComment ||= inName === undefined && inMessage === undefined;
    said.push(word.text.replaceAll('-', ' '));
  }
  // A match that relies on the comment alone needs more than one meaning, and no meaning of another topic.
  if (!owned && !(byComment && groups.length > 1)) return undefined;
  if (byComment && facts.comment.some((word) => isOf(word, twisting))) return undefined;
  return { score, said: [...new Set(said)], byComment, shared };
}

/** Returns true if the word, or a word that it resembles, has a meaning, but no expected one. */
function isForeign({ concepts, resembles }: Word, expected: ReadonlySet<string>): boolean {
  const meant = concepts.length > 0 ? concepts : resembles;
  return meant.length > 0 && !meant.some((concept) => concept === '' || expected.has(concept));
}

function isUnknown({ concepts, isNumber }: Word): boolean {
  return concepts.length === 0 && !isNumber;
}

function isOf({ concepts }: Word, set: ReadonlySet<string>): boolean {
  return concepts.some((concept) => set.has(concept));
}

function prepare(rule: Rule): Prepared {
  let ready = prepared.get(rule);
  if (ready === undefined) {
    const besides = setOf(rule.besides);
    const patterns = rule.names.map((name) => {
      const groups = name.split(' ').map(groupOf);
      return { groups, expected: new Set([...groups.flatMap(({ either }) => [...either]), ...besides]) };
    });
    ready = { patterns, around: setOf(rule.around), never: setOf(rule.never) };
    prepared.set(rule, ready);
  }
  return ready;
}

function groupOf(written: string): Group {
  return { either: new Set(written.replace('!', '').split('/')), own: written.endsWith('!') };
}

function setOf(concepts = ''): Set<string> {
  return new Set(concepts.split(' ').filter((concept) => concept !== ''));
}
