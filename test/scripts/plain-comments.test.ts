import { expect, test } from 'vitest';
import { unclearComments } from '../../scripts/plain-comments.ts';

test('a comment that hides the actor is found, in each form of comment', () => {
  const text = [
    '/** Nobody writes it. */',
    ' * The receiver is told.',
    '  // Whoever asks.',
    'const one = 1; // None is left.',
    'let two: number; /** They were told. */',
  ].join('\n');
  expect(unclearComments(text)).toEqual([
    { line: 1, phrase: 'Nobody' },
    { line: 2, phrase: 'is told' },
    { line: 3, phrase: 'Whoever' },
    { line: 4, phrase: 'None is' },
    { line: 5, phrase: 'were told' },
  ]);
});

test('a comment that begins with a relative clause or an afterthought is found', () => {
  const text = ['/** What is kept of them. */', ' * Of each car.', 'const one = 1; // Whose it is.'].join('\n');
  expect(unclearComments(text)).toEqual([
    { line: 1, phrase: 'What ' },
    { line: 2, phrase: 'Of ' },
    { line: 3, phrase: 'Whose ' },
  ]);
});

test('code, strings and clear comments are not reported', () => {
  const text = ["const nobody = 'nobody';", '/** The hub tells each car. */', "call('https://whoever.example');"].join(
    '\n',
  );
  expect(unclearComments(text)).toEqual([]);
});
