/**
 * All words for people, in all languages. The page loads the dictionaries that are generated from it; other programs
 * import it if they need words. The agent does not load it unless something shows words.
 */
import { commandStateWords, commandWords, failureWords, orderQuestionWords, orderWords } from '../remote/words.ts';
import { alertWords } from './alerts.ts';
import type { Dictionary } from './dictionary.ts';
import { type Language, languages, type Wording } from './languages.ts';
import { pageWords, pushObstacleWords } from './page.ts';
import {
  alertSeverityWords,
  collisionSeverityWords,
  collisionSideWords,
  faultGroupWords,
  faultStatusWords,
  recordWords,
  theftWords,
} from './records.ts';
import { statusWords } from './status.ts';

/** Words for codes outside Status, by group. */
export const termWords = {
  records: recordWords,
  alerts: alertWords,
  alertSeverities: alertSeverityWords,
  collisionSides: collisionSideWords,
  collisionSeverities: collisionSeverityWords,
  thefts: theftWords,
  faultGroups: faultGroupWords,
  faultStatuses: faultStatusWords,
  commands: commandWords,
  orders: orderWords,
  orderQuestions: orderQuestionWords,
  commandStates: commandStateWords,
  failures: failureWords,
  page: pageWords,
  pushObstacles: pushObstacleWords,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Wording>>>>;
export type TermGroup = keyof typeof termWords;

export function dictionaryOf(language: Language): Dictionary {
  const index = languages.indexOf(language);
  const namesOf = (words: Readonly<Record<string, Wording>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(words).map(([code, all]) => [code, all[index] ?? '']));
  const rows: readonly (readonly [string, readonly [Wording, Readonly<Record<string, Wording>>?]])[] =
    Object.entries(statusWords);
  const paths = rows.map(([path, [name, values]]) => {
    const text = name[index] ?? '';
    return [path, values === undefined ? ([text] as const) : ([text, namesOf(values)] as const)] as const;
  });
  return {
    language,
    paths: Object.fromEntries(paths),
    terms: Object.fromEntries(Object.entries(termWords).map(([group, words]) => [group, namesOf(words)])),
  };
}
