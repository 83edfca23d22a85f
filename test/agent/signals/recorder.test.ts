import { expect, test } from 'vitest';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { custom, receive, run } from './car.ts';

const plain = { scale: 1, offset: 0, invalid: [], priority: 0, message: 'M' };
const speed: SourceMapping = { ...plain, path: 'kinetic.speed', signal: 'Speed', timeout: 3_000 };
const privacy: SourceMapping = {
  ...plain,
  path: 'privacy.state',
  signal: 'Privacy',
  map: { 0: 'None', 1: 'Geolocation', 2: 'Full' },
};

const start = Date.UTC(2026, 0, 1, 12);

test('a signal with a condition is recorded only while Status meets it, from its first second on', async () => {
  const moving = { while: { path: 'kinetic.speed', atLeast: 10 } };
  const car = await run([custom('Vehicle.Torque', moving), custom('Vehicle.Other')], { sources: [speed] });
  for (const [kmh, torque] of [
    [0, 1],
    [5, 2],
    [20, 3],
    [30, 4],
    [9, 5],
    [8, 6],
    [50, 7],
  ] as const) {
    car.give({ 'Vehicle.Torque': torque, 'Vehicle.Other': torque });
    car.give({ Speed: kmh });
    await car.pass(1_000);
  }
  await car.pass(5_000);
  const { readings } = receive(car.published);
  // Values 3 and 7 were current when the car reached the speed, 4 came while it lasted, 5 before it was known to have
  // ended.
  expect(readings.get('Vehicle.Torque')?.map(([, value]) => value)).toEqual([3, 4, 5, 7]);
  expect(readings.get('Vehicle.Other')?.map(([, value]) => value)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  await car.drop();
});

test('a condition on a stale value does not hold', async () => {
  const moving = { while: { path: 'kinetic.speed', atLeast: 10 } };
  const car = await run([custom('Vehicle.Torque', moving)], { sources: [speed] });
  car.give({ Speed: 50 });
  car.give({ 'Vehicle.Torque': 1 });
  await car.pass(5_000);
  car.give({ 'Vehicle.Torque': 2 });
  await car.pass(3_000);
  expect(
    receive(car.published)
      .readings.get('Vehicle.Torque')
      ?.map(([, value]) => value),
  ).toEqual([1]);
  await car.drop();
});

test('privacy hides custom signals, or only those with positions; values read again afterwards are recorded', async () => {
  const car = await run([custom('Vehicle.Torque'), custom('Vehicle.Place', { position: true })], {
    sources: [privacy],
  });
  for (const [state, value] of [
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 4],
  ] as const) {
    car.give({ Privacy: state });
    car.give({ 'Vehicle.Torque': value, 'Vehicle.Place': value });
    await car.pass(2_000);
  }
  car.give({ Privacy: 2 });
  await car.pass(1_000);
  car.give({ 'Vehicle.Torque': 5, 'Vehicle.Place': 5 });
  await car.pass(1_000);
  car.give({ Privacy: 0 });
  await car.pass(4_000);
  const values = (name: string) =>
    receive(car.published)
      .readings.get(name)
      ?.map(([, value]) => value);
  expect(values('Vehicle.Torque')).toEqual([1, 2, 4]);
  expect(values('Vehicle.Place')).toEqual([1, 4]);
  car.give({ 'Vehicle.Torque': 5, 'Vehicle.Place': 5 });
  await car.pass(4_000);
  expect(values('Vehicle.Torque')).toEqual([1, 2, 4, 5]);
  expect(values('Vehicle.Place')).toEqual([1, 4, 5]);
  await car.drop();
});

test('a raw value for "not available" ends a series, and the next value counts as a change', async () => {
  const rule = { interval: 0, deadBand: 10, heartbeat: 1_000 };
  const car = await run([custom('Vehicle.Torque', { invalid: [255], rule })]);
  for (const value of [1, 2, 255, 2]) {
    car.give({ 'Vehicle.Torque': value });
    await car.pass(400);
  }
  await car.pass(5_000);
  expect(receive(car.published).readings.get('Vehicle.Torque')).toEqual([
    [start, 1],
    [start + 1_200, 2],
  ]);
  await car.drop();
});

