/**
 * Names of values and codes, in the language that the reader chose or that the browser prefers. The script contains the
 * English names; others are loaded on demand.
 */
import { type Dictionary, nameOfPath, nameOfValue, termOf } from '../../protocol/words/dictionary.ts';
import { type Language, languages } from '../../protocol/words/languages.ts';
import type { TermGroup } from '../../protocol/words/table.ts';
import english from '../generated/words-en.json' with { type: 'json' };
import { textOf, wordsOf } from './format.ts';
import { wordsOfCode } from './incident-words.ts';
import { keep, readKept } from './kept.ts';

const KEY = 'language';

let dictionary = english as unknown as Dictionary;
/** Number of language choices. Only the words of the last choice are used, in whatever order they are loaded. */
let choices = 0;
const listeners = new Set<() => void>();

/** Returns the dictionary of the present language. */
export function wordsNow(): Dictionary {
  return dictionary;
}

/** Returns the present language of names. */
export function languageOfNames(): string {
  return dictionary.language;
}

/** Calls `listener` when the language of names changes. Returns a function that stops this. */
export function listenToLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the chosen language or, if there is none, the browser's first preferred language that has a dictionary. */
export function preferredLanguage(
  chosen = readKept(KEY),
  preferred: readonly string[] = navigator.languages,
): Language {
  for (const tag of [chosen, ...preferred]) {
    const found = languages.find((language) => language === tag?.split('-', 1)[0]?.toLowerCase());
    if (found !== undefined) return found;
  }
  return 'en';
}

export function chooseLanguage(language: Language): Promise<void> {
  keep(KEY, language);
  return speak(language);
}

/** Changes the language. Rejects if the words cannot be loaded; the names then stay unchanged. */
export async function speak(language: Language): Promise<void> {
  const choice = ++choices;
  let next = english as unknown as Dictionary;
  if (language !== 'en') {
    const response = await fetch(`/page/words-${language}.json`);
    if (!response.ok) throw new Error(`The words of this language did not load (${response.status}).`);
    next = (await response.json()) as Dictionary;
  }
  if (choice !== choices) return;
  dictionary = next;
  for (const listener of listeners) listener();
}

/** Returns the name of a path of Status, or the words in the name of a custom signal. */
export function pathInWords(path: string): string {
  return nameOfPath(dictionary, path) ?? wordsOf(path);
}

/** Returns the value in words, without unit. */
export function valueInWords(path: string, value: unknown, resolution?: number): string {
  return nameOfValue(dictionary, path, value) ?? textOf(value, resolution);
}

/** Returns words for a code. If the dictionary does not contain the code, splits its name into words. */
export function codeInWords(group: TermGroup, code: unknown): string {
  return wordsOfCode(dictionary, group, code);
}

/** Returns words for a code, or undefined if it has none. */
export function termInWords(group: TermGroup, code: unknown): string | undefined {
  return termOf(dictionary.terms, group, code);
}
