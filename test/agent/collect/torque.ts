/** Drives of a car that collects its torque, and the messages that result. */
import { expect } from 'vitest';
import type { CollectOrder } from '../../../protocol/schema/collect.ts';
import type { Hello } from '../../../protocol/schema/hello.ts';
import { receive } from '../signals/car.ts';
import { type CollectingCar, motion } from './car.ts';

export const HOUR = 3_600_000;

/** Hello messages of one start of the agent. */
export function hellos({ published }: CollectingCar, boot = 1): Hello[] {
  return published.flatMap(({ message }) =>
    message.kind === 'hello' && message.body.boot === boot ? [message.body] : [],
  );
}

/** Received values of a signal. */
export function valuesOf(car: CollectingCar, name: string): unknown[] {
  const { readings, unknown } = receive(car.published);
  expect(unknown).toEqual([]);
  return readings.get(name)?.map(([, value]) => value) ?? [];
}

/** Sends MOTION frames with these torques, one every 500 ms. */
export async function drive(car: CollectingCar, torques: readonly number[], speed = 0): Promise<void> {
  for (const torque of torques) {
    car.send('can', 0x100, motion(speed, torque));
    await car.pass(500);
  }
}

/** A command that collects each change of the torque. */
export const torque = (until: number, more: Partial<CollectOrder> = {}): CollectOrder => ({
  name: 'torque',
  signals: [{ signal: 'MOTION.Torque' }],
  until,
  interval: 0,
  ...more,
});
