/** Splits names of signals, messages and values into words with meanings. */
import { type Concept, longestPhrase, meanings } from './vocabulary.ts';

/** A word of a name, or several consecutive words with one meaning. */
export interface Word {
  readonly text: string;
  /** Meanings of the word; empty if the vocabulary does not contain it. `''` means that the word may be meaningless. */
  readonly concepts: readonly (Concept | '')[];
  /** Meanings of the words that a vowelless abbreviation may stand for, such as `limit` for `lmt`. */
  readonly resembles: readonly (Concept | '')[];
  readonly isNumber: boolean;
}

/** Letters that become two ASCII letters; all other diacritics are removed. */
const letters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' };

/** Minimum length in letters of a part of a compound: shorter parts would match in almost any word. */
const SHORTEST_PIECE = 3;
const longestWord = Math.max(...[...meanings.keys()].map((word) => word.length));

/** Meanings by the first letter and the consonants of a word, if these are at least three letters. */
const skeletons: ReadonlyMap<string, readonly (Concept | '')[]> = skeletonsOf(meanings);

function skeletonsOf(known: typeof meanings): Map<string, (Concept | '')[]> {
  const found = new Map<string, (Concept | '')[]>();
  for (const [word, concepts] of known) {
    const skeleton = word.charAt(0) + word.slice(1).replace(/[aeiou]/g, '');
    if (word.length < 4 || skeleton.length < 3 || skeleton === word || word.includes('-')) continue;
    found.set(skeleton, [...(found.get(skeleton) ?? []), ...concepts]);
  }
  return found;
}

/** Returns the words of a name such as `ESP_v_Signal`, `VehSpd`, `DOOR_OPEN_FL` or `Aussentemperatur`. */
export function wordsOf(name: string): Word[] {
  const tokens = tokensOf(name).flatMap((token) => (isWord(token) ? [token] : (piecesOf(token) ?? [token])));
  const meaning = tokens.findLastIndex((token) => meanings.get(token)?.includes('') !== true);
  const words: Word[] = [];
  for (let at = 0; at < tokens.length; ) {
    const count = phraseLength(tokens, at);
    const text = tokens.slice(at, at + count).join('-');
    const last = at + count > meaning;
    const concepts = conceptsOf(text, last);
    const resembles = concepts.length > 0 ? [] : (skeletons.get(text) ?? []);
    words.push({ text, concepts, resembles, isNumber: /^[0-9]+$/.test(text) });
    at += count;
  }
  return words;
}

export function tokensOf(name: string): string[] {
  return name
    .replace(/[äöüßÄÖÜ]/g, (letter) => letters[letter] ?? letter)
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/([A-Za-z])([0-9])/g, '$1 $2')
    .replace(/([0-9])([A-Za-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((token) => token !== '');
}

/** Returns the meanings of a word. `l` or `r` means left or right only as the last word; earlier it is a prefix. */
function conceptsOf(text: string, last: boolean): readonly (Concept | '')[] {
  return !last && (text === 'l' || text === 'r') ? [] : (meanings.get(singular(text)) ?? []);
}

function isWord(token: string): boolean {
  return meanings.has(singular(token)) || /^[0-9]+$/.test(token);
}

/** Returns the singular of a word if the vocabulary contains only that, otherwise the word itself. */
function singular(token: string): string {
  const stem = token.replace(/(?<=[a-z]{3})s$/, '');
  return meanings.has(token) || !meanings.has(stem) ? token : stem;
}

/** Returns the number of tokens in the longest phrase of the vocabulary that starts at `at`; 1 if there is none. */
function phraseLength(tokens: readonly string[], at: number): number {
  for (let count = Math.min(longestPhrase, tokens.length - at); count > 1; count--) {
    if (meanings.has(tokens.slice(at, at + count).join('-'))) return count;
  }
  return 1;
}

/** Splits a compound such as `motordrehzahl` into the fewest known words; undefined if the vocabulary lacks a part. */
function piecesOf(token: string): string[] | undefined {
  // For each end of a covered prefix: the number of words that cover it, and the start of the last of them.
  const best: ({ readonly count: number; readonly start: number } | undefined)[] = [{ count: 0, start: 0 }];
  for (let end = 1; end <= token.length; end++) {
    for (let start = Math.max(0, end - longestWord); start <= end - SHORTEST_PIECE; start++) {
      const before = best[start];
      if (before === undefined || before.count + 1 >= (best[end]?.count ?? Number.POSITIVE_INFINITY)) continue;
      if (meanings.has(token.slice(start, end))) best[end] = { count: before.count + 1, start };
    }
  }
  const pieces: string[] = [];
  for (let end = token.length; end > 0; ) {
    const last = best[end];
    if (last === undefined) return undefined;
    pieces.push(token.slice(last.start, end));
    end = last.start;
  }
  return pieces.reverse();
}
