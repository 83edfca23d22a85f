import { expect, test } from 'vitest';
import { failureCauses } from '../../../protocol/errors.ts';
import { remoteKinds } from '../../../protocol/remote/table.ts';
import { orderQuestionWords } from '../../../protocol/remote/words.ts';
import { alertSeverities } from '../../../protocol/schema/alert.ts';
import { alertTypes } from '../../../protocol/schema/alert-types.ts';
import { collisionSeverities, collisionSides } from '../../../protocol/schema/collision.ts';
import { faultGroups, faultStatuses } from '../../../protocol/schema/fault.ts';
import { recordKinds } from '../../../protocol/schema/kind.ts';
import { commandKinds, remoteStatuses } from '../../../protocol/schema/remote.ts';
import { slots } from '../../../protocol/slots.ts';
import { nameOfPath, nameOfValue, termOf } from '../../../protocol/words/dictionary.ts';
import { languages } from '../../../protocol/words/languages.ts';
import { pageWords, pushObstacleWords } from '../../../protocol/words/page.ts';
import { dictionaryOf, type termWords } from '../../../protocol/words/table.ts';

/** Orders with a button on the page. */
const orderNames = remoteKinds.flatMap(({ type, words: { bodies, alone, verb } }) => {
  const names = Object.keys(bodies);
  return (names.length === 0 && alone !== undefined ? [verb] : names).map((name) => `${type} ${name}`);
});

/** Abbreviations that people read as words. */
const readable = /\b(?:2D|3D|AdBlue)\b/g;

/** Returns whether a text is or contains a code: `rlka`, `HoldWithOverSpeeding`, `LeftFront`. */
function looksLikeCode(text: string): boolean {
  return /[a-z][A-Z]|[A-Z]{3}|\w[._]\w/.test(text.replaceAll(readable, ''));
}

test('a text that looks like code is found', () => {
  for (const code of ['rgi.UpDown', 'LeftFront', 'ZEV', 'door_open'])
    expect([code, looksLikeCode(code)]).toEqual([code, true]);
  for (const text of ['Rear left door', '12 V battery', 'fault of the AdBlue system', 'with altitude (3D)']) {
    expect([text, looksLikeCode(text)]).toEqual([text, false]);
  }
});

for (const language of languages) {
  const dictionary = dictionaryOf(language);

  test(`every path of Status has a unique name in ${language}, and no other path has one`, () => {
    expect(Object.keys(dictionary.paths).toSorted()).toEqual(slots.map(({ path }) => path).toSorted());
    const names = slots.map(({ path }) => nameOfPath(dictionary, path) ?? '');
    expect(names.filter((name) => looksLikeCode(name) || !/^[A-ZÀ-ÖØ-Þ\d]/.test(name))).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(nameOfPath(dictionary, 'toString')).toBeUndefined();
  });

  test(`every flag and enumeration value has words in ${language} that differ from its code`, () => {
    const named = slots.filter(({ kind }) => ['flag', 'enumeration', 'set'].includes(kind));
    expect(named.length).toBeGreaterThan(40);
    for (const { path, kind, values = ['true', 'false'] } of named) {
      for (const value of values) {
        const words = nameOfValue(dictionary, path, kind === 'flag' ? value === 'true' : value) ?? '';
        expect([path, value, words, words !== '' && words !== value && !looksLikeCode(words)]).toEqual([
          path,
          value,
          words,
          true,
        ]);
      }
      const words = values.map((value) => nameOfValue(dictionary, path, value));
      expect([path, words.length]).toEqual([path, new Set(words).size]);
    }
  });

  test(`every code outside Status has words in ${language} that differ from the code`, () => {
    const codes: Readonly<Record<keyof typeof termWords, readonly string[]>> = {
      records: [...recordKinds, 'event'],
      alerts: alertTypes,
      alertSeverities,
      collisionSides,
      collisionSeverities,
      thefts: ['Declared', 'Alarm'],
      faultGroups,
      faultStatuses,
      commands: commandKinds,
      orders: orderNames,
      orderQuestions: Object.keys(orderQuestionWords),
      commandStates: [...remoteStatuses, 'Requested'],
      failures: failureCauses,
      page: Object.keys(pageWords),
      pushObstacles: Object.keys(pushObstacleWords),
    };
    for (const [group, all] of Object.entries(codes)) {
      expect([group, Object.keys(dictionary.terms[group] ?? {}).toSorted()]).toEqual([group, [...all].toSorted()]);
      const words = all.map((code) => termOf(dictionary.terms, group, code) ?? '');
      // Sentences about obstacles contain names of settings.
      const isCode = group === 'pushObstacles' ? () => false : looksLikeCode;
      expect(words.filter((text) => text === '' || isCode(text))).toEqual([]);
    }
    const alerts = alertTypes.map((type) => termOf(dictionary.terms, 'alerts', type));
    expect(new Set(alerts).size).toBe(alertTypes.length);
  });
}

test('a set is named by all its values; unknown values have no words', () => {
  const dictionary = dictionaryOf('en');
  expect(nameOfValue(dictionary, 'doorsState.lockedStates', ['Locked', 'TrunkUnLocked'])).toBe('locked, boot unlocked');
  expect(nameOfValue(dictionary, 'doorsState.lockedStates', ['Locked', 'constructor'])).toBeUndefined();
  expect(nameOfValue(dictionary, 'doorsState.lockedStates', [])).toBeUndefined();
  expect(nameOfValue(dictionary, 'kinetic.speed', 3)).toBeUndefined();
  expect(nameOfValue(dictionary, 'hasOwnProperty', 'Open')).toBeUndefined();
  expect(termOf(dictionary.terms, 'alerts', 'toString')).toBeUndefined();
  expect(termOf(dictionary.terms, 'valueOf', 'toString')).toBeUndefined();
});
