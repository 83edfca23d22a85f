import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBody, encodeBody } from '../../../protocol/command.ts';
import { collectOrderSchema } from '../../../protocol/schema/collect.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { valuesOf as bodiesOf } from '../../protocol/cbor/arbitrary.ts';
import { receive } from '../signals/car.ts';
import { motion, START, startCar } from './car.ts';
import { drive, HOUR, hellos, torque, valuesOf } from './torque.ts';

test('values collected without interval and dead-band equal the frames, with names and units', async () => {
  const car = await startCar();
  const signals = [{ signal: 'MOTION.*' }, { bus: 'body', signal: 'DOORS.Open', name: 'Vehicle.Doors' }];
  await car.order({ name: 'all', signals, until: START + HOUR, interval: 0 });
  const frames: [at: number, speed: number, torque: number, gear: number, brake: number][] = [];
  for (let i = 0; i < 100; i++) {
    const frame = [i * 1.25, (i % 7) * 20.5 - 90, i % 4, i % 3 === 0 ? 1 : 0] as const;
    frames.push([car.clock.now(), ...frame]);
    car.send('can', 0x100, motion(...frame));
    car.send('body', 0x100, [i]);
    await car.pass(100);
  }
  await car.pass(4_000);
  const { readings, unknown, catalogs } = receive(car.published);
  expect(unknown).toEqual([]);
  const changes = (pick: (frame: (typeof frames)[number]) => unknown): unknown[] =>
    frames
      .map((frame) => [frame[0], pick(frame)])
      .filter(([, value], i) => i === 0 || value !== pick(frames[i - 1] as (typeof frames)[number]));
  expect(readings.get('MOTION.Speed')).toEqual(changes(([, speed]) => speed));
  expect(readings.get('MOTION.Torque')).toEqual(changes(([, , turned]) => turned));
  expect(readings.get('MOTION.Gear')).toEqual(changes(([, , , gear]) => ['Park', 'Drive', 'Reverse'][gear] ?? gear));
  expect(readings.get('MOTION.Brake')).toEqual(changes(([, , , , brake]) => brake === 1));
  expect(readings.get('Vehicle.Doors')).toEqual(frames.map(([at], i) => [at, i]));
  const units = new Map([...catalogs.values()].flat().map(({ name, unit }) => [name, unit]));
  expect([units.get('MOTION.Torque'), units.get('MOTION.Gear')]).toEqual(['Nm', undefined]);
  expect(car.heard.get('can')).toEqual([0x100]);
  await car.drop();
});

test('a collection ends on time to the millisecond, and hello reports it while it runs', async () => {
  const car = await startCar();
  const until = START + 10_250;
  await car.order(torque(until));
  await drive(
    car,
    Array.from({ length: 40 }, (_, i) => i),
  );
  await car.pass(3_000);
  const { readings } = receive(car.published);
  // The frame at 10,000 ms is the last before the end.
  expect(readings.get('MOTION.Torque')?.at(-1)).toEqual([START + 10_000, 20]);
  expect(readings.get('MOTION.Torque')).toHaveLength(21);
  const told = hellos(car).map(({ collect }) => collect?.running);
  expect(told.at(-2)).toEqual([{ name: 'torque', until, signals: 1 }]);
  expect(told.at(-1)).toBeUndefined();
  expect(car.heard.get('can')).toEqual([]);
  await car.drop();
});

test('a command with the same name replaces a collection, another name adds one, and an empty list ends one', async () => {
  const car = await startCar();
  await car.order(torque(START + HOUR));
  await drive(car, [1, 2]);
  await car.order(torque(START + HOUR, { signals: [{ signal: 'MOTION.Gear' }] }));
  await car.order({ name: 'doors', signals: [{ signal: 'DOORS.Open' }], until: START + HOUR, interval: 0 });
  car.send('body', 0x100, [1]);
  await drive(car, [3, 4]);
  expect(
    hellos(car)
      .at(-1)
      ?.collect?.running.map(({ name }) => name),
  ).toEqual(['torque', 'doors']);
  await car.order({ name: 'torque', signals: [] });
  await car.order({ name: 'nobody', signals: [] });
  car.send('can', 0x100, motion(0, 0, 2));
  car.send('body', 0x100, [2]);
  await car.pass(4_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1, 2]);
  expect(valuesOf(car, 'MOTION.Gear')).toEqual(['Park']);
  expect(valuesOf(car, 'DOORS.Open')).toEqual([1, 2]);
  expect(
    hellos(car)
      .at(-1)
      ?.collect?.running.map(({ name }) => name),
  ).toEqual(['doors']);
  await car.drop();
});

test('a collection with a condition records while Status meets it', async () => {
  const car = await startCar();
  await car.order(torque(START + HOUR, { while: { path: 'kinetic.speed', atLeast: 10 } }));
  await drive(car, [1, 2]);
  await drive(car, [3, 4], 50);
  await drive(car, [5, 6], 0);
  await car.pass(4_000);
  // Value 2 was current when the car began to drive.
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([2, 3, 4]);
  await car.drop();
});

