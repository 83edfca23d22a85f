/** The last lines of `npm run library -- --into FOLDER`. */
import { expect, test } from 'vitest';
import { nextStep } from '../../scripts/library.ts';

test('an installation prints the next step, and warns of a Node too old for the program or for TypeScript', () => {
  expect(nextStep('/p', '24.1.0')).toBe('library: installed in /p; see docs/embedding.md for a first program');
  expect(nextStep('/p', '22.18.0').split('\n')).toHaveLength(1);
  expect(nextStep('/p', '22.12.0')).toContain('Node 22.12.0 runs JavaScript only');
  expect(nextStep('/p', '20.11.0')).toContain('it needs Node 22 or newer, and this machine has 20.11.0');
});
