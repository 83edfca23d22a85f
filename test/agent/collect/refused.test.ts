/** Collect commands that are refused. */
import { expect, test } from 'vitest';
import type { CollectOrder } from '../../../protocol/schema/collect.ts';
import { START, startCar } from './car.ts';
import { drive, HOUR, torque, valuesOf } from './torque.ts';

test.each<[why: string, order: CollectOrder, code: string, message: RegExp]>([
  ['no end', { name: 'a', signals: [{ signal: 'MOTION.Torque' }] }, 'input.malformed', /^`until` is missing/],
  ['until in the past', torque(START - 1), 'input.malformed', /^until is in the past: 2026-01-01T11:59:59/],
  ['until too late', torque(START + 32 * 24 * HOUR), 'input.malformed', /at most 31 days/],
  [
    'an unknown signal',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torqe' }] }),
    'input.unknown',
    /^message MOTION has no signal Torqe \(did you mean Torque/,
  ],
  [
    'an unknown message',
    torque(START + 1, { signals: [{ signal: 'MOTIN.*' }] }),
    'input.unknown',
    /no network description has a message MOTIN \(did you mean MOTION/,
  ],
  [
    'an unknown bus',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', bus: 'cam' }] }),
    'input.unknown',
    /no DBC of the profile describes a bus cam \(.*can/,
  ],
  [
    'a message of two buses',
    torque(START + 1, { signals: [{ signal: 'CELLS.Max' }] }),
    'input.malformed',
    /buses can and body have such a message; add `bus`/,
  ],
  [
    'another unit',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', unit: 'kN' }] }),
    'input.malformed',
    /^MOTION\.Torque has the unit Nm, not kN$/,
  ],
  [
    'a unit where there is none',
    torque(START + 1, { signals: [{ signal: 'MOTION.Gear', unit: 'V' }] }),
    'input.malformed',
    /^MOTION\.Gear has no unit, not V$/,
  ],
  [
    'a number without a step',
    torque(START + 1, { signals: [{ signal: 'CELLS.Exact', bus: 'can' }] }),
    'input.malformed',
    /floating-point number.*add resolution/,
  ],
  [
    'a resolution of 0',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', resolution: 0 }] }),
    'input.malformed',
    /resolution must be more than 0/,
  ],
  [
    'a heartbeat shorter than the interval of the collection',
    torque(START + 1, { interval: 2_000, signals: [{ signal: 'MOTION.Torque', heartbeat: 1_000 }] }),
    'input.malformed',
    /^MOTION\.Torque: a reading would be repeated after 1s and allowed only every 2s/,
  ],
  [
    'a name twice',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque' }, { signal: 'MOTION.Torque' }] }),
    'input.malformed',
    /MOTION\.Torque is a signal already/,
  ],
  [
    'the name of another signal of the profile',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', name: 'Vehicle.Powertrain.Cell.Max' }] }),
    'input.malformed',
    /^the profile calls CELLS\.Max Vehicle\.Powertrain\.Cell\.Max: give MOTION\.Torque another name$/,
  ],
  [
    'a name that is no wildcard',
    torque(START + 1, { signals: [{ signal: 'MOTION.*', name: 'Vehicle.Motion' }] }),
    'input.malformed',
    /a name ends with \.\* when the signal does/,
  ],
  [
    'a condition on a path without a value',
    torque(START + 1, { while: { path: 'kinetic.moving', equals: 'true' } }),
    'input.malformed',
    /^while: nothing under status gives kinetic\.moving a value/,
  ],
  [
    'a condition on no path of Status',
    torque(START + 1, { while: { path: 'kinetic.sped', atLeast: 1 } }),
    'input.malformed',
    /^while: Status has no path "kinetic\.sped"/,
  ],
  [
    'a condition that says nothing',
    torque(START + 1, { while: { path: 'kinetic.speed' } }),
    'input.malformed',
    /^while: exactly one of/,
  ],
])('a command with %s is refused, and the running collection continues', async (_, order, code, message) => {
  const car = await startCar({ custom: true });
  await car.order(torque(START + HOUR));
  await expect(car.order({ ...order, name: 'torque' })).rejects.toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
  await drive(car, [1]);
  await car.pass(3_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1]);
  await car.drop();
});

test('a seventeenth collection is refused', async () => {
  const car = await startCar();
  for (let i = 0; i < 16; i++) await car.order(torque(START + HOUR, { name: `c${i}` }));
  await expect(car.order(torque(START + HOUR, { name: 'more' }))).rejects.toThrow(
    expect.objectContaining({ code: 'input.malformed', message: expect.stringMatching(/^16 collections are running/) }),
  );
  await car.order(torque(START + HOUR, { name: 'c3', interval: 100 }));
  await car.drop();
});

test('a disk error while a command is stored leaves the collection unchanged', async () => {
  const car = await startCar();
  await car.order(torque(START + HOUR));
  car.disk.failAfter(0);
  await expect(car.order(torque(START + HOUR, { signals: [{ signal: 'MOTION.Gear' }] }))).rejects.toThrow(
    expect.objectContaining({ code: 'store.failed' }),
  );
  await drive(car, [1]);
  await car.pass(10_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1]);
  expect(valuesOf(car, 'MOTION.Gear')).toEqual([]);
  await car.drop();
});
