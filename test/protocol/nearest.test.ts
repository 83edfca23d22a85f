import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest, suggestion } from '../../protocol/nearest.ts';

describe('the nearest name', () => {
  const known = ['kinetic.speed', 'kinetic.moving', 'engines.Thermic.speed', 'timeout', 'interval'];

  test.each([
    ['kinetic.sped', ['kinetic.speed']],
    ['Kinetic.Speed', ['kinetic.speed']],
    ['speed', ['kinetic.speed', 'engines.Thermic.speed']],
    ['intervall', ['interval']],
    ['itmeout', ['timeout']],
    ['elephant', []],
  ])('%s', (name, expected) => {
    expect(nearest(name, known)).toEqual(expected);
  });

  test('is found if one letter changed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(), fc.constantFrom('', 'x', 'qq'), (name, at, instead) => {
        const place = at % name.length;
        const wrong = name.slice(0, place) + instead + name.slice(place + 1);
        expect(nearest(wrong, known)).toContain(name);
      }),
    );
  });

  test('is empty if no name is close', () => {
    expect(suggestion('elephant', known)).toBeUndefined();
    expect(suggestion('timeuot', known)).toBe('did you mean timeout?');
  });
});
