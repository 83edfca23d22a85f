/**
 * Names of values and codes in the language that the reader chose, or that the browser prefers. The script contains the
 * English ones; others are loaded when they are needed.
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
/** Counts the choices: the words of the last one count, whatever is loaded first. */
let choices = 0;
const listeners = new Set<() => void>();

/** Dictionary of the language of the names. */
export function wordsNow(): Dictionary {
  return dictionary;
}

/** Language of the names now. */
export function languageOfNames(): string {
  return dictionary.language;
}

/** Calls `listener` when the names are in another language; the result ends that. */
export function listenToLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The language that the reader chose, else the first that the browser prefers and that has words. */
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

/** Rejects if the words cannot be loaded; the names stay as they are. */
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

/** Name of a path of Status; of a custom signal, the words in its name. */
export function pathInWords(path: string): string {
  return nameOfPath(dictionary, path) ?? wordsOf(path);
}

/** The value as people say it, without unit. */
export function valueInWords(path: string, value: unknown, resolution?: number): string {
  return nameOfValue(dictionary, path, value) ?? textOf(value, resolution);
}

/** Words for a code; one that is newer than this page is divided into its words. */
export function codeInWords(group: TermGroup, code: unknown): string {
  return wordsOfCode(dictionary, group, code);
}

/** Words for a code; undefined if it has none. */
export function termInWords(group: TermGroup, code: unknown): string | undefined {
  return termOf(dictionary.terms, group, code);
}
