/** Drives of a car that collects its torque, and what it has said then. */
import { expect } from 'vitest';
import type { CollectOrder } from '../../../protocol/schema/collect.ts';
import type { Hello } from '../../../protocol/schema/hello.ts';
import { receive } from '../signals/car.ts';
import { type CollectingCar, motion } from './car.ts';

export const HOUR = 3_600_000;

/** Hellos of one start of the agent. */
export function hellos({ published }: CollectingCar, boot = 1): Hello[] {
  return published.flatMap(({ message }) =>
    message.kind === 'hello' && message.body.boot === boot ? [message.body] : [],
  );
}

/** Values of a signal that a receiver has. */
export function valuesOf(car: CollectingCar, name: string): unknown[] {
  const { readings, unknown } = receive(car.published);
  expect(unknown).toEqual([]);
  return readings.get(name)?.map(([, value]) => value) ?? [];
}

/** Frames of MOTION, one each 500 ms, with these torques. */
export async function drive(car: CollectingCar, torques: readonly number[], speed = 0): Promise<void> {
  for (const torque of torques) {
    car.send('can', 0x100, motion(speed, torque));
    await car.pass(500);
  }
}

/** Collects the torque at each change. */
export const torque = (until: number, more: Partial<CollectOrder> = {}): CollectOrder => ({
  name: 'torque',
  signals: [{ signal: 'MOTION.Torque' }],
  until,
  interval: 0,
  ...more,
});
