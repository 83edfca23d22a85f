/** Several actuators that act as one. */
import { expect, test } from 'vitest';
import { Actuators } from '../../agent/actuators.ts';
import type { Actuator } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';

function recorded(name: string, actions: readonly string[], done: unknown[]): Actuator {
  return {
    actions: new Set(actions),
    actuate: async (action, parameters, allowed) => {
      allowed?.();
      done.push([name, action, parameters]);
    },
  };
}

test('an action goes to the first actuator that offers it, with its parameters and its guard', async () => {
  const done: unknown[] = [];
  const both = new Actuators([
    recorded('frames', ['horn.sound', 'doors.lock'], done),
    recorded('diagnostics', ['doors.lock', 'engine.start'], done),
  ]);
  expect([...both.actions].sort()).toEqual(['doors.lock', 'engine.start', 'horn.sound']);
  await both.actuate('doors.lock', { a: 1 });
  await both.actuate('engine.start');
  expect(done).toEqual([
    ['frames', 'doors.lock', { a: 1 }],
    ['diagnostics', 'engine.start', undefined],
  ]);
  const refused = new VigieError('command.expired', 'too late');
  const forbid = (): void => {
    throw refused;
  };
  await expect(both.actuate('horn.sound', undefined, forbid)).rejects.toBe(refused);
  expect(done).toHaveLength(2);
});

test('an action that no actuator offers is refused', async () => {
  const refusal = new Actuators([]).actuate('horn.sound');
  await expect(refusal).rejects.toMatchObject({ code: 'command.unsupported' });
  await expect(refusal).rejects.toThrow('the vehicle profile has no horn.sound');
});
