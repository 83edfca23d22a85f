/** Converts the signals of a car to lines of a first profile. */

import { channelByPath } from '../../protocol/channels.ts';
import { defined } from '../../protocol/defined.ts';
import { type Leaf, slotByPath, slots } from '../../protocol/slots.ts';
import { codesOf, shownCodes } from './codes.ts';
import { type Match, matchOf } from './match.ts';
import { type NumberFit, numberFit } from './number.ts';
import type { Rule } from './rule.ts';
import { rules } from './rules/index.ts';
import type { SignalFacts } from './signals.ts';
import { type StateFit, stateFit } from './states.ts';
import type { Conversion } from './units.ts';
import type { Word } from './words.ts';

/** A line of the profile. */
export interface Suggestion {
  readonly path: string;
  readonly facts: SignalFacts;
  /** Question. The line stays a comment until a person has answered it. Undefined if the line can be used as it is. */
  readonly question?: string;
  /** Fields that the person must fill in; only with a question. */
  readonly blanks?: string;
  readonly conversion?: Conversion;
  /** Raw values that are codes, not values. */
  readonly invalid: readonly number[];
  /** Values by raw value. */
  readonly map?: ReadonlyMap<number, string>;
  /** Reason why this signal was chosen, and why this unit or these values. */
  readonly reason: string;
  /** Other signals that match, as `Message.Signal`, best first. */
  readonly rivals: readonly string[];
  readonly note?: string;
}

export interface Suggestions {
  /** Lines in the order of Status, then channels; at most one per path. */
  readonly lines: readonly Suggestion[];
  /** Paths of a profile for which no signal was found. */
  readonly missing: readonly string[];
}

interface Candidate {
  readonly facts: SignalFacts;
  readonly match: Match;
  readonly fit: NumberFit | StateFit;
  readonly rank: number;
  /** Question of the rule. */
  readonly doubt?: string;
}

/** Cost of a signal that needs confirmation by a person. */
const ASKED = 10;
/** Cost of a guess, for example a single bit without labels. */
const GUESSED = 0.5;
/** Cost of a signal that never changes in the log. */
const STILL = 0.4;

/** Cost of a value whose unit differs from that of the path. */
const CONVERTED = 0.05;

/** Gain for each value of the path that a state can represent. */
const TOLD = 0.1;
const MOST_TOLD = 8;

const MOST_RIVALS = 3;

/** @param logged true if a log was read: then only signals that have values in it are suggested */
export function suggest(signals: readonly SignalFacts[], logged: boolean): Suggestions {
  const found = new Map<string, Suggestion>();
  for (const rule of rules) {
    const alone =
      rule.alone !== undefined && answered(found.get(rule.alone.path)) === undefined ? rule.alone : undefined;
    const suggestion = suggestPath(
      { ...rule, ...(alone === undefined ? {} : { states: alone.states, note: alone.note }) },
      rule,
      signals,
      logged,
    );
    if (suggestion !== undefined) found.set(rule.path, suggestion);
  }
  moveElectricRange(found);
  const order = [...slots, ...channelByPath.values()].map(({ path }) => path);
  const lines = [...found.values()].sort((one, other) => order.indexOf(one.path) - order.indexOf(other.path));
  const missing = slots.filter(({ kind, path }) => kind !== 'value' && !found.has(path)).map(({ path }) => path);
  return { lines, missing };
}

function answered(suggestion: Suggestion | undefined): Suggestion | undefined {
  return suggestion?.question === undefined ? suggestion : undefined;
}

/** @param named the rule as it is in the table, to match names */
function suggestPath(
  rule: Rule,
  named: Rule,
  signals: readonly SignalFacts[],
  logged: boolean,
): Suggestion | undefined {
  const leaf = slotByPath.get(rule.path) ?? channelByPath.get(rule.path);
  if (leaf === undefined) throw new RangeError(`no path ${rule.path}`);
  const candidates: Candidate[] = [];
  for (const facts of signals) {
    const match = matchOf(named, facts);
    if (match === undefined) continue;
    const fit =
      rule.number === undefined
        ? rule.states && stateFit({ ...rule.states, names: leaf.values }, facts)
        : numberFit(rule.number, unitOf(leaf), facts);
    if (fit === undefined || (rule.number?.rises === true && (facts.observed?.falls ?? 0) > 0)) continue;
    if (logged && !isShown(fit, facts)) continue;
    const doubt = isDoubtful(rule, facts) ? rule.doubt?.question : undefined;
    const rank = rankOf(match, fit, facts) - (doubt === undefined ? 0 : ASKED);
    candidates.push({ facts, match, fit, rank, ...defined({ doubt }) });
  }
  candidates.sort((one, other) => other.rank - one.rank);
  const [best, ...others] = candidates;
  if (best === undefined) return undefined;
  const rivals = others.filter(({ fit }) => fit.kind === best.fit.kind).map(({ facts }) => nameOf(facts));
  const different = [...new Set(rivals)].filter((name) => name !== nameOf(best.facts));
  const hint = rule.when === undefined || says(best.facts.own, rule.when) ? rule.note : undefined;
  return {
    path: rule.path,
    facts: best.facts,
    rivals: different.slice(0, MOST_RIVALS),
    ...defined({ note: noteOf(hint, best.facts), question: best.doubt }),
    ...valuesOf(rule, best, logged),
  };
}

