/** Listeners for falling asleep and waking. */
import { expect, test } from 'vitest';
import { UnitRest } from '../../../agent/power/rest.ts';

test('each who listens is told of each change once, the same function as often as it listens', () => {
  const rest = new UnitRest();
  const heard: string[] = [];
  const both = (asleep: boolean): void => void heard.push(`both ${asleep}`);
  const end = rest.subscribe(both);
  rest.subscribe(both);
  rest.set(false);
  expect([rest.asleep, heard]).toEqual([false, []]);
  rest.set(true);
  rest.set(true);
  expect([rest.asleep, heard]).toEqual([true, ['both true', 'both true']]);
  end();
  end();
  rest.set(false);
  expect([rest.asleep, heard.slice(2)]).toEqual([false, ['both false']]);
});

test('who ends listening while a change is told keeps nobody else from it', () => {
  const rest = new UnitRest();
  const heard: string[] = [];
  const end = rest.subscribe(() => {
    heard.push('first');
    end();
  });
  rest.subscribe(() => void heard.push('second'));
  rest.set(true);
  rest.set(false);
  expect(heard).toEqual(['first', 'second', 'second']);
});
