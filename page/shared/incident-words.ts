/** Words for incidents. The dictionary is an argument, because the service worker has only the stored one. */
import { type Dictionary, nameOfValue, termOf } from '../../protocol/words/dictionary.ts';
import type { TermGroup } from '../../protocol/words/table.ts';
import type { IncidentKind } from './addresses.ts';
import { capital, textOf, wordsOf } from './format.ts';

/** Fields of alerts, collisions, alarms and thefts that determine the words. */
export interface IncidentRecord {
  readonly type?: string;
  readonly details?: readonly { readonly side?: string; readonly severity?: string }[];
  readonly trigger?: { readonly type: string };
  readonly origin?: string;
}

/** Returns words for a code. If the dictionary does not contain the code, splits its name into words. */
export function wordsOfCode({ terms }: Dictionary, group: TermGroup, code: unknown): string {
  return termOf(terms, group, code) ?? wordsOf(`.${String(code)}`).toLowerCase();
}

/** Returns words for one impact of a collision, such as “at the front, severe, airbags fired”. */
export function wordsOfImpact(words: Dictionary, side: unknown, severity: unknown): string {
  const where = side === undefined ? [] : [wordsOfCode(words, 'collisionSides', side)];
  const how = severity === undefined ? [] : [wordsOfCode(words, 'collisionSeverities', severity)];
  return [...where, ...how].join(', ');
}

/** Returns the title of an incident, such as “Alarm: somebody inside”. */
export function wordsOfIncident(words: Dictionary, kind: IncidentKind, record: IncidentRecord): string {
  const { type, details = [], trigger, origin } = record;
  switch (kind) {
    case 'Collision': {
      const impacts = details.map(({ side, severity }) => wordsOfImpact(words, side, severity));
      return [capital(wordsOfCode(words, 'records', 'collision')), ...impacts].join(': ');
    }
    case 'Theft':
      return capital(origin === undefined ? wordsOfCode(words, 'page', 'theft') : wordsOfCode(words, 'thefts', origin));
    case 'Alarm': {
      const alarm = wordsOfCode(words, 'records', 'alarm');
      if (trigger === undefined) return alarm;
      return `${alarm}: ${nameOfValue(words, 'alarm.trigger.type', trigger.type) ?? textOf(trigger.type)}`;
    }
    default:
      return capital(wordsOfCode(words, 'alerts', type ?? kind));
  }
}
