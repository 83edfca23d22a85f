import { expect, test } from 'vitest';
import { setAlarm } from '../../assembly/alarm.ts';

test('an alarm fires at its time, here a past one, unless it is cancelled before', async () => {
  const called: string[] = [];
  const past = Date.UTC(2026, 0, 1);
  setAlarm(past, () => called.push('cancelled'))();
  await new Promise<void>((resolve) => {
    setAlarm(past, () => {
      called.push('woken');
      resolve();
    });
  });
  expect(called).toEqual(['woken']);
});
