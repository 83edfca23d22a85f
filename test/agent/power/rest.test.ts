/** Listeners for falling asleep and waking. */
import { expect, test } from 'vitest';
import { UnitRest } from '../../../agent/power/rest.ts';

test('each listener is notified once per change and registration, also if the function is the same', () => {
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

test('a listener that unsubscribes during a notification does not stop the others', () => {
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
