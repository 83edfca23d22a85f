/** Generations of the configuration: after any failure the last good one is still there and is restored. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  current,
  type Generations,
  helloConfiguration,
  LOCAL,
  needed,
  noGenerations,
  proven,
  readGenerations,
  returned,
  start,
  TRIAL_STARTS,
  take,
} from '../../../agent/configuration/generations.ts';

test('a received configuration is on trial, then good, and the next one falls back to it', () => {
  let state = take(start(noGenerations, 'a'), 'a', 'd1');
  expect([current(state), helloConfiguration(state)]).toEqual([1, { generation: 1, state: 'trial', digest: 'd1' }]);
  state = proven(start(state, 'a'));
  expect([current(state), helloConfiguration(state).state, needed(state)]).toEqual([1, 'applied', [1]]);
  state = start(take(state, 'a', 'd2'), 'a');
  expect([current(state), needed(state)]).toEqual([2, [1, 2]]);
  state = returned(state, 'no broker');
  expect(current(state)).toBe(1);
  const detail = 'generation 2 was given up: no broker';
  expect(helloConfiguration(state)).toEqual({ generation: 1, state: 'returned', detail, digest: 'd2' });
});

test('a configuration with which the agent does not stay up is abandoned', () => {
  let state = take(noGenerations, 'a', 'd1');
  for (let i = 0; i < TRIAL_STARTS; i++) {
    state = start(state, 'a');
    expect(current(state)).toBe(1);
  }
  state = start(state, 'a');
  expect([current(state), helloConfiguration(state).state]).toEqual([LOCAL, 'returned']);
});

test('a file edited on the unit takes precedence over a received configuration', () => {
  const state = start(proven(start(take(noGenerations, 'a', 'd1'), 'a')), 'b');
  expect([current(state), helloConfiguration(state).state]).toEqual([LOCAL, 'superseded']);
  expect(current(take(state, 'b', 'd2'))).toBe(2);
});

test('invalid stored state is rejected', () => {
  for (const data of [undefined, null, 1, {}, { good: 1, next: 1 }, { good: -1, next: 1 }, { good: 0.5, next: 2 }]) {
    expect(readGenerations(data)).toBeUndefined();
  }
  expect(readGenerations({ good: 0, next: 2, trial: { number: 2, starts: 0 } })).toBeUndefined();
  expect(readGenerations({ good: 0, next: 2, trial: { number: 1, starts: 0 } })).toBeDefined();
});

test('property: the good configuration is proven and never lost, and every trial ends', () => {
  type Step = 'start' | 'take' | 'reach' | 'expire' | 'cut' | 'edit';
  const steps = fc.array(fc.constantFrom<Step>('start', 'take', 'reach', 'expire', 'cut', 'edit'), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (sequence) => {
      /** Content of the disk: the state, and the texts by number. */
      let disk: Generations = noGenerations;
      const texts = new Set<number>();
      const reached = new Set<number>([LOCAL]);
      let memory: Generations | undefined;
      let local = 0;
      let startsOfTrial = 0;
      for (const step of sequence) {
        if (step === 'edit') local++;
        if (step === 'cut') memory = undefined;
        if (step === 'start') {
          memory = start(readGenerations(structuredClone(disk)) as Generations, String(local));
          disk = memory;
          startsOfTrial = memory.trial === undefined ? 0 : startsOfTrial + 1;
          expect(startsOfTrial).toBeLessThanOrEqual(TRIAL_STARTS);
          const running = current(memory);
          expect(running === LOCAL || texts.has(running)).toBe(true);
        }
        if (memory === undefined) continue;
        if (step === 'take') {
          const next = take(memory, String(local), 'd');
          // The text is on disk before the state.
          expect(texts.has(current(next))).toBe(false);
          texts.add(current(next));
          memory = next;
          disk = next;
          startsOfTrial = 0;
          // The agent restarts. Until then the configuration is not proven.
          memory = undefined;
        } else if (step === 'reach') {
          reached.add(current(memory));
          memory = proven(memory);
          disk = memory;
          for (const number of [...texts]) if (!needed(memory).includes(number)) texts.delete(number);
        } else if (step === 'expire') {
          const good = memory.good;
          memory = returned(memory, 'no broker');
          disk = memory;
          expect(current(memory)).toBe(good);
        }
        expect(reached.has(disk.good)).toBe(true);
        for (const number of needed(disk)) expect(texts.has(number)).toBe(true);
      }
    }),
  );
});