test('readings of an open batch are sent after a power cut, under the profile of their recording', async () => {
  const old = await run([custom('Vehicle.Gone'), custom('Vehicle.Same')], { connected: false });
  for (let i = 1; i <= 3; i++) {
    old.give({ 'Vehicle.Gone': i, 'Vehicle.Same': i });
    await old.pass(500);
  }
  expect(old.published).toEqual([]);
  // The power fails. Recorded readings are on disk within a second.
  const disk = new RecordedDisk(old.disk.after(old.disk.moments, () => 0));
  await old.drop();
  const now = await run([custom('Vehicle.Same')], { disk, at: old.clock.now(), boot: 2 });
  await now.pass(1_000);
  now.give({ 'Vehicle.Same': 4 });
  await now.pass(4_000);
  const { readings, unknown } = receive(now.published);
  expect(unknown).toEqual([]);
  expect(readings.get('Vehicle.Gone')?.map(([, value]) => value)).toEqual([1, 2, 3]);
  expect(readings.get('Vehicle.Same')?.map(([, value]) => value)).toEqual([1, 2, 3, 4]);
  await now.drop();
});

test('flags, enumerations and scaled numbers keep their types', async () => {
  const names = [
    { count: 0, name: 'Off' },
    { count: 3, name: 'On' },
  ];
  const car = await run([
    custom('Vehicle.Flag', { kind: 'flag', raw: false }),
    custom('Vehicle.State', { kind: 'enumeration', names }),
    custom('Vehicle.Scaled', { raw: false, scale: 0.001, shift: 1, resolution: 0.01, unit: 'kV' }),
  ]);
  for (const value of [0, 3, 7]) {
    car.give({ 'Vehicle.Flag': value, 'Vehicle.State': value, 'Vehicle.Scaled': value * 10 });
    await car.pass(100);
  }
  await car.pass(5_000);
  const values = new Map(
    [...receive(car.published).readings].map(([name, all]) => [name, all.map(([, value]) => value)]),
  );
  expect(values.get('Vehicle.Flag')).toEqual([false, true]);
  expect(values.get('Vehicle.State')).toEqual(['Off', 'On', 7]);
  expect(values.get('Vehicle.Scaled')).toEqual([1, 1.03, 1.07]);
  await car.drop();
});

test('numbers that no column can represent are counted as refused and not recorded', async () => {
  const car = await run([custom('Vehicle.Wide')]);
  car.give({ 'Vehicle.Wide': 2 ** 60 });
  car.give({ 'Vehicle.Wide': Number.NaN });
  await car.pass(5_000);
  expect(car.agent.refused).toBe(2);
  expect(receive(car.published).readings.size).toBe(0);
  await car.drop();
});

test.each([-3_600_000, 3_600_000])('a constant value is repeated as usual after a clock step of %d ms', async (by) => {
  const car = await run([custom('Vehicle.Torque', { rule: { interval: 0, deadBand: 0, heartbeat: 2_000 } })]);
  const drive = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      car.give({ 'Vehicle.Torque': 7 });
      await car.pass(1_000);
    }
  };
  await drive();
  const before = car.clock.now();
  car.clock.step(by);
  await drive();
  await car.pass(3_000);
  const times = (receive(car.published).readings.get('Vehicle.Torque') ?? []).map(([at]) => at - before);
  const after = times.filter((at) => (by > 0 ? at >= by : at < -1_000_000)).map((at) => at - by);
  expect(after.length).toBeGreaterThanOrEqual(4);
  for (const [i, at] of after.entries()) if (i > 0) expect(at - (after[i - 1] as number)).toBe(2_000);
  await car.drop();
});
