import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MessageOrder } from '../../../hub/core/message.ts';
import { VehicleStatus } from '../../../hub/core/vehicle-status.ts';
import { defined } from '../../../protocol/defined.ts';
import type { StatusContents } from '../../../protocol/schema/status.ts';
import type { StatusMessage } from '../../../protocol/schema/status-message.ts';
import { NOON } from '../messages.ts';

function speed(value: number, at: number): StatusContents {
  return { kinetic: { createdAt: at, speed: value } } as StatusContents;
}

function ignition(type: string, at: number): StatusContents {
  return { ignition: { createdAt: at, type } } as StatusContents;
}

const whole = (status: StatusContents, stale?: number[]): StatusMessage => ({
  full: true,
  status,
  ...defined({ stale }),
});
const change = (status: StatusContents, removed?: string[]): StatusMessage => ({
  full: false,
  status,
  ...defined({ removed }),
});

test('a change replaces only the objects it names; a full Status replaces everything', () => {
  const status = new VehicleStatus();
  status.apply(whole({ ...speed(10, NOON), ...ignition('Start', NOON) }), { boot: 1, seq: 0 });
  status.apply(change(speed(20, NOON + 1_000)), { boot: 1, seq: 1 });
  expect(status.contents()).toEqual({ ...speed(20, NOON + 1_000), ...ignition('Start', NOON) });
  status.apply(whole(ignition('Stop', NOON + 2_000), [5]), { boot: 1, seq: 2 });
  expect([status.contents(), status.stale]).toEqual([ignition('Stop', NOON + 2_000), [5]]);
  expect(status.contents().kinetic).toBeUndefined();
});

test('a stored Status is read back unchanged', () => {
  const order = { boot: 1, seq: 4 };
  const contents = { ...speed(10, NOON), ...ignition('Start', NOON + 5) };
  const status = new VehicleStatus();
  status.apply(whole(contents, [17]), order);
  expect([status.contents(), status.stale]).toEqual([contents, [17]]);
  const again = new VehicleStatus(JSON.parse(status.write()));
  expect([again.contents(), again.stale, again.write()]).toEqual([contents, [17], status.write()]);
  again.apply(whole(speed(20, NOON + 1_000)), { boot: 1, seq: 3 });
  expect(again.contents()).toEqual(contents);
});

test('Status stores only the positions of the messages that it came from', () => {
  const [status, other] = [new VehicleStatus(), new VehicleStatus()];
  const body = whole(speed(10, NOON));
  status.apply(body, { boot: 1, seq: 0 });
  other.apply(body, { boot: 1, seq: 0, body } as MessageOrder);
  expect(other.write()).toBe(status.write());
});

test('values that a message removes disappear, including whole objects with all members', () => {
  const status = new VehicleStatus();
  status.apply(whole({ ...speed(10, NOON), ...ignition('Start', NOON) }), { boot: 1, seq: 0 });
  status.apply(change({}, ['kinetic']), { boot: 1, seq: 1 });
  expect(status.contents()).toEqual(ignition('Start', NOON));
  status.apply(change({}, ['ignition.type']), { boot: 1, seq: 2 });
  expect(status.contents()).toEqual({});
});

test('Status accepts messages after a start whose number the car could not store', () => {
  const status = new VehicleStatus();
  status.apply(whole(speed(10, NOON)), { boot: 7, seq: 3 });
  status.apply(whole(speed(20, NOON + 1_000)), { boot: 2_094_167_993, seq: 4 });
  expect(status.contents()).toEqual(speed(20, NOON + 1_000));
  status.apply(whole(speed(30, NOON + 2_000)), { boot: 1_200_000_000, seq: 5 });
  expect(status.contents()).toEqual(speed(30, NOON + 2_000));
  // The lost message had this number: it was not on disk when the power failed.
  status.apply(whole(speed(40, NOON + 3_000)), { boot: 8, seq: 5 });
  expect(status.contents()).toEqual(speed(40, NOON + 3_000));
  status.apply(whole(speed(30, NOON + 2_000)), { boot: 1_200_000_000, seq: 5 });
  expect(status.contents()).toEqual(speed(40, NOON + 3_000));
});

test('Status accepts messages after a start whose disk took none of its many messages', () => {
  const status = new VehicleStatus();
  const [uncounted, next] = [1_200_000_000, 8];
  status.apply(whole(speed(10, NOON)), { boot: 7, seq: 3, offset: 2 });
  status.apply(whole(speed(20, NOON + 1_000)), { boot: uncounted, seq: 900, offset: 896 });
  expect(status.contents()).toEqual(speed(20, NOON + 1_000));
  status.apply(whole(speed(30, NOON + 2_000)), { boot: next, seq: 5, offset: 1 });
  expect(status.contents()).toEqual(speed(30, NOON + 2_000));
  status.apply(whole(speed(50, NOON)), { boot: 7, seq: 4, offset: 3 });
  expect(status.contents()).toEqual(speed(30, NOON + 2_000));
});

test('Status accepts messages of an uncounted start whose numbers fall back behind those of a counted one', () => {
  const status = new VehicleStatus();
  status.apply(whole(speed(10, NOON)), { boot: 7, seq: 21, offset: 1 });
  status.apply(whole(speed(20, NOON + 1_000)), { boot: 1_200_000_000, seq: 20, offset: 2 });
  expect(status.contents()).toEqual(speed(10, NOON));
  status.apply(whole(speed(30, NOON + 2_000)), { boot: 1_200_000_000, seq: 22, offset: 4 });
  expect(status.contents()).toEqual(speed(30, NOON + 2_000));
});

test('a message of an earlier start never replaces a newer one, whatever its number', () => {
  const status = new VehicleStatus();
  status.apply(whole(speed(10, NOON)), { boot: 2, seq: 3 });
  status.apply(whole(speed(99, NOON + 9_000)), { boot: 1, seq: 400 });
  expect(status.contents()).toEqual(speed(10, NOON));
});

test('Status ends equal to the car’s, whatever the order of messages and restarts of the hub', () => {
  // A car sends a full Status, and then every object that changed since the last full one.
  const steps = fc.array(fc.record({ object: fc.constantFrom('speed', 'ignition'), whole: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(steps, fc.array(fc.nat(), { minLength: 13, maxLength: 13 }), fc.nat(12), (made, shuffle, restart) => {
      let present: StatusContents = {};
      let changed: StatusContents = {};
      const messages = made.map(({ object, whole: full }, index) => {
        const at = NOON + index * 1_000;
        const part = object === 'speed' ? speed(index + 1, at) : ignition(index % 2 === 0 ? 'Start' : 'Stop', at);
        present = { ...present, ...part };
        changed = { ...changed, ...part };
        const body = full || index === 0 ? whole(present) : change(changed);
        if (body.full) changed = {};
        return { body, order: { boot: 1, seq: index } };
      });
      const arriving = messages
        .map((message, index) => ({ message, place: shuffle[index] as number }))
        .sort((a, b) => a.place - b.place);
      let status = new VehicleStatus();
      for (const [index, { message }] of arriving.entries()) {
        if (index === restart) status = new VehicleStatus(JSON.parse(status.write()));
        status.apply(message.body, message.order);
      }
      expect(status.contents()).toEqual(present);
    }),
  );
});
