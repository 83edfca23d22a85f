/** Parsers with faults that fuzzing must find. An exclamation mark in the input triggers them. */
import { VigieError } from '../../protocol/errors.ts';
import { type FuzzTarget, texts } from '../../scripts/fuzz/target.ts';

function target(name: string, marked: () => void): FuzzTarget {
  return {
    name,
    seeds: () => texts('a small input'),
    words: ['!'],
    run(input) {
      if (input.includes(0x21)) marked();
      return true;
    },
  };
}

export const targets: readonly FuzzTarget[] = [
  target('throws', () => {
    throw new TypeError('not of the table');
  }),
  target('hangs', () => {
    for (let i = 0; i >= 0; i = (i + 1) % 10) if (i < 0) return;
  }),
  target('hoards', () => {
    const hoard: string[][] = [];
    for (;;) hoard.push(Array.from({ length: 1000 }, (_, i) => `${hoard.length} ${i}`));
  }),
  target('sound', () => {
    throw new VigieError('input.malformed', 'no exclamation marks');
  }),
];