/** Returns the fields of a line that convert raw values to values, or a question for the missing ones. */
function valuesOf(
  { number }: Rule,
  { facts, match, fit }: Candidate,
  logged: boolean,
): Pick<Suggestion, 'question' | 'blanks' | 'conversion' | 'map' | 'invalid' | 'reason'> {
  const said = `${match.byComment ? 'comment' : 'name'}: ${match.said.join(', ')}`;
  if (fit.kind === 'asks') {
    const blanks = number === undefined ? blankMap(facts) : 'scale: ?, offset: ?';
    return { question: fit.question, blanks, invalid: number === undefined ? [] : shownCodes(facts), reason: said };
  }
  const reason = `${said}; ${fit.by}${shownBy(facts, logged)}`;
  if ('map' in fit) return { map: fit.map, invalid: [], reason };
  const codes = number === undefined ? [] : codesOf(facts, fit.conversion, number.usual);
  const invalid = [...new Set([...codes, ...(facts.observed?.validity?.codes ?? [])])].sort((a, b) => a - b);
  return { conversion: fit.conversion, invalid, reason };
}

/** Adds to a hint what the log shows about the validity of the signal, because a profile cannot express this. */
function noteOf(hint: string | undefined, { observed }: SignalFacts): string | undefined {
  const validity = observed?.validity;
  if (validity === undefined || validity.codes !== undefined) return hint;
  const shown = validity.invalid === 0 ? '' : ', and the log has invalid values that look like valid ones';
  const note = `${validity.signal} states its validity: the profile does not use it${shown}`;
  return hint === undefined ? note : `${hint}; ${note}`;
}

/** Returns true if the names contain a meaning that causes the doubt and none that removes it. */
function isDoubtful({ doubt }: Rule, { own, around }: SignalFacts): boolean {
  const words = [...own, ...around];
  return doubt !== undefined && says(words, doubt.when) && !says(words, doubt.unless);
}

function says(words: readonly Word[], concepts: string): boolean {
  const wanted = new Set<string>(concepts.split(' '));
  return words.some((word) => word.concepts.some((concept) => wanted.has(concept)));
}

/** Returns a map with the known raw values, without names. */
function blankMap({ signal, observed }: SignalFacts): string {
  const raws = observed === undefined ? [...Array(2 ** signal.length).keys()] : [...observed.raws];
  return `map: { ${raws
    .sort((one, other) => one - other)
    .map((raw) => `${raw}: ?`)
    .join(', ')} }`;
}

/** Returns the unit of a path. Durations are in seconds. */
function unitOf(leaf: Leaf): string {
  return leaf.kind === 'text' ? 's' : (leaf.unit ?? '1');
}

/** Returns true if the log contains a value of the signal other than codes and raw values without a name. */
function isShown(fit: NumberFit | StateFit, { observed }: SignalFacts): boolean {
  if (observed === undefined) return false;
  if ('map' in fit) return [...observed.raws].some((raw) => fit.map.has(raw));
  return 'conversion' in fit ? observed.span !== undefined : true;
}

const FUEL_RANGE = 'energies.Fuel.autonomy';
const ELECTRIC_RANGE = 'energies.Electric.autonomy';

/** Moves a range without a named energy to the battery of a car that shows no other sign of fuel. */
function moveElectricRange(found: Map<string, Suggestion>): void {
  const range = found.get(FUEL_RANGE);
  if (range === undefined || says([...range.facts.own, ...range.facts.around], 'fuel')) return;
  const others = [...found.keys()].filter((path) => path !== FUEL_RANGE);
  const burnsFuel = others.some((path) => path.startsWith('energies.Fuel.') || path.startsWith('engines.Thermic.'));
  if (burnsFuel || !others.some((path) => path.startsWith('energies.Electric.'))) return;
  found.delete(FUEL_RANGE);
  if (!found.has(ELECTRIC_RANGE)) found.set(ELECTRIC_RANGE, { ...range, path: ELECTRIC_RANGE });
}

function rankOf(match: Match, fit: NumberFit | StateFit, { observed }: SignalFacts): number {
  let rank = match.score;
  if (fit.kind === 'asks') rank -= ASKED;
  else if (!fit.certain) rank -= GUESSED;
  if ('conversion' in fit && fit.conversion.scale !== 1) rank -= CONVERTED;
  if ('map' in fit) rank += TOLD * Math.min(new Set(fit.map.values()).size, MOST_TOLD);
  if (observed?.changes === 0) rank -= STILL;
  return rank;
}

function shownBy({ observed }: SignalFacts, logged: boolean): string {
  return logged && observed?.changes === 0 ? '; it never changes in the log' : '';
}

/** Returns `Message.Signal`, the name of a signal in a profile. */
export function nameOf({ message, signal }: SignalFacts): string {
  return `${message.name}.${signal.name}`;
}
