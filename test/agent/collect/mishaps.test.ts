/** Clock steps and missing files while signals are collected by command. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { receive } from '../signals/car.ts';
import { type CollectingCar, motion, START, startCar } from './car.ts';

const order = { name: 'torque', signals: [{ signal: 'MOTION.Torque' }], until: START + 10_000, interval: 0 };

const collected = (car: CollectingCar): unknown[] =>
  receive(car.published)
    .readings.get('MOTION.Torque')
    ?.map(([, value]) => value) ?? [];

/** Sends one frame every 500 ms. */
async function drive(car: CollectingCar, torques: readonly number[]): Promise<void> {
  for (const torque of torques) {
    car.send('can', 0x100, motion(0, torque));
    await car.pass(500);
  }
}

test('a collection continues after the clock is set back, and ends on time by that clock', async () => {
  const car = await startCar();
  await car.order(order);
  await drive(car, [1, 2]);
  car.clock.step(-60_000);
  await drive(car, [3, 4]);
  await car.pass(START + 9_000 - car.clock.now());
  await drive(car, [5]);
  await car.pass(START + 10_000 - car.clock.now());
  await drive(car, [6, 7]);
  await car.pass(5_000);
  expect(collected(car)).toEqual([1, 2, 3, 4, 5]);
  expect(car.log.lines.filter(({ event }) => event === 'collect.ended')).toHaveLength(1);
  await car.drop();
});

test('a collection ends at once when the clock is set beyond its end', async () => {
  const car = await startCar();
  await car.order(order);
  await drive(car, [1, 2]);
  car.clock.step(60_000);
  await drive(car, [3, 4]);
  await car.pass(5_000);
  expect(collected(car)).toEqual([1, 2]);
  await car.drop();
});

test.each<[what: string, change: (file: string) => void, why: RegExp]>([
  ['is gone', (file) => rmSync(file), /no such file/],
  ['is no DBC any more', (file) => writeFileSync(file, 'garbage'), /not a CAN network description/],
])(
  'a command while the DBC file %s is refused with its name, and the running collection continues',
  async (_, change, why) => {
    const car = await startCar();
    await car.order(order);
    const file = join(car.folder, 'car.dbc');
    change(file);
    const refused = car.order({ ...order, name: 'other' });
    await expect(refused).rejects.toThrow(
      expect.objectContaining({ code: 'input.unreadable', message: expect.stringMatching(why) }),
    );
    await expect(refused).rejects.toThrow(file);
    await drive(car, [1]);
    await car.pass(3_000);
    expect(collected(car)).toEqual([1]);
    await car.drop();
  },
);
