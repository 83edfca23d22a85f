/** The filter that removes members from answers for lack of scopes. */
import { expect, test } from 'vitest';
import type { Scope } from '../../../protocol/interface/operations/scopes.ts';
import type { FleetEvent } from '../../../protocol/interface/own/hub-overview.ts';
import { scopeOfPath, seenCar, seenCommand, seenEvent } from '../../../protocol/interface/visible-members.ts';
import { slots } from '../../../protocol/slots.ts';
import { monitorEvent, position } from '../../hub/marked-messages.ts';

const only =
  (...held: Scope[]) =>
  (scope: Scope): boolean =>
    held.includes(scope);

test('positions in Status, also in alarms and thefts, need data:position, and nothing else does', () => {
  const positions = slots.map(({ path }) => path).filter((path) => scopeOfPath(path) === 'data:position');
  expect(positions.filter((path) => !path.startsWith('lastPosition.')).sort()).toEqual([
    'alarm.trigger.position',
    'stolen.endPosition',
    'stolen.startPosition',
  ]);
  expect(positions.length).toBe(3 + slots.filter(({ path }) => path.startsWith('lastPosition.')).length);
});

test('a member of a car that the table lacks is removed', () => {
  const car = { vin: 'V', heard: 1, missing: 2, speed: 3, latitude: 4, longitude: 5, added: 'secret' };
  expect(seenCar(only('data:telemetry'), car)).toEqual({ vin: 'V', heard: 1, missing: 2, speed: 3 });
  expect(seenCar(only('data:position'), car)).toEqual({ vin: 'V', heard: 1, missing: 2, latitude: 4, longitude: 5 });
});

test("an event needs the scope of its kind, a monitor's event those of its content, and unknown kinds are hidden", () => {
  const event = (kind: string, body: object): FleetEvent =>
    ({ id: 1, vin: 'V', kind, at: 2, received: 3, body }) as FleetEvent;
  const collision = { id: 'a', position, readings: { start: 1, size: 2, columns: new Uint8Array(3) } };
  expect(seenEvent(only('data:collision'), event('collision', collision))?.body).toEqual({ id: 'a' });
  expect(seenEvent(only('data:trip'), event('collision', collision))).toBeUndefined();
  const told = { ...monitorEvent('b', 'm', 't'), extensions: [{ type: 'vehicle.trip', trip: { id: 'c' } }] };
  expect(seenEvent(only('data:telemetry', 'data:position'), event('event', told))).toBeUndefined();
  expect(seenEvent(only('data:telemetry', 'data:position', 'data:trip'), event('event', told))?.body).toEqual(told);
  expect(seenEvent(() => true, event('hello', {}))).toBeUndefined();
});

test('the audit trail hides monitors in commands, and kinds without their scope or data:telemetry', () => {
  const order = { type: 'Monitor', body: { monitorId: 'm', monitor: { label: 'at home' } } };
  expect(seenCommand(() => true, order)?.body).toEqual({ monitorId: 'm' });
  expect(seenCommand(only('remote:door:write'), order)).toBeUndefined();
  const lock = { type: 'Doors', body: { state: 'Locked' } };
  expect(seenCommand(only('remote:door:write'), lock)).toEqual(lock);
  expect(seenCommand(only('remote:horn:write', 'data:trip'), lock)).toBeUndefined();
});
