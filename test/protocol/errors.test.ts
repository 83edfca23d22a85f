import { expect, test } from 'vitest';
import { shortened } from '../../protocol/errors.ts';

test.each([
  ['a short text stays', 18, 'a short text stays'],
  ['write its path relative to this file (car.dbc)', 35, 'write its path relative to this…'],
  ['write its path relative to this, or leave it', 34, 'write its path relative to this…'],
  ['a_word_without_a_space', 10, 'a_word_wi…'],
  ['12345678😀', 9, '12345678…'],
])('the message %j is shortened to at most %i characters', (sentence, length, short) => {
  expect(shortened(sentence, length)).toBe(short);
  expect(short.length).toBeLessThanOrEqual(length);
});