test('a condition applies to each reading, even if it begins and ends within one batch of frames', async () => {
  // One frame with speed and torque every 100 ms.
  const frames = [
    [0, 1],
    [50, 2],
    [50, 3],
    [0, 4],
    [0, 5],
    [9.99, 6],
    [10, 7],
    [50, 8],
    [0, 9],
    [50, 10],
    [0, 11],
    [50, 12],
  ] as const;
  const collected = async (size: number): Promise<unknown> => {
    const car = await startCar();
    await car.order(torque(START + HOUR, { while: { path: 'kinetic.speed', atLeast: 10 } }));
    const sent = frames.map(([speed = 0, turned = 0], i) => {
      return { at: START + 100 * i, id: 0x100, bytes: motion(speed, turned) };
    });
    await car.pass(100 * frames.length);
    for (let i = 0; i < sent.length; i += size) car.sendAll('can', sent.slice(i, i + size));
    await car.pass(4_000);
    const readings = receive(car.published).readings.get('MOTION.Torque');
    await car.drop();
    return readings?.map(([at, value]) => [at - START, value]);
  };
  const each = await collected(1);
  // The value when the car began to drive, and each change until it stopped.
  expect(each).toEqual([
    [100, 1],
    [100, 2],
    [200, 3],
    [600, 6],
    [600, 7],
    [700, 8],
    [900, 9],
    [900, 10],
    [1100, 11],
    [1100, 12],
  ]);
  for (const size of [2, 3, 5, frames.length]) expect([size, await collected(size)]).toEqual([size, each]);
});

test('a collected signal of the profile keeps its name and number, and is recorded as often as the command says', async () => {
  const car = await startCar({ custom: true });
  await car.order({ name: 'cells', signals: [{ signal: 'CELLS.Max', bus: 'can' }], until: START + HOUR, interval: 0 });
  for (const raw of [3_600, 3_601, 3_602]) {
    car.send('can', 0x400, [raw & 0xff, raw >> 8, 0, 0, 0, 0, 0, 0]);
    await car.pass(500);
  }
  await car.pass(3_000);
  const { catalogs } = receive(car.published);
  // The signal alone has the same catalog.
  expect([...catalogs.values()].map((entries) => entries.map(({ number, name }) => [number, name]))).toEqual([
    [[1, 'Vehicle.Powertrain.Cell.Max']],
  ]);
  expect(new Set(valuesOf(car, 'Vehicle.Powertrain.Cell.Max'))).toEqual(new Set([3.6, 3.601, 3.602]));
  await car.drop();
});

test('privacy hides collected signals like custom signals, and treats those mapped to a position as positions', async () => {
  const car = await startCar();
  const signals = [
    { signal: 'MOTION.Torque' },
    { signal: 'PLACE.Latitude', name: 'Vehicle.North' },
    { signal: 'PLACE.Height', position: true },
  ];
  await car.order({ name: 'places', signals, until: START + HOUR, interval: 0 });
  for (const [state, value] of [
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 4],
  ] as const) {
    car.send('can', 0x200, [state, 0, 0, 0, 0, 0, 0, 0]);
    car.send('can', 0x100, motion(0, value));
    car.send('can', 0x300, [value, 0, 0, 0, value, 0, 0, 0]);
    await car.pass(2_000);
  }
  await car.pass(3_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1, 2, 4]);
  expect(valuesOf(car, 'Vehicle.North')).toEqual([0.000001, 0.000004]);
  expect(valuesOf(car, 'PLACE.Height')).toEqual([1, 4]);
  await car.drop();
});

test('the daily byte limit ends collecting until the next day, with a log entry, also across a restart', async () => {
  const day = START + 12 * HOUR;
  const first = await startCar({ bytesPerDay: 1_024 });
  await first.order(torque(START + 48 * HOUR));
  const drives = 200;
  await drive(
    first,
    Array.from({ length: drives }, (_, i) => i),
  );
  await first.pass(3_000);
  const collected = valuesOf(first, 'MOTION.Torque').length;
  expect(collected).toBeGreaterThan(10);
  expect(collected).toBeLessThan(drives);
  expect(first.log.lines.filter(({ event }) => event === 'collect.bound')).toHaveLength(1);
  const told = hellos(first).at(-1)?.collect;
  expect(told?.bytesToday).toBeGreaterThanOrEqual(1_024);
  expect(told?.boundReachedAt).toBeGreaterThan(START);
  expect(told?.running).toHaveLength(1);
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const second = await startCar({ disk, at: day - 5_000, boot: 2, bytesPerDay: 1_024 });
  await drive(second, [-1, -2]);
  expect(valuesOf(second, 'MOTION.Torque')).toEqual([]);
  expect(hellos(second, 2)[0]?.collect?.boundReachedAt).toBe(told?.boundReachedAt);
  await second.pass(6_000);
  await drive(second, [-3]);
  await second.pass(4_000);
  // The value when the day began, and the later ones.
  expect(valuesOf(second, 'MOTION.Torque')).toEqual([-2, -3]);
  await second.drop();
});

test('every command that the schema allows is read back unchanged', () => {
  fc.assert(
    fc.property(bodiesOf(collectOrderSchema), (order) => {
      expect(decodeBody('Collect', encodeBody('Collect', order))).toEqual(order);
    }),
  );
});
